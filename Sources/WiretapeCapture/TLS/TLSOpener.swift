internal import WiretapeBytes

/// Opens the records of one direction, one key at a time. Every cipher proves what it opens, so that a record opened with a guessed
/// number is the right one.
struct TLSOpener {
    private enum Form {
        /// TLS 1.3, and ChaCha20-Poly1305 of 1.2: the number is part of the nonce.
        case numbered(SealedCipher, iv: [UInt8])
        /// GCM of 1.2: half of the nonce stands before the record.
        case explicit(SealedCipher, salt: [UInt8])
        /// CBC of 1.2; `first`: the proof is of the encrypted bytes.
        case block(HashAlgorithm, proof: [UInt8], first: Bool)
    }

    private let form: Form
    private let key: [UInt8]
    private let suite: TLSSuite
    /// Of TLS 1.3: what the keys come from.
    private let secret: [UInt8]?
    /// The next record's number.
    private(set) var number: UInt64 = 0

    /// TLS 1.3.
    init?(_ suite: TLSSuite, secret: [UInt8]) {
        guard case .sealed(let cipher) = suite.protection, secret.count == suite.hash.size else { return nil }
        self.suite = suite
        self.secret = secret
        key = TLSKeys.expand(secret, "key", cipher.keySize, suite.hash)
        form = .numbered(cipher, iv: TLSKeys.expand(secret, "iv", SealedCipher.nonceSize, suite.hash))
    }

    /// TLS 1.2: the keys of one direction out of the key block.
    /// - Parameters:
    ///   - block: of both directions.
    ///   - isFirst: the proof of a CBC record is of its encrypted bytes (encrypt-then-MAC).
    init?(_ suite: TLSSuite, master: [UInt8], randoms: [UInt8], isClient: Bool, isFirst: Bool) {
        self.suite = suite
        secret = nil
        let proofSize: Int
        let keySize: Int
        let startSize: Int
        switch suite.protection {
        case .sealed(let cipher):
            (proofSize, keySize, startSize) = (0, cipher.keySize, cipher == .chaCha20Poly1305 ? 12 : 4)
        case .block(let size, let hash): (proofSize, keySize, startSize) = (hash.size, size, 0)
        }
        let block = TLSKeys.prf(
            master, "key expansion", randoms, 2 * (proofSize + keySize + startSize), suite.hash)
        guard block.count == 2 * (proofSize + keySize + startSize) else { return nil }
        func part(_ at: Int, _ size: Int) -> [UInt8] {
            let start = at + (isClient ? 0 : size)
            return Array(block[start..<start + size])
        }
        key = part(2 * proofSize, keySize)
        let start = part(2 * (proofSize + keySize), startSize)
        switch suite.protection {
        case .sealed(.chaCha20Poly1305): form = .numbered(.chaCha20Poly1305, iv: start)
        case .sealed(let cipher): form = .explicit(cipher, salt: start)
        case .block(_, let hash): form = .block(hash, proof: part(0, proofSize), first: isFirst)
        }
    }

    /// After a key update (RFC 8446 section 7.2).
    var updated: TLSOpener? {
        guard let secret else { return nil }
        return TLSOpener(suite, secret: TLSKeys.expand(secret, "traffic upd", suite.hash.size, suite.hash))
    }

    /// Opens the next record, or one of the next `reach` behind it where some may be missing.
    /// - Parameter head: the record's five bytes.
    /// - Returns: what was in it, and its kind; nil: no key of ours opens it.
    mutating func open(_ head: [UInt8], _ body: Span<UInt8>, reach: UInt64 = 0) -> (kind: UInt8, content: [UInt8])? {
        for step in 0...reach {
            let (candidate, overflow) = number.addingReportingOverflow(step)
            guard !overflow, let found = open(head, body, candidate) else { continue }
            number = candidate &+ 1
            return found
        }
        return nil
    }

    private func open(_ head: [UInt8], _ body: Span<UInt8>, _ number: UInt64) -> (kind: UInt8, content: [UInt8])? {
        let counted = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        switch form {
        case .numbered(let cipher, let iv):
            var nonce = iv
            for i in 0..<8 { nonce[4 + i] ^= counted[i] }
            guard secret == nil else {
                guard let inner = cipher.open(body, key: key, nonce: nonce, also: head),
                    let end = inner.lastIndex(where: { $0 != 0 })
                else { return nil }
                return (inner[end], Array(inner[..<end]))
            }
            let also = counted + lengthened(head, body.count - SealedCipher.tagSize)
            return cipher.open(body, key: key, nonce: nonce, also: also).map { (head[0], $0) }
        case .explicit(let cipher, let salt):
            guard body.count >= 8 + SealedCipher.tagSize else { return nil }
            let nonce = salt + [UInt8](copying: body.extracting(..<8))
            let also = counted + lengthened(head, body.count - 8 - SealedCipher.tagSize)
            return cipher.open(body.extracting(8...), key: key, nonce: nonce, also: also).map { (head[0], $0) }
        case .block(let hash, let proof, let isFirst):
            return block(head, body, counted, hash, proof, isFirst).map { (head[0], $0) }
        }
    }

    private func lengthened(_ head: [UInt8], _ count: Int) -> [UInt8] {
        [head[0], head[1], head[2], UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    }

    private func block(
        _ head: [UInt8], _ body: Span<UInt8>, _ counted: [UInt8], _ hash: HashAlgorithm, _ proofKey: [UInt8],
        _ isFirst: Bool
    ) -> [UInt8]? {
        let size = BlockCipher.blockSize
        let sealed = isFirst ? body.count - hash.size : body.count
        guard sealed >= 2 * size else { return nil }
        let start = [UInt8](copying: body.extracting(..<size))
        if isFirst {
            let proved = counted + lengthened(head, sealed) + [UInt8](copying: body.extracting(..<sealed))
            guard hash.hmac(proved.span, key: proofKey.span) == [UInt8](copying: body.extracting(sealed...)) else {
                return nil
            }
        }
        guard var plain = BlockCipher.open(body.extracting(size..<sealed), key: key, start: start) else { return nil }
        guard let padding = plain.last.map(Int.init), plain.count > padding,
            plain.suffix(padding + 1).allSatisfy({ Int($0) == padding })
        else { return nil }
        plain.removeLast(padding + 1)
        if isFirst { return plain }
        guard plain.count >= hash.size else { return nil }
        let told = Array(plain.suffix(hash.size))
        plain.removeLast(hash.size)
        let proved = counted + lengthened(head, plain.count) + plain
        return hash.hmac(proved.span, key: proofKey.span) == told ? plain : nil
    }
}
