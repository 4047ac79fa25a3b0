internal import CWiretapeOpenSSL
internal import WiretapeBytes

// Lifetime: a BIO over bytes reads them in place and is freed before the call that lends them returns; what OpenSSL
// allocates is freed in the function that asks for it.

/// Certificates and keys as files have them.
extension TLSIdentity {
    /// An authority that was kept: its certificate and its key, each the first of its kind in a text of PEM.
    /// - Throws: when one is missing or encrypted, they do not belong together, or the certificate may not issue others.
    package static func authority(certificate: [UInt8], key: [UInt8]) throws(TLSError) -> TLSIdentity {
        ERR_clear_error()
        let found = unsafe certificate.withUnsafeBytes { bytes in
            unsafe reading(bytes) { unsafe PEM_read_bio_X509($0, nil, nil, nil) }
        }
        guard let found = unsafe found else { throw .queued(.setup, "holds no certificate (PEM is expected)") }
        let secret = unsafe key.withUnsafeBytes { bytes in
            // Without a function that asks for a password OpenSSL would ask the terminal.
            unsafe reading(bytes) { unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
        }
        guard let secret = unsafe secret else {
            unsafe X509_free(found)
            throw .queued(.setup, "holds no private key that is not encrypted (PEM is expected)")
        }
        let identity = unsafe TLSIdentity(owning: found, secret)
        guard unsafe X509_check_private_key(found, secret) == 1 else {
            throw .queued(.setup, "certificate and key do not belong together")
        }
        guard unsafe X509_check_ca(found) == 1 else {
            throw TLSError(.setup, "the certificate may not issue others")
        }
        return identity
    }

    /// - Parameter bytes: lent for the call.
    @unsafe private static func reading(
        _ bytes: UnsafeRawBufferPointer, _ read: (OpaquePointer) -> OpaquePointer?
    ) -> OpaquePointer? {
        guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { unsafe BIO_free(bio) }
        return unsafe read(bio)
    }

    /// The certificate alone, as PEM.
    package var certificatePEM: [UInt8] {
        written { bio in unsafe PEM_write_bio_X509(bio, certificate) }
    }

    /// The certificate alone, as DER: what Android and Windows install.
    package var certificateDER: [UInt8] {
        written { bio in unsafe i2d_X509_bio(bio, certificate) }
    }

    /// The private key, as PEM, not encrypted.
    package var keyPEM: [UInt8] {
        written { bio in unsafe PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) }
    }

    /// The certificate alone, as PKCS #12 (RFC 7292).
    /// - Parameter password: protects its integrity; there is no secret in it.
    package func certificateP12(password: String) throws(TLSError) -> [UInt8] {
        ERR_clear_error()
        guard let bag = unsafe PKCS12_create(password, names.first, nil, certificate, nil, 0, 0, 0, 0, 0) else {
            throw .queued(.setup, "cannot make a PKCS #12 file")
        }
        defer { unsafe PKCS12_free(bag) }
        return written { bio in unsafe i2d_PKCS12_bio(bio, bag) }
    }

    /// SHA-256 of the certificate, in hexadecimal: `3F:0A:…`.
    package var fingerprint: String {
        let digits = SHA256.hash(certificateDER.span)
        return digits.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + text : text
        }.joined(separator: ":")
    }

    /// Until when it is valid, as OpenSSL writes it: `Nov 20 21:50:00 2036 GMT`.
    package var validUntil: String {
        let text = written { bio in unsafe ASN1_TIME_print(bio, X509_get0_notAfter(certificate)) }
        return String(decoding: text, as: UTF8.self)
    }

    @safe private func written(_ write: (OpaquePointer) -> Int32) -> [UInt8] {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return [] }
        defer { unsafe BIO_free(bio) }
        _ = unsafe write(bio)
        var out: [UInt8] = []
        unsafe MemoryBIO.drain(bio, into: &out)
        return out
    }
}
