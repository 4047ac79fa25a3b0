import WiretapeBytes

/// The records of a TLS connection that says what tests want, and the key log of it. Nobody agrees on its secrets: they are made up.
struct SyntheticTLS {
    enum Phase: String {
        case early = "EARLY_TRAFFIC_SECRET"
        case handshake = "HANDSHAKE_TRAFFIC_SECRET"
        case content = "TRAFFIC_SECRET_0"
    }

    /// What is said of early data.
    enum Early {
        case none, taken, refused
    }

    private struct Sealer {
        var key: [UInt8]
        var iv: [UInt8]
        var number: UInt64 = 0
        /// Of TLS 1.3.
        var secret: [UInt8] = []
    }

    let isNew: Bool
    private(set) var turns: [(fromClient: Bool, bytes: [UInt8])] = []
    /// The lines of the key log: what the secret is called, and the secret.
    private(set) var log: [(label: String, random: [UInt8], secret: [UInt8])] = []
    private var sealers: [Bool: Sealer] = [:]
    private var handshakes = 0

    /// - Parameter isNew: TLS 1.3; else 1.2.
    init(isNew: Bool) { self.isNew = isNew }

    // MARK: Handshakes

    private var random: [UInt8] { (0..<32).map { UInt8(handshakes * 64 + $0) } }

    private mutating func secret(_ label: String, size: Int = 32) -> [UInt8] {
        if let known = log.first(where: { $0.label == label && $0.random == random }) { return known.secret }
        let secret = HashAlgorithm.sha256.hash(Array("\(label) \(handshakes)".utf8).span) + random
        log.append((label, random, Array(secret.prefix(size))))
        return Array(secret.prefix(size))
    }

    /// TLS 1.3: both hellos, and what both sides say behind them.
    /// - Parameter said: records of early data; all but the first come behind the server's answer.
    mutating func shakeHands(early: Early = .none, _ said: [String] = []) {
        precondition(isNew)
        handshakes += 1
        turns.append((true, record(22, hello(isClient: true, early != .none ? extensionOf(42, []) : []))))
        if early != .none {
            use(.early, fromClient: true)
            seal(23, Array(said[0].utf8), fromClient: true)
        }
        turns.append((false, record(22, hello(isClient: false, extensionOf(43, [3, 4])))))
        use(.handshake, fromClient: false)
        let answer = early == .taken ? extensionOf(42, []) : []
        seal(22, message(8, counted(answer)) + message(20, [UInt8](repeating: 7, count: 32)), fromClient: false)
        use(.content, fromClient: false)
        for text in said.dropFirst() { seal(23, Array(text.utf8), fromClient: true) }
        if early == .taken { seal(22, message(5, []), fromClient: true) }
        use(.handshake, fromClient: true)
        seal(22, message(20, [UInt8](repeating: 8, count: 32)), fromClient: true)
        use(.content, fromClient: true)
    }

    /// TLS 1.2. Behind a first one it goes on within what is protected.
    mutating func shakeHandsOld() {
        precondition(!isNew)
        handshakes += 1
        let master = secret("CLIENT_RANDOM", size: 48)
        for fromClient in [true, false] { seal(22, hello(isClient: fromClient, []), fromClient: fromClient) }
        let block = expandOld(master, "key expansion", random.map { $0 ^ 0xff } + random, 88)
        for fromClient in [true, false] {
            seal(20, [1], fromClient: fromClient)
            let key = fromClient ? block[..<32] : block[32..<64]
            let iv = fromClient ? block[64..<76] : block[76...]
            sealers[fromClient] = Sealer(key: Array(key), iv: Array(iv))
            seal(22, message(20, [UInt8](repeating: 9, count: 12)), fromClient: fromClient)
        }
    }

    private func hello(isClient: Bool, _ extensions: [UInt8]) -> [UInt8] {
        let suite: [UInt8] = isNew ? [0x13, 0x03] : [0xcc, 0xa8]
        let random = isClient ? random : random.map { $0 ^ 0xff }
        let suites = isClient ? [0, 2] + suite + [1, 0] : suite + [0]
        return message(isClient ? 1 : 2, [3, 3] + random + [0] + suites + counted(extensions))
    }

    private func counted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes }
    private func extensionOf(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [0, kind] + counted(body) }
    private func message(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [kind, 0] + counted(body) }
    private func record(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [kind, 3, 3] + counted(body) }

    /// The key log has one secret under the name of another, too.
    mutating func rename(_ label: String, as other: String) {
        guard let from = log.first(where: { $0.label == label }), let to = log.firstIndex(where: { $0.label == other })
        else { return }
        log[to].secret = from.secret
    }

    // MARK: Records

    /// Bytes that are no record.
    mutating func babble(fromClient: Bool) { turns.append((fromClient, Array("no record at all".utf8))) }

    mutating func say(_ text: String, fromClient: Bool) { seal(23, Array(text.utf8), fromClient: fromClient) }

    /// The side's next record has another key.
    mutating func updateKey(fromClient: Bool) {
        seal(22, message(24, [0]), fromClient: fromClient)
        guard let old = sealers[fromClient]?.secret else { return }
        sealers[fromClient] = sealer(expand(old, "traffic upd", 32))
    }

    private mutating func use(_ phase: Phase, fromClient: Bool) {
        sealers[fromClient] = sealer(secret((fromClient ? "CLIENT_" : "SERVER_") + phase.rawValue))
    }

    private func sealer(_ secret: [UInt8]) -> Sealer {
        Sealer(key: expand(secret, "key", 32), iv: expand(secret, "iv", 12), secret: secret)
    }

    private mutating func seal(_ kind: UInt8, _ plain: [UInt8], fromClient: Bool) {
        guard var sealer = sealers[fromClient] else { return turns.append((fromClient, record(kind, plain))) }
        let counted = (0..<8).map { UInt8(truncatingIfNeeded: sealer.number >> UInt64(56 - 8 * $0)) }
        let nonce = sealer.iv.prefix(4) + zip(sealer.iv.dropFirst(4), counted).map { $0 ^ $1 }
        sealer.number += 1
        sealers[fromClient] = sealer
        let inner = isNew ? plain + [kind] : plain
        let outer: UInt8 = isNew ? 23 : kind
        let head = record(outer, [UInt8](repeating: 0, count: inner.count + (isNew ? 16 : 0))).prefix(5)
        let sealed = ChaCha20Poly1305.seal(
            inner, key: sealer.key, nonce: Array(nonce), also: isNew ? Array(head) : counted + head)
        turns.append((fromClient, record(outer, sealed)))
    }

    // MARK: Keys

    private func expand(_ secret: [UInt8], _ label: String, _ size: Int) -> [UInt8] {
        let name = Array("tls13 \(label)".utf8)
        let input = [0, UInt8(size), UInt8(name.count)] + name + [0, 1]
        return Array(HashAlgorithm.sha256.hmac(input.span, key: secret.span).prefix(size))
    }

    private func expandOld(_ secret: [UInt8], _ label: String, _ seed: [UInt8], _ size: Int) -> [UInt8] {
        var (out, chain): ([UInt8], [UInt8]) = ([], Array(label.utf8) + seed)
        while out.count < size {
            chain = HashAlgorithm.sha256.hmac(chain.span, key: secret.span)
            out += HashAlgorithm.sha256.hmac((chain + Array(label.utf8) + seed).span, key: secret.span)
        }
        return Array(out.prefix(size))
    }
}
