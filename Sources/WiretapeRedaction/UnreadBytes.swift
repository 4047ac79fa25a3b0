/// Bytes of protocols in which secrets cannot be found, because nothing here reads them.
package enum UnreadBytes {
    /// Whether the bytes are text, in which names and values can be found: they have no control characters but tabs and line ends,
    /// or begin with the first line of a head, which a faulty peer may have filled with anything.
    package static func isText(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }) { return true }
        let line = bytes.prefix { $0 != 0x0a }
        return TextScan.position(of: "HTTP/", in: line) != nil && name(bytes) == nil
    }

    /// The name of the protocol whose connections begin so; nil: it is not known.
    package static func name(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: "PRI * HTTP/2.0".utf8) { return "HTTP/2" }
        if bytes.starts(with: "SSH-".utf8) { return "SSH" }
        // RFC 8446, section 5.1: a record of the handshake.
        if bytes.count >= 3, bytes[0] == 0x16, bytes[1] == 3 { return "TLS" }
        // MQTT 5.0, section 3.1: CONNECT, a length, and the protocol's name.
        if bytes.first == 0x10, bytes.prefix(9).contains(UInt8(ascii: "M")), bytes.dropFirst(2).prefix(8).contains(0x54)
        {
            return "MQTT"
        }
        if isHTTP2Settings(bytes) { return "HTTP/2" }
        return nil
    }

    /// A server of HTTP/2 begins with a SETTINGS frame on stream 0 (RFC 9113, section 3.4).
    private static func isHTTP2Settings(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 9, bytes[0] == 0, bytes[3] == 4, bytes[5...8].allSatisfy({ $0 == 0 }) else { return false }
        return (Int(bytes[1]) << 8 | Int(bytes[2])) % 6 == 0
    }
}
