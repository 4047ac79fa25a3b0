internal import WiretapeBytes

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
                guard at + 1 < bytes.count, let next = escape(bytes, at + 1, into: &out) else { return nil }
                at = next
            default:
                out.append(bytes[at])
                at += 1
            }
        }
        return nil
    }

    /// - Returns: what follows the escape whose letter stands at `at`; nil when it is none.
    private static func escape(_ bytes: [UInt8], _ at: Int, into out: inout [UInt8]) -> Int? {
        switch bytes[at] {
        case UInt8(ascii: "n"): out.append(0x0a)
        case UInt8(ascii: "r"): out.append(0x0d)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0c)
        case UInt8(ascii: "u"):
            guard let unit = unit(bytes, at + 1) else { return nil }
            var units = [unit]
            var next = at + 5
            if unit & 0xfc00 == 0xd800, next + 1 < bytes.count, bytes[next] == UInt8(ascii: "\\"),
                bytes[next + 1] == UInt8(ascii: "u"), let low = self.unit(bytes, next + 2), low & 0xfc00 == 0xdc00
            {
                units.append(low)
                next += 6
            }
            out.append(utf8: String(decoding: units, as: UTF16.self))
            return next
        default: out.append(bytes[at])
        }
        return at + 1
    }

    private static func unit(_ bytes: [UInt8], _ at: Int) -> UInt16? {
        guard at + 4 <= bytes.count else { return nil }
        return UInt16(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
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
