internal import WiretapeBytes

/// One direction of a TLS connection: its records, the keys that open them, and what of it could not be read.
struct TLSWay {
    /// What records are protected for, in the order in which a connection passes through it.
    enum Phase {
        /// TLS 1.3: what the client says before the server has agreed.
        case early
        /// TLS 1.3: the rest of the handshake.
        case handshake
        case content
    }

    struct Key {
        var phase: Phase
        var opener: TLSOpener
    }

    struct Opened {
        var phase: Phase
        var kind: UInt8
        var content: [UInt8]
    }

    var flow = TLSRecordFlow()
    /// The keys in the order of their use; the first is in use.
    var keys: [Key] = []
    /// TLS 1.2: the randoms of the handshake that the keys are from.
    var armedFor: [UInt8] = []
    /// A handshake message that is not whole.
    var handshake: [UInt8] = []
    /// Records that came before it was known how to open them.
    private(set) var waiting: [(TLSRecordFlow.Record, UInt64)] = []
    private(set) var waitingCount = 0
    /// Content is missing, which has not been told yet.
    var owesGap = false
    /// Bytes are missing behind the last content: a key update may be among them.
    var isBehindGap = false
    /// Records of TLS 1.2 are protected from here on.
    var isProtected = false
    /// The handshake of this direction is over: what cannot be opened from here on is content.
    var hasContent = false
    /// Records came that did not open, and may be none that content is in: TLS 1.3 protects the rest of its handshake alike, whose
    /// secret may not be in the log, and behind missing bytes what looks like a record may be none.
    var hasSealed = false
    /// Nothing more of it is read.
    var isOver = false

    mutating func wait(_ record: TLSRecordFlow.Record, at time: UInt64) {
        waiting.append((record, time))
        waitingCount += record.body.count
    }

    mutating func takeWaiting() -> [(TLSRecordFlow.Record, UInt64)] {
        let all = waiting
        (waiting, waitingCount) = ([], 0)
        return all
    }

    /// Opens a record with the key in use, or with one of those that may follow it.
    /// - Parameter reach: so many records before it may be missing.
    mutating func open(_ record: TLSRecordFlow.Record, reach: UInt64) -> Opened? {
        var i = 0
        while i < keys.count {
            guard let (kind, content) = keys[i].opener.open(record.head, record.body.span, reach: reach) else {
                i += 1
                continue
            }
            if isMisnamed(keys[i].phase, kind) {
                keys.remove(at: i)
                continue
            }
            keys.removeFirst(i)
            return Opened(phase: keys[0].phase, kind: kind, content: content)
        }
        // The word of a key update may be missing.
        guard isBehindGap, var next = updated,
            let (kind, content) = next.opener.open(record.head, record.body.span, reach: reach)
        else { return nil }
        keys = [next]
        return Opened(phase: .content, kind: kind, content: content)
    }

    /// Whether a key that opened a record is not what the log calls it: no handshake has content in it, and early data come first.
    private func isMisnamed(_ phase: Phase, _ kind: UInt8) -> Bool {
        switch phase {
        case .early: hasSealed && !flow.isLost
        case .handshake: kind == TLSRecordFlow.protected
        case .content: false
        }
    }

    /// The key that follows the one for content.
    private var updated: Key? {
        guard let last = keys.last, last.phase == .content, let next = last.opener.updated else { return nil }
        return Key(phase: .content, opener: next)
    }

    /// The sender has said that its next record has the next key.
    mutating func update() {
        if let next = updated { keys = [next] }
    }

    /// Whether its last bytes are the beginning of a record with content.
    var endsInContent: Bool { hasContent && flow.rest == TLSRecordFlow.protected }
}
