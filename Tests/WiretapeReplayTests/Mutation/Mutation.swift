import Testing
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeSimulation
import WiretapeWire

/// One cell of the mutation matrix: what a client does with one of its messages of a recorded session.
struct Mutation: Sendable, CustomTestStringConvertible {
    let tape: String
    /// From 0, of the tape.
    let session: Int
    /// In the session's ``Conversation``.
    let line: Int
    let title: String
    let what: ClientHabits.Mischief.What

    static let second: UInt64 = 1_000_000_000
    static let whats: [ClientHabits.Mischief.What] = [
        .drop, .late(2 * second), .late(45 * second), .double, .swap, .afterNextPush,
    ]

    var testDescription: String { "\(tape) session \(session + 1) line \(line) \(title.prefix(40)): \(what)" }

    /// One thing done with each client message of some tapes.
    static func all(_ tapes: [String], _ what: ClientHabits.Mischief.What) -> [Mutation] {
        tapes.flatMap { tape in
            let talks = ((try? Recordings.sessions(tape)) ?? []).map(Conversation.init)
            return talks.enumerated().flatMap { s, talk in
                talk.lines.indices.filter { talk.lines[$0].direction == .toServer }.map {
                    Mutation(tape: tape, session: s, line: $0, title: talk.lines[$0].message?.title ?? "", what: what)
                }
            }
        }
    }

    /// What the report says of it with the default options, but for `--grace`.
    enum Outcome: Hashable {
        /// Nothing; so many messages came after a push that is recorded behind them.
        case pass(reordered: Int)
        /// Patience ended.
        case missing
        /// More than the tape has.
        case repeated
        /// The next message came before the handshake.
        case early
        /// What continues a chain came without what opens it, or before.
        case unopened
    }

    /// By the rules of `docs/replay.md`, from the tape alone.
    /// - Parameter hasGrace: whether a quiet client is given the push that it seems to wait for.
    func outcome(_ talk: Conversation, hasGrace: Bool) -> Outcome {
        if talk.lines[line].role == .close { return .pass(reordered: 0) }
        switch what {
        case .drop: return talk.chain(of: line, .toServer).contains { $0 > line } ? .unopened : .missing
        case .double: return .repeated
        case .late(let by):
            if by > 30 * Self.second { return .missing }
            return .pass(reordered: hasGrace ? postponed(talk).count : 0)
        case .afterNextPush:
            let came = postponed(talk)
            return hasGrace && !came.isEmpty ? .pass(reordered: came.count) : .missing
        case .swap: return swapped(talk)
        case .alter, .extra: return .repeated
        }
    }

    /// Whether the server's patience ends before the message comes: it is the handshake, and comes too late or waits for a
    /// push.
    func outwaits(_ talk: Conversation) -> Bool {
        guard talk.lines[line].role == .handshake else { return false }
        switch what {
        case .drop, .afterNextPush: return true
        case .late(let by): return by > 15 * Self.second
        case .double, .swap, .alter, .extra: return false
        }
    }

    private func swapped(_ talk: Conversation) -> Outcome {
        if talk.lines[line].role == .handshake { return .early }
        // The question's own call waits for the answer: the client says nothing more before it.
        if talk.lines[line].role == .reply { return .missing }
        guard let next = next(talk) else { return .pass(reordered: 0) }
        return talk.lines[next].opener == line ? .unopened : .pass(reordered: 0)
    }

    /// Nanoseconds by which it is late; nil when that is not what is done with it.
    var lateness: UInt64? {
        guard case .late(let by) = what else { return nil }
        return by
    }

    /// The client's messages that have no counterpart when they come: those of a chain without its opening, and what comes
    /// before the handshake.
    func strangers(_ talk: Conversation) -> [Int] {
        switch what {
        case .drop: talk.chain(of: line, .toServer).filter { $0 > line }
        case .swap: next(talk).map { [$0] } ?? []
        default: []
        }
    }

    /// Whether these are the titles of those lines, in that order; the client's own ids are UUIDs.
    func names(_ lines: [Int], _ titles: [String], _ talk: Conversation) -> Bool {
        let messages = lines.compactMap { talk.lines[$0].message }
        guard messages.count == titles.count else { return false }
        return zip(messages, titles).allSatisfy { message, title in
            guard let id = title.split(separator: " ").first(where: { $0.count == 36 }), let own = message.chain?.id
            else { return title == message.title }
            return title.replacing(id, with: own, maxReplacements: 1) == message.title
        }
    }

    /// The same message later on the tape: nobody can tell the two apart, and what is too much or missing is the last.
    func twin(_ talk: Conversation) -> Int? {
        talk.lines.indices.last {
            $0 > line && talk.lines[$0].direction == .toServer && talk.lines[$0].key == talk.lines[line].key
                && (talk.lines[$0].opener == $0 || talk.lines[$0].opener == nil)
        }
    }

    /// The client's message behind it that is said of its own accord.
    func next(_ talk: Conversation) -> Int? {
        talk.lines.indices.first {
            $0 > line && talk.lines[$0].direction == .toServer && ![.reply, .close].contains(talk.lines[$0].role)
        }
    }

    /// The client's messages that a push goes before because the client is quiet; empty when there is no such push.
    func postponed(_ talk: Conversation) -> [Int] {
        guard talk.lines[line].role != .handshake, talk.lines[line].role != .close else { return [] }
        for i in talk.lines.indices.dropFirst(line) where talk.lines[i].direction == .toClient {
            let step = talk.lines[i]
            if step.ending != nil || step.role == .close { return [] }
            guard step.role == .push || step.role == .request else { continue }
            if let opener = step.opener, talk.lines[opener].direction == .toServer,
                what == .drop ? opener == line : opener >= line
            {
                continue
            }
            // Who drops a message says all the others.
            let held = (line..<i).filter { talk.lines[$0].direction == .toServer && (what != .drop || $0 == line) }
            return held.contains { isCause($0, of: i, talk) } ? [] : held
        }
        return []
    }

    /// Whether the push is recorded between a call, or what belongs to it, and its one answer.
    private func isCause(_ mine: Int, of push: Int, _ talk: Conversation) -> Bool {
        guard let opener = talk.lines[mine].opener, talk.lines[opener].direction == .toServer else { return false }
        let answers = talk.chain(of: opener, .toClient)
        return answers.count == 1 && answers[0] > push && talk.lines[answers[0]].role == .reply
    }
}
