internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What a model client knows of one session: which of its lines it has said, and which of the server's it has heard.
package struct ClientPlay: Sendable {
    package let talk: Conversation
    /// Counts the client's connections to the session.
    package internal(set) var generation = 0
    /// The order of its own lines, and which of them wait for everything before.
    var order: [Int]
    var waiting: Set<Int>
    /// Position in `order`.
    var at = 0
    /// Lines to say again on this connection before anything new.
    var again: [Int] = []
    package internal(set) var said: [Bool]
    package internal(set) var heard: [Heard]
    /// The connection on which a line was said last, from 1; 0: never.
    var saidIn: [Int]
    /// Questions that have come and are to be answered, by the line of the answer.
    var questions: [(answer: Int, due: WireInstant)] = []
    /// Lines that reached the server on a connection before this one, also when they were said again since, and lost.
    var reached: Set<Int> = []
    /// Openers whose answer the client has given up.
    var givenUp: Set<Int> = []
    /// Openers that the client leaves out although they are on the tape.
    var unasked: Set<Int> = []
    /// The ending of the tape has come.
    package internal(set) var hasEnded = false
    var farewellSaid = false
    /// The handshake's answer was an error, or the server said Close.
    package internal(set) var error: String?
    package internal(set) var isOver = false
    /// How often each line of the server came.
    package internal(set) var counts: [Int]
    /// What came and is not on the tape, in words.
    package internal(set) var strange: [String] = []
    /// When pushes came: for those who wait for the next.
    var pushes = 0

    package enum Heard: Hashable, Sendable {
        case no, yes
        /// It was sent, and a lost connection took it with it.
        case lost
    }

    init(_ session: RecordedSession, _ habits: ClientHabits, _ random: inout SplitMix64) {
        talk = Conversation(session)
        let order = SayingOrder(talk, habits.order, &random)
        self.order = order.lines
        waiting = order.waiting
        said = Array(repeating: false, count: talk.lines.count)
        heard = Array(repeating: .no, count: talk.lines.count)
        saidIn = Array(repeating: 0, count: talk.lines.count)
        counts = Array(repeating: 0, count: talk.lines.count)
    }

    /// Whether a line of the server is still to be expected.
    func isExpected(_ line: Int) -> Bool {
        guard heard[line] == .no, !talk.lines[line].isOptional else { return false }
        guard let opener = talk.lines[line].opener else { return true }
        return !givenUp.contains(opener) && !unasked.contains(opener)
    }

    /// The last line of the server that is still to be expected before `limit`, endings left out.
    func awaits(before limit: Int) -> Bool {
        talk.lines.indices.prefix(limit).contains {
            talk.lines[$0].direction == .toClient && talk.lines[$0].ending == nil && isExpected($0)
        }
    }

    /// Whether the client has said all that it has to say.
    var isSaid: Bool { at == order.count && again.isEmpty && questions.isEmpty && !hasOpenQuestion }

    /// Whether something that it said is not said after all.
    var hasUnsaid: Bool { hasOpenQuestion || order.contains { !said[$0] && !isGivenUp($0) } }

    /// Whether the client has given up what that line belongs to.
    func isGivenUp(_ line: Int) -> Bool { givenUp.contains(talk.lines[line].opener ?? line) }

    private var hasOpenQuestion: Bool {
        talk.lines.indices.contains {
            talk.lines[$0].direction == .toServer && talk.lines[$0].role == .reply && !said[$0]
        }
    }

    /// Everything is said, and everything but an ending has come.
    var isComplete: Bool { isSaid && !awaits(before: talk.lines.count) }

    /// Whether the tape ends with an ending of the server that is still to come, apart from the answer to a farewell.
    var awaitsEnding: Bool {
        !hasEnded && talk.lines.contains { $0.ending != nil && !$0.isOptional }
    }

    /// Longer than the server may be silent although something is still to come: all recorded gaps at half the speed, and
    /// a grace.
    package var longestSilence: UInt64 {
        let last = talk.lines.last?.time ?? talk.opened
        return 2 * (last > talk.opened ? last - talk.opened : 0) + 60_000_000_000
    }

    /// The answer that the tape has to a question.
    func answer(to question: Int) -> Int? {
        talk.lines.indices.first {
            talk.lines[$0].direction == .toServer && talk.lines[$0].role == .reply && talk.lines[$0].opener == question
        }
    }

    /// The opener's own line and what belongs to it, of the client.
    func chain(_ opener: Int) -> [Int] { talk.chain(of: opener, .toServer) }
}
