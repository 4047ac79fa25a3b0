/// Plays the server's part of a tape to real clients: sessions, scripts and cursors, without sockets and clocks. The
/// server around it parses HTTP and WebSocket framing, feeds what arrives, and does the ``ReplayAction``s.
package struct ReplayEngine: Sendable {
    package let tapeName: String
    package let options: ReplayOptions
    package let faults: FaultPlan
    package let seed: UInt64
    let sessions: [RecordedSession]
    /// The latest time that was told.
    var now = WireInstant.zero

    package init(
        sessions: [RecordedSession], tapeName: String, options: ReplayOptions, faults: FaultPlan, seed: UInt64
    ) {
        self.sessions = sessions
        self.tapeName = tapeName
        self.options = options
        self.faults = faults
        self.seed = seed
    }

    /// A client connection was accepted.
    package mutating func opened(_ c: ConnectionID, from: Address?, at now: WireInstant) {
        self.now = max(self.now, now)
    }

    /// A whole request arrived. Exactly one answer or upgrade follows, or the connection's end.
    package mutating func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
    }

    /// A whole WebSocket message of the client.
    package mutating func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
    }

    /// A ping or pong of the client, which the server answers by itself.
    package mutating func controlFrame(_ c: ConnectionID, isPing: Bool, at now: WireInstant) {
        self.now = max(self.now, now)
    }

    /// The client ended its side, or the connection is gone. May be told more than once.
    package mutating func clientClosed(
        _ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
    }

    /// All bytes of that send are in the kernel.
    package mutating func handedOver(
        _ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
    }

    /// The answer to ``ReplayAction/awaitAcknowledged(_:ticket:)``; not `complete`: given up.
    package mutating func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
    }

    /// Time has passed: ``nextWake`` has come, or nothing in particular.
    package mutating func wake(at now: WireInstant, into out: inout [ReplayAction]) {
        self.now = max(self.now, now)
    }

    /// When ``wake(at:into:)`` is wanted next. Ask again after every input.
    package var nextWake: WireInstant? { nil }

    /// Every server message of every claimed session is out, every client message that is not optional is matched, and
    /// the last connection has ended or been idle for 250 ms.
    package var isFinished: Bool { false }

    /// Whether the run is over by `--until`.
    package var shouldEnd: Bool { options.until == .finished && isFinished }

    /// The report, at the end of the run.
    package mutating func finish(at now: WireInstant) -> ReplayReport {
        ReplayReport(
            digest: "", seed: seed, sessions: [], unclaimed: sessions.map(\.number), faults: [], unfired: [],
            expectations: [], divergences: [])
    }
}
