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
    /// What the server did that no server does.
    package internal(set) var violations: [String] = []
    /// Statuses that were not what it wanted.
    package internal(set) var refusals: [Int] = []
    /// Answers that say that a request is not on the tape.
    package internal(set) var refused = 0

    var random: SplitMix64
    var now = WireInstant.zero
    /// What the server calls the session.
    var token: String?
    var connection = ClientConnection()
    var posts = ClientPosts()
    var agenda: ClientAgenda
    var retries = ClientRetries()
    var memory = ClientMemory()
    var voice: ClientVoice
    var mischief: ClientMischief
    private var slots = 0

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
        voice = ClientVoice(habits.ids)
        mischief = ClientMischief(habits.mischief)
        agenda = ClientAgenda(start: start)
        if sessions.isEmpty { phase = .over }
    }

    /// It went away before its sessions were over: refused too often.
    package var hasGivenUp: Bool { retries.hasGivenUp }
    /// When each attempt to come back was made, in nanoseconds after the end before it.
    package var delays: [UInt64] { retries.delays }
    package var wasMischievous: Bool { mischief.isDone }

    /// When ``wake(at:into:)`` is wanted next.
    package var nextWake: WireInstant? {
        guard phase != .over else { return nil }
        var next = agenda.due
        guard phase == .ready || phase == .handshaking || phase == .leaving else { return next }
        if let until = posts.refusedUntil { return until }
        if habits.serverTimeout > 0 {
            let limit = connection.lastHeard.advanced(by: habits.serverTimeout)
            next = min(next ?? limit, limit)
        }
        if phase == .ready, habits.pings > 0 {
            let ping = connection.lastSaid.advanced(by: habits.pings)
            next = min(next ?? ping, ping)
        }
        if phase == .ready, let ack = memory.acknowledgeAt { next = min(next ?? ack, ack) }
        return next
    }

    package func wake(at now: WireInstant, into out: inout [ClientAction]) {
        self.now = max(self.now, now)
        if let until = posts.refusedUntil {
            guard until <= now else { return }
            return ended("404", into: &out)
        }
        switch phase {
        case .over: return
        case .waiting:
            guard agenda.isDue(at: now) else { return }
            agenda.clear()
            connect(into: &out)
        case .leaving:
            if agenda.isDue(at: now) { return finishLeaving(into: &out) }
        case .negotiating, .opening:
            guard agenda.isDue(at: now) else { return }
            cut(.fin, into: &out)
        case .handshaking, .ready:
            if habits.serverTimeout > 0, now >= connection.lastHeard.advanced(by: habits.serverTimeout) {
                return cut(habits.timeout, into: &out)
            }
            guard phase == .ready else {
                guard agenda.isDue(at: now) else { return }
                agenda.clear()
                return sayHandshake(into: &out)
            }
            if habits.pings > 0, now >= connection.lastSaid.advanced(by: habits.pings) {
                transmit(voice.keepalive, [], into: &out)
            }
            if let ack = memory.acknowledgement(at: now) { transmit(ack, [], into: &out) }
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
        if memory.isKept, session == current {
            memory.lost(.init(what: loss, session: session))
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
        agenda.wait(until: now.advanced(by: habits.delays[0]))
    }

    /// A connection goes on: what the protocol does not count stays lost.
    func keepWhatIsCounted() {
        let lost = memory.goOn { line, session in plays[session].talk.lines[line].isCounted }
        for loss in lost { plays[loss.session].settle(loss.what) }
    }

    /// What was lost stays lost.
    func settle() {
        for loss in memory.settle() { plays[loss.session].settle(loss.what) }
    }

    /// The server does not know the session any more, or has no reason to.
    func forgetSession() {
        memory.drop()
        token = nil
    }

    /// Whether something that it said in this session is not said after all.
    var hasUnsaid: Bool { play.hasUnsaid || memory.hasUnsaid(in: current) }

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
        slots += 1
        return slots
    }

    func head(_ method: String, _ target: String, _ headers: [HeaderField] = []) -> RequestHead {
        RequestHead(
            method: method, target: target,
            headers: [HeaderField("Host", "replay"), HeaderField("User-Agent", name)] + headers)
    }
}
