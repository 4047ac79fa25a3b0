internal import WiretapeBytes

extension JSONValue {
    /// Appends the value without white space, members in their order, numbers as they were spelled.
    package func write(into out: inout [UInt8]) { write(into: &out, most: .max) }

    /// The beginning of the text, of at least `most` bytes where it has so many.
    package func beginning(_ most: Int) -> String {
        var out: [UInt8] = []
        write(into: &out, most: most)
        return String(decoding: out, as: UTF8.self)
    }

    /// - Parameter most: bytes of `out` from which on nothing more is begun.
    private func write(into out: inout [UInt8], most: Int) {
        switch self {
        case .null: out.append(utf8: "null")
        case .bool(let value): out.append(utf8: value ? "true" : "false")
        case .number(let text): out.append(utf8: text)
        case .string(let text):
            JSONValue.writeString(text.utf8.count > most ? String(text.prefix(most)) : text, into: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (i, item) in items.enumerated() {
                if out.count >= most { break }
                if i > 0 { out.append(UInt8(ascii: ",")) }
                item.write(into: &out, most: most)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (i, member) in members.enumerated() {
                if out.count >= most { break }
                if i > 0 { out.append(UInt8(ascii: ",")) }
                JSONValue.writeString(member.name, into: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(into: &out, most: most)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// The compact text of ``write(into:)``.
    package var text: String {
        var out: [UInt8] = []
        write(into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends `text` as a JSON string. Only what must be escaped is: quotes, backslashes, control characters.
    package static func writeString(_ text: String, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        // Nearly every text has nothing to escape, and long ones cost their bytes then.
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for byte in text.utf8 { writeStringByte(byte, into: &out) }
        } else {
            out.append(utf8: text)
        }
        out.append(UInt8(ascii: "\""))
    }

    /// One byte of a string's UTF-8, escaped when it must be.
    @inline(__always)
    package static func writeStringByte(_ byte: UInt8, into out: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            out.append(UInt8(ascii: "\\"))
            out.append(byte)
        case 0x0a: out.append(utf8: "\\n")
        case 0x0d: out.append(utf8: "\\r")
        case 0x09: out.append(utf8: "\\t")
        case 0x00..<0x20:
            out.append(utf8: "\\u00")
            out.append(hex[Int(byte >> 4)])
            out.append(hex[Int(byte & 15)])
        default: out.append(byte)
        }
    }
}

private let hex = Array("0123456789abcdef".utf8)
