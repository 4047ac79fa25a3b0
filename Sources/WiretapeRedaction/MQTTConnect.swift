/// The CONNECT packet of MQTT, with which a client logs in. MQTT 3.1.1, section 3.1, and MQTT 5.0, section 3.1.
enum MQTTConnect {
    /// The place of the password. Nil if the bytes do not begin with a whole CONNECT packet, or if it has no password.
    static func password(in bytes: [UInt8]) -> Range<Int>? {
        var reader = Reader(bytes)
        guard reader.byte() == 0x10, let length = reader.variable(), let end = reader.end(after: length) else {
            return nil
        }
        guard let name = reader.text(), [Array("MQTT".utf8), Array("MQIsdp".utf8)].contains(Array(bytes[name])),
            let level = reader.byte(), let flags = reader.byte(), reader.skip(2)
        else { return nil }
        let isFive = level == 5
        // The payload has its fields in this order: client id, will, user name, password.
        guard !isFive || reader.skipProperties(), reader.text() != nil else { return nil }
        if flags & 0x04 != 0 {
            guard !isFive || reader.skipProperties(), reader.text() != nil, reader.text() != nil else { return nil }
        }
        if flags & 0x80 != 0, reader.text() == nil { return nil }
        guard flags & 0x40 != 0, let password = reader.text(), password.upperBound <= end else { return nil }
        return password
    }

    private struct Reader {
        private let bytes: [UInt8]
        private var at = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        mutating func byte() -> UInt8? {
            guard at < bytes.count else { return nil }
            defer { at += 1 }
            return bytes[at]
        }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= bytes.count - at else { return false }
            at += count
            return true
        }

        /// The end of so many bytes from here; nil if there are fewer.
        func end(after count: Int) -> Int? { count <= bytes.count - at ? at + count : nil }

        /// A number of 1 to 4 bytes (section 1.5.5 of MQTT 5.0).
        mutating func variable() -> Int? {
            var value = 0
            for shift in [0, 7, 14, 21] {
                guard let byte = byte() else { return nil }
                value |= Int(byte & 0x7f) << shift
                if byte & 0x80 == 0 { return value }
            }
            return nil
        }

        mutating func skipProperties() -> Bool {
            guard let length = variable() else { return false }
            return skip(length)
        }

        /// A text or binary data, which has its length in 2 bytes before it.
        mutating func text() -> Range<Int>? {
            guard let high = byte(), let low = byte() else { return nil }
            let start = at
            return skip(Int(high) << 8 | Int(low)) ? start..<at : nil
        }
    }
}
