internal import WiretapeBytes

/// Derives the keys of records from the secrets of a key log.
enum TLSKeys {
    /// HKDF-Expand-Label of RFC 8446 section 7.1, without a context.
    static func expand(_ secret: [UInt8], _ label: String, _ size: Int, _ hash: HashAlgorithm) -> [UInt8] {
        var info: [UInt8] = [UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size)]
        let name = Array("tls13 \(label)".utf8)
        info.append(UInt8(truncatingIfNeeded: name.count))
        info += name
        info.append(0)
        var out: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 1
        while out.count < size {
            let input = block + info + [number]
            block = hash.hmac(input.span, key: secret.span)
            guard !block.isEmpty else { return [] }
            out += block
            number &+= 1
        }
        return Array(out.prefix(size))
    }

    /// The pseudorandom function of RFC 5246 section 5.
    static func prf(_ secret: [UInt8], _ label: String, _ seed: [UInt8], _ size: Int, _ hash: HashAlgorithm) -> [UInt8]
    {
        let full = Array(label.utf8) + seed
        var out: [UInt8] = []
        var chain = full
        while out.count < size {
            chain = hash.hmac(chain.span, key: secret.span)
            guard !chain.isEmpty else { return [] }
            let input = chain + full
            out += hash.hmac(input.span, key: secret.span)
        }
        return Array(out.prefix(size))
    }
}
