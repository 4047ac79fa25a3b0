internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// What bytes of a stream, or of the request for one, say.
enum EventsBody {
    /// JSON as a value, anything else as its text; and both in words.
    static func data(_ bytes: [UInt8]) -> (value: JSONValue, text: String) {
        if let json = try? JSONValue(parsing: bytes.span), json.members != nil || json.array != nil {
            return (json, json.text)
        }
        return (JSONValue(plain: bytes), text(bytes) ?? Summary.bytes(bytes))
    }

    /// Text of which the first and the last character may be cut; nil when it is none.
    private static func text(_ bytes: [UInt8]) -> String? {
        if let text = String(validUTF8: bytes) { return text }
        // The rest of a character has three bytes at most, each with the same two bits.
        let start = bytes.prefix(3).prefix { $0 & 0xc0 == 0x80 }.count
        let mark = "\u{fffd}"
        for lost in 0...3 where start + lost < bytes.count {
            let (inside, tail) = (bytes[start..<bytes.count - lost], bytes.suffix(lost))
            if let first = tail.first, first < 0xc0 || tail.dropFirst().contains(where: { $0 & 0xc0 != 0x80 }) {
                continue
            }
            guard let text = String(validUTF8: Array(inside)) else { continue }
            return (start > 0 ? mark : "") + text + (lost > 0 ? mark : "")
        }
        return nil
    }

    /// What is written for other content of bytes that were no JSON: its text, where it is nothing else. Nil: it is JSON.
    static func plain(_ content: JSONValue, like bytes: [UInt8]) -> String? {
        guard let members = content.members, members.count == 1, let text = content["text"]?.string else { return nil }
        let before = try? JSONValue(parsing: bytes.span)
        return before?.members == nil ? text : nil
    }

    /// A request's body by its meaning: JSON whatever its type says, else as ordinary requests are compared. Null: none.
    static func value(of body: [UInt8], _ headers: [HeaderField]) -> JSONValue {
        guard !body.isEmpty else { return .null }
        if let json = try? JSONValue(parsing: body.span), json.members != nil || json.array != nil { return json }
        return ExchangeBody(body, headers).value
    }

    /// Where the text of a line stands: without what ends it, and without the separator of a JSON text sequence.
    static func trimmed(_ bytes: [UInt8]) -> Range<Int> {
        let isBlank = { (byte: UInt8) in byte == 0x0a || byte == 0x0d || byte == 0x1e }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return 0..<0 }
        return first..<last + 1
    }
}
