internal import WiretapeBytes
internal import WiretapeCore

/// What bytes of a stream, or of the request for one, say.
enum EventsBody {
    /// JSON as a value, anything else as its text; and both in words.
    static func data(_ bytes: [UInt8]) -> (value: JSONValue, text: String) {
        if let json = try? JSONValue(parsing: bytes.span), json.members != nil || json.array != nil {
            return (json, json.text)
        }
        let plain = JSONValue(plain: bytes)
        return (plain, plain["text"]?.string ?? "\(bytes.count) bytes")
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
