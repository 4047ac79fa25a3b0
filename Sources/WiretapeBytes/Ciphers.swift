internal import CWiretapeOpenSSL

// Lifetime: the context lives for one call; key, nonce, input and output are lent to OpenSSL for it; the algorithms are constants.

/// Ciphers that prove what they decrypt: nothing comes out of bytes that were changed.
package enum SealedCipher: Sendable {
    case aes128GCM, aes256GCM, chaCha20Poly1305

    package var keySize: Int { self == .aes128GCM ? 16 : 32 }
    /// Bytes of the proof behind the encrypted ones.
    package static let tagSize = 16
    package static let nonceSize = 12

    /// What was encrypted; nil when the proof does not hold, or a size is wrong.
    /// - Parameters:
    ///   - sealed: the encrypted bytes and the tag.
    ///   - also: what is proved and not encrypted.
    package func open(_ sealed: Span<UInt8>, key: [UInt8], nonce: [UInt8], also: [UInt8]) -> [UInt8]? {
        let count = sealed.count - SealedCipher.tagSize
        guard count >= 0, key.count == keySize, nonce.count == SealedCipher.nonceSize else { return nil }
        var out = [UInt8](repeating: 0, count: max(1, count))
        var tag = [UInt8](copying: sealed.extracting(count...))
        guard let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var made: Int32 = 0
        var isRight = false
        unsafe sealed.withUnsafeBufferPointer { input in
            unsafe out.withUnsafeMutableBufferPointer { room in
                unsafe tag.withUnsafeMutableBytes { proof in
                    guard let start = input.baseAddress, let to = room.baseAddress else { return }
                    let setUp =
                        unsafe EVP_DecryptInit_ex(context, algorithm, nil, key, nonce) == 1
                        && (also.isEmpty || EVP_DecryptUpdate(context, nil, &made, also, Int32(also.count)) == 1)
                        && (count == 0 || EVP_DecryptUpdate(context, to, &made, start, Int32(clamping: count)) == 1)
                    isRight =
                        unsafe setUp
                        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, proof.baseAddress) == 1
                        && EVP_DecryptFinal_ex(context, to + count, &made) == 1
                }
            }
        }
        guard isRight else { return nil }
        out.removeLast(out.count - count)
        return out
    }

    private var algorithm: OpaquePointer? {
        switch self {
        case .aes128GCM: unsafe EVP_aes_128_gcm()
        case .aes256GCM: unsafe EVP_aes_256_gcm()
        case .chaCha20Poly1305: unsafe EVP_chacha20_poly1305()
        }
    }
}

/// AES in CBC mode, without padding of its own: it proves nothing.
package enum BlockCipher {
    package static let blockSize = 16

    /// What was encrypted; nil when a size is wrong.
    package static func open(_ bytes: Span<UInt8>, key: [UInt8], start: [UInt8]) -> [UInt8]? {
        guard key.count == 16 || key.count == 32, start.count == blockSize, bytes.count % blockSize == 0 else {
            return nil
        }
        guard !bytes.isEmpty, let context = unsafe EVP_CIPHER_CTX_new() else { return bytes.isEmpty ? [] : nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var out = [UInt8](repeating: 0, count: bytes.count + blockSize)
        var made: Int32 = 0
        var isRight = false
        unsafe bytes.withUnsafeBufferPointer { input in
            unsafe out.withUnsafeMutableBufferPointer { room in
                guard let from = input.baseAddress, let to = room.baseAddress else { return }
                let algorithm = unsafe key.count == 16 ? EVP_aes_128_cbc() : EVP_aes_256_cbc()
                isRight =
                    unsafe EVP_DecryptInit_ex(context, algorithm, nil, key, start) == 1
                    && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                    && EVP_DecryptUpdate(context, to, &made, from, Int32(clamping: input.count)) == 1
            }
        }
        guard isRight, Int(made) == bytes.count else { return nil }
        out.removeLast(blockSize)
        return out
    }
}
