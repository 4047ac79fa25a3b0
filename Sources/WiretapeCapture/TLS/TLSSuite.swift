internal import WiretapeBytes

/// How the records of a connection are protected (RFC 8446 appendix B.4, RFC 5246 and those that add to it).
struct TLSSuite {
    enum Protection {
        case sealed(SealedCipher)
        /// AES-CBC with this size of key, and HMAC.
        case block(key: Int, HashAlgorithm)
    }

    var protection: Protection
    /// What keys are derived with.
    var hash: HashAlgorithm

    /// Nil for suites that are not read.
    /// - Parameter isNew: TLS 1.3.
    init?(_ number: UInt16, isNew: Bool) {
        if isNew {
            switch number {
            case 0x1301: self.init(.sealed(.aes128GCM))
            case 0x1302: self.init(.sealed(.aes256GCM), .sha384)
            case 0x1303: self.init(.sealed(.chaCha20Poly1305))
            default: return nil
            }
            return
        }
        switch number {
        case 0x009c, 0x009e, 0x00a8, 0xc02b, 0xc02f: self.init(.sealed(.aes128GCM))
        case 0x009d, 0x009f, 0x00a9, 0xc02c, 0xc030: self.init(.sealed(.aes256GCM), .sha384)
        case 0xcca8, 0xcca9, 0xccaa, 0xccab, 0xccac: self.init(.sealed(.chaCha20Poly1305))
        case 0x002f, 0x0033, 0xc009, 0xc013: self.init(.block(key: 16, .sha1))
        case 0x0035, 0x0039, 0xc00a, 0xc014: self.init(.block(key: 32, .sha1))
        case 0x003c, 0x0067, 0xc023, 0xc027: self.init(.block(key: 16, .sha256))
        case 0x003d, 0x006b: self.init(.block(key: 32, .sha256))
        case 0xc024, 0xc028: self.init(.block(key: 32, .sha384), .sha384)
        default: return nil
        }
    }

    private init(_ protection: Protection, _ hash: HashAlgorithm = .sha256) {
        self.protection = protection
        self.hash = hash
    }
}
