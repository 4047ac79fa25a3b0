import WiretapeAttempts
import WiretapeWire

/// What a client did, written down: ends and the delays behind them.
struct Course {
    private(set) var attempts: [Attempt] = []
    private var now: UInt64 = 0
    private var retry = 0

    static let ms: UInt64 = 1_000_000

    /// An attempt that connects at once and is cut a second later.
    mutating func connects(
        after delay: Double? = nil, lost how: Attempt.End.Manner = .reset, by: Attempt.End.Party = .fault("cut")
    ) {
        begin(after: delay)
        attempts[attempts.count - 1].steps = [
            .init(request: "negotiate", status: 200, time: now),
            .init(request: "upgrade", status: 101, transport: .ws, time: now),
        ]
        attempts[attempts.count - 1].outcome = .connected
        now += 1_000 * Self.ms
        attempts[attempts.count - 1].ended = .init(time: now, by: by, how: how)
        retry = 0
    }

    /// An attempt that fails with that status, or without any answer.
    mutating func fails(
        after delay: Double? = nil, _ request: String = "negotiate", status: Int? = 503, retryAfter: UInt64? = nil,
        transport: Transport? = nil, how: Attempt.End.Manner = .reset
    ) {
        begin(after: delay)
        now += 5 * Self.ms
        attempts[attempts.count - 1].steps = [
            .init(request: request, status: status, transport: transport, time: now, retryAfter: retryAfter)
        ]
        attempts[attempts.count - 1].outcome = status == nil ? .refused : .status
        attempts[attempts.count - 1].ended = .init(
            time: now, by: .fault("down"), how: status.map { .status($0) } ?? how)
    }

    /// An attempt whose connection opens and ends before the protocol is ready.
    mutating func drops(after delay: Double? = nil, how: Attempt.End.Manner) {
        begin(after: delay)
        attempts[attempts.count - 1].steps = [.init(request: "upgrade", status: 101, transport: .ws, time: now)]
        attempts[attempts.count - 1].outcome = .handshake
        attempts[attempts.count - 1].ended = .init(time: now, by: .fault("down"), how: how)
    }

    private mutating func begin(after delay: Double?) {
        if !attempts.isEmpty { retry += 1 }
        let wait = UInt64((delay ?? 0) * 1_000_000_000)
        now += wait
        attempts.append(
            Attempt(
                number: attempts.count + 1, retry: retry, start: now, delay: attempts.isEmpty ? nil : wait))
    }

    /// - Parameter seconds: how long the run goes on behind the last end.
    func judged(
        by text: String, running seconds: UInt64 = 0, finished: Bool? = nil, speech: ClientSpeech = ClientSpeech(),
        overlaps: [JudgedSession.Overlap] = [], silences: [JudgedSession.Silence] = [], isGone: Bool = false
    ) throws -> [Judgement] {
        let session = JudgedSession(
            session: 1, run: 1, attempts: attempts, finished: finished, speech: speech, overlaps: overlaps,
            silences: silences, elapsed: now + seconds * 1_000 * Self.ms, isGone: isGone)
        return Judge.judge([session], by: [try Expectation.parse(text)])
    }
}
