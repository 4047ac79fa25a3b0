internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// A session as a comparison reads it: its messages and endings in recorded order, with the chains that they belong to.
struct DiffScript {
    struct Step {
        var line: Int
        var event: UInt64
        var direction: Direction
        /// Nil for an ending.
        var message: Message?
        var ending: RecordedSession.Ending?
        /// Index of its chain; nil for messages of none.
        var group: Int?
        /// From 1, among the steps of its direction.
        var ordinal: Int
        var key: UInt64
    }

    /// A chain with the chains that its opening message opened besides (uploads).
    struct Group {
        /// The message that opened it.
        var request: Int?
        /// All others, in order.
        var rest: [Int] = []
    }

    var steps: [Step] = []
    var groups: [Group] = []

    init() {}

    /// What follows a client's farewell, and the farewell itself, play no part.
    init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        var open: [Chain: Int] = [:]
        var counts = (toServer: 0, toClient: 0)
        var hasFarewell = false
        for entry in session.entries {
            var step = Step(line: entry.line, event: entry.event, direction: .toClient, ordinal: 0, key: 0)
            switch entry.what {
            case .ending(let ending):
                guard !hasFarewell else { continue }
                var hash = StableHash()
                hash.combine("\(ending)")
                (step.ending, step.key) = (ending, hash.value)
            case .message(let recorded):
                var message = recorded
                message.meaning = session.withoutServerIDs(recorded.meaning)
                if message.role == .close, message.direction == .toServer {
                    hasFarewell = true
                    continue
                }
                if message.role == .close, hasFarewell { continue }
                guard message.role != .keepalive, message.role != .ack else { continue }
                step.direction = message.direction
                step.message = message
                step.key = Script.key(message, at: nil, ignore: ignore)
                step.group = enter(message, &open)
            }
            if step.direction == .toServer { counts.toServer += 1 } else { counts.toClient += 1 }
            step.ordinal = step.direction == .toServer ? counts.toServer : counts.toClient
            steps.append(step)
        }
    }

    /// The chain of the message that is about to be appended.
    private mutating func enter(_ message: Message, _ open: inout [Chain: Int]) -> Int? {
        guard message.role != .handshake, let chain = message.chain ?? message.opens.first else { return nil }
        let opens = !message.opens.isEmpty || message.role == .request && message.chain?.origin == message.direction
        if opens || open[chain] == nil {
            open[chain] = groups.count
            groups.append(Group(request: opens ? steps.count : nil))
        }
        guard let group = open[chain] else { return nil }
        for further in message.opens { open[further] = group }
        if groups[group].request != steps.count { groups[group].rest.append(steps.count) }
        return group
    }

    /// What a side says of its own accord: openings of chains, messages of none, endings.
    func own(_ side: Direction) -> [Int] {
        steps.indices.filter { i in
            steps[i].direction == side && (steps[i].group.map { groups[$0].request == i } ?? true)
        }
    }

    /// What a side says in a chain that is open.
    func rest(_ group: Int, _ side: Direction) -> [Int] {
        groups[group].rest.filter { steps[$0].direction == side }
    }
}
