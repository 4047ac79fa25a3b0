/// A recorded session as replay plays it: its messages in recorded order with what each of them waits for. Keepalives and
/// acknowledgements of the protocol are not in it; the farewell of a client and the server's answer to it are optional.
struct Script: Sendable {
    struct Step: Sendable {
        var line: Int
        var time: UInt64
        var frame: Int
        var direction: Direction
        /// Nil for an ending.
        var message: Message?
        var ending: RecordedSession.Ending?
        /// Nil for messages of no chain.
        var place: ChainPlace?
        /// From 1, among the steps of its direction.
        var ordinal: Int
        var optional = false

        var role: Role? { message?.role }
        var group: Int? { place?.group }
    }

    /// Which chain of which group: 0 is the group's own, 1 … are those that its opening message opened besides.
    struct ChainPlace: Hashable, Sendable {
        var group: Int
        var slot: Int
    }

    /// A chain with the chains that its opening message opened besides (uploads).
    struct Group: Sendable {
        var chain: Chain
        /// The message that opened it.
        var request: Int?
        /// Steps of each side in order; the request is among them.
        var toServer: [Int] = []
        var toClient: [Int] = []
    }

    private(set) var steps: [Step] = []
    private(set) var groups: [Group] = []
    /// Steps of each side in recorded order.
    private(set) var toServer: [Int] = []
    private(set) var toClient: [Int] = []
    /// Client messages that hold back pushes.
    private(set) var gates: [Int] = []
    /// Answers of the client to requests of the server.
    private(set) var answers: [Int] = []
    /// The protocol's opening.
    private(set) var clientHandshake: Int?
    private(set) var serverHandshake: Int?
    /// The client's farewell, and what the server made of it.
    private(set) var farewell: Int?
    private(set) var farewellAnswers: [Int] = []
    /// Client messages of equal meaning, in recorded order, and where their list stands.
    private(set) var byKey: [String: Int] = [:]
    private(set) var equals: [[Int]] = []
    /// The tape's time at which the stream opened.
    let opened: UInt64

    init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        opened = session.opened ?? session.entries.first?.time ?? 0
        var open: [Chain: ChainPlace] = [:]
        for entry in session.entries {
            switch entry.what {
            case .message(let message):
                guard message.role != .keepalive, message.role != .ack else { continue }
                add(message, entry, &open, ignore)
            case .ending(let ending):
                add(
                    Step(
                        line: entry.line, time: entry.time, frame: entry.frame, direction: .toClient, ending: ending,
                        ordinal: toClient.count + 1))
            }
        }
    }

    private mutating func add(
        _ message: Message, _ entry: RecordedSession.Entry, _ open: inout [Chain: ChainPlace], _ ignore: [IgnoreRule]
    ) {
        let index = steps.count
        let side = message.direction
        var step = Step(
            line: entry.line, time: entry.time, frame: entry.frame, direction: side, message: message,
            ordinal: (side == .toServer ? toServer.count : toClient.count) + 1)
        let opens = message.opens.first != nil || (message.role == .request && message.chain?.origin == side)
        if let chain = message.chain ?? message.opens.first, message.role != .handshake {
            if opens || open[chain] == nil {
                open[chain] = ChainPlace(group: groups.count, slot: 0)
                groups.append(Group(chain: chain, request: opens ? index : nil))
            }
            step.place = open[chain]
            for (i, further) in message.opens.enumerated() {
                open[further] = ChainPlace(group: groups.count - 1, slot: i + 1)
            }
        }
        if side == .toServer {
            let key = Script.key(message, at: step.place, ignore: ignore)
            if let list = byKey[key] {
                equals[list].append(index)
            } else {
                byKey[key] = equals.count
                equals.append([index])
            }
        }
        add(step)
    }

    private mutating func add(_ step: Step) {
        let index = steps.count
        var step = step
        if step.direction == .toServer {
            toServer.append(index)
            if let group = step.group { groups[group].toServer.append(index) }
            switch step.role {
            case .cancel: break
            case .close:
                step.optional = true
                farewell = farewell ?? index
            case .reply:
                answers.append(index)
                gates.append(index)
            case .handshake:
                gates.append(index)
                clientHandshake = clientHandshake ?? index
            default: gates.append(index)
            }
        } else {
            toClient.append(index)
            if let group = step.group { groups[group].toClient.append(index) }
            if farewell != nil, step.ending != nil || step.role == .close {
                step.optional = true
                farewellAnswers.append(index)
            }
            if step.role == .handshake, serverHandshake == nil { serverHandshake = index }
        }
        steps.append(step)
    }

    /// The client's answers recorded between two steps.
    func answers(between earlier: Int, and later: Int) -> ArraySlice<Int> {
        let from = Script.count(of: answers, below: earlier + 1)
        return answers[from..<max(from, Script.count(of: answers, below: later))]
    }

    /// How many of the ascending `steps` are smaller than `limit`.
    private static func count(of steps: [Int], below limit: Int) -> Int {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// What the client messages of equal meaning have in common. What continues a chain is compared within it.
    /// - Parameter place: of the recorded chain; ignored for messages that open one.
    static func key(_ message: Message, at place: ChainPlace?, ignore: [IgnoreRule]) -> String {
        var meaning = message.meaning
        for rule in ignore where rule.applies(to: message) { meaning = meaning.without(rule.pointer) }
        let text = "\(message.role.rawValue) \(message.type) \(meaning.canonicalText)"
        switch message.role {
        case .part, .cancel, .reply: return place.map { "\(text) \($0.group).\($0.slot)" } ?? text
        case .request, .send: return "\(text) \(message.opens.count)"
        default: return text
        }
    }
}
