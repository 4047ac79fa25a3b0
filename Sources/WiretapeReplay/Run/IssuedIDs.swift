internal import WiretapeBytes
internal import WiretapeProtocol

/// A token that a negotiation handed out.
struct SessionToken {
    /// Whose it is.
    fileprivate(set) var session: SessionRun
    /// The ids that were handed out with it.
    let ids: ServerIDs?
    /// It has been a connection's.
    fileprivate(set) var isUsed = false
    /// Its connection is gone for good, as the server would have it: what names it is answered that it is unknown.
    fileprivate(set) var isDead = false

    /// Whether the protocol lets the client renew its credential with it.
    let mayRefresh: Bool

    fileprivate init(_ session: SessionRun, _ ids: ServerIDs?, mayRefresh: Bool) {
        self.session = session
        self.ids = ids
        self.mayRefresh = mayRefresh
    }
}

/// The ids that a run hands out: tokens of negotiations and what names a session's requests, with the session that each is of.
struct IssuedIDs {
    private var tokens: [String: SessionToken] = [:]
    /// Recorded ids that were handed out, and how often.
    private var handedOut: [String: Int] = [:]
    /// The recorded ids of varied ones that greetings gave.
    private var recordedIDs: [String: String] = [:]

    /// Nil: nobody was ever given it.
    subscript(_ key: String) -> SessionToken? { tokens[key] }

    /// The id names that session from now on.
    mutating func issue(_ key: String, to session: SessionRun, _ ids: ServerIDs? = nil, mayRefresh: Bool = true) {
        tokens[key] = SessionToken(session, ids, mayRefresh: mayRefresh)
    }

    /// A connection was opened with it.
    mutating func use(_ key: String) { tokens[key]?.isUsed = true }

    /// It names nothing any more.
    mutating func retire(_ key: String) { tokens[key]?.isDead = true }

    /// What names the session names nothing any more.
    mutating func retireAll(of session: SessionRun) {
        for key in tokens.filter({ $0.value.session === session }).keys { tokens[key]?.isDead = true }
    }

    /// It names another session.
    mutating func move(_ key: String, to session: SessionRun) { tokens[key]?.session = session }

    /// The recorded ids the first time, varied ones for every later negotiation.
    /// - Parameter isFresh: varied ones from the first on (`--fresh-ids`).
    mutating func mint(for recorded: RecordedSession, _ codec: CodecEntry, isFresh: Bool) -> ServerIDs {
        var hash = StableHash()
        hash.combine("session \(recorded.number)")
        let made = IssuedIDs.madeUp(hash.value)
        let original = recorded.serverIDs ?? ServerIDs(connectionID: made, token: made)
        while true {
            let n = next(original.token, first: isFresh ? 1 : 0)
            let ids = ServerIDs(
                connectionID: codec.type.vary(original.connectionID, n), token: codec.type.vary(original.token, n))
            if tokens[ids.token] == nil || n > tokens.count { return ids }
        }
    }

    /// Another id instead of the recorded one that a greeting gives.
    mutating func vary(_ recorded: String, _ codec: CodecEntry) -> String {
        let id = codec.type.vary(recorded, next(recorded, first: 1))
        recordedIDs[id] = recorded
        return id
    }

    private mutating func next(_ recorded: String, first: Int) -> Int {
        let n = handedOut[recorded, default: first]
        handedOut[recorded] = n + 1
        return n
    }

    /// The recorded id of one that a greeting gave; any other id as it is.
    func recorded(_ id: String) -> String { recordedIDs[id] ?? id }

    /// 22 characters of base64url, as servers make them.
    private static func madeUp(_ seed: UInt64) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var generator = SplitMix64(seed: seed)
        return String(decoding: (0..<22).map { _ in letters[generator.below(64)] }, as: UTF8.self)
    }
}
