internal import WiretapeBytes
package import WiretapeWire

/// Trailers as the payload of a `bodyEnd` record: `name: value` CR LF each.
package enum TrailerRecord {
    package static func encode(_ trailers: [HeaderField]) -> [UInt8] {
        var out: [UInt8] = []
        for field in trailers { out.append(utf8: "\(field.name): \(field.value)\r\n") }
        return out
    }

    static func decode(_ payload: Span<UInt8>) -> [HeaderField] {
        guard !payload.isEmpty else { return [] }
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return HeaderField(String(line[..<colon]), line[line.index(after: colon)...].trimmingBlanks())
        }
    }
}
