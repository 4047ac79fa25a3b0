internal import CWiretapeOpenSSL

// Lifetime: input and output are lent to OpenSSL for the call; the algorithms are constants.

/// SHA-1, for the WebSocket handshake and nothing that must be secret.
package enum SHA1 {
    /// 20 bytes. Empty where OpenSSL is configured to refuse the algorithm.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe digest(bytes, EVP_sha1(), size: 20)
    }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// 32 bytes.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe digest(bytes, EVP_sha256(), size: 32)
    }
}

/// HMAC (RFC 2104) with SHA-256.
package enum HMACSHA256 {
    /// 32 bytes, for a key of any length.
    package static func hash(_ bytes: Span<UInt8>, key: Span<UInt8>) -> [UInt8] {
        HashAlgorithm.sha256.hmac(bytes, key: key)
    }
}

/// The hashes that TLS builds its keys and checks with.
package enum HashAlgorithm: Sendable {
    case sha1, sha256, sha384

    /// Bytes of a hash.
    package var size: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        }
    }

    private var blockSize: Int { self == .sha384 ? 128 : 64 }

    /// Empty where OpenSSL is configured to refuse the algorithm.
    package func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        switch self {
        case .sha1: SHA1.hash(bytes)
        case .sha256: SHA256.hash(bytes)
        case .sha384: unsafe digest(bytes, EVP_sha384(), size: 48)
        }
    }

    /// HMAC, for a key of any length.
    package func hmac(_ bytes: Span<UInt8>, key: Span<UInt8>) -> [UInt8] {
        var padded: [UInt8] = []
        padded.append(copying: key)
        if padded.count > blockSize { padded = hash(key) }
        padded += [UInt8](repeating: 0, count: blockSize - padded.count)
        var inner = padded.map { $0 ^ 0x36 }
        inner.append(copying: bytes)
        let outer = padded.map { $0 ^ 0x5c } + hash(inner.span)
        return hash(outer.span)
    }
}

private func digest(_ bytes: Span<UInt8>, _ algorithm: OpaquePointer?, size: Int) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: size)
    var made: UInt32 = 0
    let code = unsafe bytes.withUnsafeBufferPointer { input in
        unsafe out.withUnsafeMutableBufferPointer { room in
            unsafe EVP_Digest(input.baseAddress, input.count, room.baseAddress, &made, algorithm, nil)
        }
    }
    return code == 1 && Int(made) == size ? out : []
}
