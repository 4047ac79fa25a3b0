internal import CWiretapeOpenSSL

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
