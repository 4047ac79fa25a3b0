internal import WiretapeBytes
internal import WiretapeWire

/// JSONP: `CALLBACK({"message" : "ESCAPED"});`.
enum AtmosphereScript {
    private static let opening = Array(#"({"message" : ""#.utf8)
    private static let ending = Array(#""});"#.utf8)

    /// The message in a script; nil for anything else.
    static func unwrap(_ bytes: [UInt8]) -> [UInt8]? {
        guard let bracket = bytes.firstIndex(of: UInt8(ascii: "(")), bytes[bracket...].starts(with: opening) else {
            return nil
        }
        var out: [UInt8] = []
        var at = bracket + opening.count
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                return bytes[at...].elementsEqual(ending) ? out : nil
            case UInt8(ascii: "\\"):
                guard (try? JSONUnescape.takeOfScript(bytes.span, &at, into: &out)) != nil else { return nil }
            default:
                out.append(bytes[at])
                at += 1
            }
        }
        return nil
    }

    /// A script that calls `callback` with the message.
    static func wrap(_ message: [UInt8], _ callback: String) -> [UInt8] {
        var out = Array(callback.utf8) + opening
        for byte in message {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"):
                out += [UInt8(ascii: "\\"), byte]
            case 0x0a: out.append(literal: "\\n")
            case 0x0d: out.append(literal: "\\r")
            case 0x09: out.append(literal: "\\t")
            case 0..<0x20: out.append(utf8: "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
            default: out.append(byte)
            }
        }
        return out + ending
    }
}
