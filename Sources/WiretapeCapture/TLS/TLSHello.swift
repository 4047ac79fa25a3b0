internal import WiretapeBytes

/// A ClientHello or ServerHello (RFC 8446 section 4.1), as far as it tells how records are protected.
struct TLSHello {
    var random: [UInt8]
    /// Of a ServerHello.
    var suite: UInt16 = 0
    /// 0x0303 is TLS 1.2, 0x0304 TLS 1.3.
    var version: UInt16
    var sni: String?
    var alpn: String?
    var encryptsThenProves = false
    /// A client says something before the server has agreed.
    var offersEarly = false

    /// The random of a ServerHello that asks for another ClientHello.
    private static let retry: [UInt8] = [
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
        0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
    ]

    var isRetry: Bool { random == TLSHello.retry }

    /// - Parameter body: of the handshake message. Nil when it is not what it should be.
    init?(_ body: Span<UInt8>, isClient: Bool) {
        var reader = TLSFields(body)
        guard let version = reader.number(2), let random = reader.bytes(32), reader.counted(1) != nil else {
            return nil
        }
        self.version = UInt16(version)
        self.random = random
        if isClient {
            guard reader.counted(2) != nil, reader.counted(1) != nil else { return nil }
        } else {
            guard let suite = reader.number(2), reader.number(1) != nil else { return nil }
            self.suite = UInt16(suite)
        }
        guard let extensions = reader.counted(2) else { return }
        read(extensions, isClient: isClient)
    }

    private mutating func read(_ extensions: [UInt8], isClient: Bool) {
        var reader = TLSFields(extensions.span)
        while let kind = reader.number(2), let body = reader.counted(2) {
            var inner = TLSFields(body.span)
            switch kind {
            case 0 where isClient:
                if inner.number(2) != nil, inner.number(1) == 0, let name = inner.counted(2), !name.isEmpty {
                    sni = String(decoding: name, as: UTF8.self)
                }
            case 16 where !isClient: alpn = TLSHello.alpn(body)
            case 22 where !isClient: encryptsThenProves = true
            case 42 where isClient: offersEarly = true
            case 43 where !isClient: if let chosen = inner.number(2) { version = UInt16(chosen) }
            default: break
            }
        }
    }

    /// The protocol in an ALPN extension of a server.
    static func alpn(_ body: [UInt8]) -> String? {
        var reader = TLSFields(body.span)
        guard reader.number(2) != nil, let name = reader.counted(1), !name.isEmpty else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}

/// Reads the fields of handshake messages. Every answer is nil where the bytes end early.
struct TLSFields {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: Span<UInt8>) {
        self.bytes = [UInt8](copying: bytes)
    }

    /// A number of so many bytes.
    mutating func number(_ size: Int) -> Int? {
        guard bytes.count - at >= size else { return nil }
        defer { at += size }
        return (0..<size).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard bytes.count - at >= count else { return nil }
        defer { at += count }
        return Array(bytes[at..<at + count])
    }

    /// Bytes behind their count, which has so many bytes.
    mutating func counted(_ size: Int) -> [UInt8]? {
        guard let count = number(size) else { return nil }
        return bytes(count)
    }
}
