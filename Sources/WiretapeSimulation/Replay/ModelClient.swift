package import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeWire

/// A client that plays the client's part of recorded sessions, one after the other: negotiates, opens its transport, says
/// its lines in its own order and under its own ids, comes back when a connection is lost. A machine without sockets and
/// clock: it is fed ``ClientEvent``s and told the time, and answers with ``ClientAction``s.
///
/// It is *waiting* (to connect), *opening* (negotiation, transport, handshake), *ready*, *leaving* (it has said all there
/// is) and *over*. Events of slots that it has left are dropped: ends cross on the wire.
package final class ModelClient {
    package let name: String
    package let habits: ClientHabits
    /// One for each of its sessions, in order.
    package internal(set) var plays: [ClientPlay]
    package internal(set) var current = 0
    package internal(set) var phase = Phase.waiting
    /// It went away before its sessions were over: refused too often.
    package internal(set) var hasGivenUp = false
    /// What the server did that no server does.
    package internal(set) var violations: [String] = []
    /// Statuses that were not what it wanted.
    package internal(set) var refusals: [Int] = []
    /// Answers that say that a request is not on the tape.
    package internal(set) var refused = 0
    /// When each attempt to come back was made, after the end before it.
    package internal(set) var delays: [UInt64] = []

    var random: SplitMix64
    var now = WireInstant.zero
    var ids: LiveIDs
    var ear: (any FrameCodec)?
    var token: String?
    /// Attempts since the last success.
    var tries = 0
    var lostAt: WireInstant?
    var nextSlot = 0
    /// Carries what the server says; and the POSTs of transports that have them.
    package internal(set) var mainSlot: Int?
    package internal(set) var postSlot: Int?
    var isPosting = false
    /// A message over HTTP was refused: the event stream tells that it is over, unless it has not by then.
    var refusedUntil: WireInstant?
    var outbox: [(bytes: [UInt8], sayings: [Saying])] = []
    var events = SSEReader()
    /// Heard and said on this connection.
    var eventCount = 0
    var lastHeard = WireInstant.zero
    var lastSaid = WireInstant.zero
    /// When this connection last brought or took something of the session.
    var lastNews = WireInstant.zero
    /// When it connects, says the next line, or leaves.
    var dueAt: WireInstant?
    /// The line that `dueAt` is about.
    var dueLine: Int?
    /// What mischief holds back.
    var heldLine: (line: Int, pushes: Int)?
    package internal(set) var wasMischievous = false
    var lateFarewell: WireInstant?
    var memory: StatefulMemory?
    /// What connections that are gone took with them, as long as a stateful reconnect may make it good.
    var unsettled: [(loss: Loss, session: Int)] = []
    /// Whether the hub protocol is a binary one.
    var isBinary = false

    package enum Phase: Hashable, Sendable {
        case waiting, negotiating, opening, handshaking, ready, leaving, over
    }

    /// - Parameters:
    ///   - sessions: what it plays, in order: each begins when the one before has ended.
    ///   - start: when it connects first.
    package init(
        _ name: String, _ sessions: [RecordedSession], _ habits: ClientHabits, seed: UInt64, start: WireInstant
    ) {
        self.name = name
        self.habits = habits
        var random = SplitMix64(seed: seed)
        plays = sessions.map { ClientPlay($0, habits, &random) }
        self.random = random
        ids = LiveIDs(habits.ids)
        dueAt = start
        if sessions.isEmpty { phase = .over }
    }

    /// When ``wake(at:into:)`` is wanted next.
    package var nextWake: WireInstant? {
        guard phase != .over else { return nil }
        var next = dueAt
        guard phase == .ready || phase == .handshaking || phase == .leaving else { return next }
        if let refusedUntil { return refusedUntil }
        if habits.serverTimeout > 0 {
            let limit = lastHeard.advanced(by: habits.serverTimeout)
            next = min(next ?? limit, limit)
        }
        if phase == .ready, habits.pings > 0 {
            let ping = lastSaid.advanced(by: habits.pings)
            next = min(next ?? ping, ping)
        }
        if phase == .ready, let ack = memory?.acknowledgeAt { next = min(next ?? ack, ack) }
        return next
    }

    package func wake(at now: WireInstant, into out: inout [ClientAction]) {
        self.now = max(self.now, now)
        if let until = refusedUntil {
            guard until <= now else { return }
            return ended("404", into: &out)
        }
        switch phase {
        case .over: return
        case .waiting:
            guard let due = dueAt, due <= now else { return }
            dueAt = nil
            connect(into: &out)
        case .leaving:
            if let due = dueAt, due <= now { return finishLeaving(into: &out) }
        case .negotiating, .opening: break
        case .handshaking, .ready:
            if habits.serverTimeout > 0, now >= lastHeard.advanced(by: habits.serverTimeout) {
                return cut(.fin, into: &out)
            }
            guard phase == .ready else {
                guard let due = dueAt, due <= now else { return }
                dueAt = nil
                return sayHandshake(into: &out)
            }
            if habits.pings > 0, now >= lastSaid.advanced(by: habits.pings) {
                transmit(ear?.keepalive?.payload ?? [], [], into: &out)
            }
            if let ack = memory?.acknowledgement(at: now) { transmit(ack, [], into: &out) }
            proceed(into: &out)
        }
    }

    /// Something that a lost connection took with it. Real clients do not hear of it; this one does, so that it can say
    /// again what a real one would have to say again, and does not wait for what cannot come.
    package enum Loss: Hashable, Sendable {
        /// Lines of the client that the server never got.
        case said([Int])
        /// A line of the server that its kernel had.
        case heard(Int)
    }

    package func lost(_ loss: Loss, session: Int) {
        guard plays.indices.contains(session) else { return }
        defer { comeBack(to: session) }
        if memory != nil, session == current {
            unsettled.append((loss, session))
        } else {
            plays[session].settle(loss)
        }
    }

    /// What it took for the end of its last session was not: something that it said is not there.
    private func comeBack(to session: Int) {
        guard phase == .over, !hasGivenUp, session == current, hasUnsaid else { return }
        play.farewellSaid = false
        play.reopenEnd()
        phase = .waiting
        dueAt = now.advanced(by: habits.delays[0])
    }

    /// A connection goes on: what the client said, it says again itself; what it did not hear comes again if the protocol
    /// counts it, unless that is lost as well.
    func keepWhatIsCounted() {
        let lost = unsettled
        unsettled = lost.filter { entry in
            guard case .heard(let line) = entry.loss else { return false }
            return plays[entry.session].talk.lines[line].isCounted
        }
        for (loss, session) in lost {
            guard case .heard(let line) = loss, !plays[session].talk.lines[line].isCounted else { continue }
            plays[session].settle(loss)
        }
    }

    /// What was lost stays lost.
    func settle() {
        for (loss, session) in unsettled { plays[session].settle(loss) }
        unsettled = []
    }

    /// Whether something that it said in this session is not said after all.
    var hasUnsaid: Bool {
        play.hasUnsaid
            || unsettled.contains { entry in
                if case .said = entry.loss { entry.session == current } else { false }
            }
    }

    /// The session that it plays.
    var play: ClientPlay {
        get { plays[current] }
        set { plays[current] = newValue }
    }

    /// Counts the connections of the current session.
    package internal(set) var generation: Int {
        get { plays[current].generation }
        set { plays[current].generation = newValue }
    }

    /// What it still has to say and to hear, for people.
    package var wants: String {
        let unsaid = play.again + play.order.dropFirst(play.at)
        let unheard = play.talk.lines.indices.filter {
            play.talk.lines[$0].direction == .toClient && play.isExpected($0)
        }
        return "to say \(unsaid), to hear \(unheard)"
    }

    func newSlot() -> Int {
        nextSlot += 1
        return nextSlot
    }

    func head(_ method: String, _ target: String, _ headers: [HeaderField] = []) -> RequestHead {
        RequestHead(
            method: method, target: target,
            headers: [HeaderField("Host", "replay"), HeaderField("User-Agent", name)] + headers)
    }
}
