internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// A recorded session as replay plays it: its messages in recorded order with what each of them waits for. Keepalives and
/// acknowledgements of the protocol are not in it; the farewell of a client and the server's answer to it are optional.
///
/// It is made for tapes of a million messages: 32 bytes a step and some for its lists. The messages themselves are asked
/// for one at a time with ``message(_:)``.
package struct Script: Sendable {
    package struct Step: Sendable {
        /// On the tape's clock.
        package var time: UInt64
        package var line: Int32
        /// From 1, among the steps of its direction.
        package var ordinal: Int32
        package var frame: Int32
        package fileprivate(set) var groupIndex: Int32 = -1
        /// Into ``Script/names``; −1 for an ending.
        fileprivate(set) var nameIndex: Int32 = -1
        package fileprivate(set) var slot: UInt16 = 0
        /// Nil for an ending.
        package var role: Role?
        fileprivate var flags: UInt8 = 0

        package var direction: Direction { flags & 1 == 0 ? .toClient : .toServer }
        package var optional: Bool { flags & 2 != 0 }
        /// Its WebSocket message was compressed.
        package var isDeflated: Bool { flags & 4 != 0 }
        /// Nil for messages of no chain.
        package var group: Int? { groupIndex < 0 ? nil : Int(groupIndex) }
        package var place: ChainPlace? { group.map { ChainPlace(group: $0, slot: Int(slot)) } }
        /// The server's farewell, or its end of the connection.
        package var isEnd: Bool { role == nil || (role == .close && direction == .toClient) }
        /// A client message that holds back pushes.
        package var isGate: Bool { direction == .toServer && !optional && role?.isGate == true }
        /// A client message that continues nothing: it stands in the client's own order.
        package var isOfOwnAccord: Bool {
            direction == .toServer && (role == .request || role == .send || role == .opaque)
        }
    }

    /// Which chain of which group: 0 is the group's own, 1 … are those that its opening message opened besides.
    package struct ChainPlace: Hashable, Sendable {
        package var group: Int
        package var slot: Int

        package init(group: Int, slot: Int) {
            self.group = group
            self.slot = slot
        }
    }

    /// A chain with the chains that its opening message opened besides (uploads).
    package struct Group: Sendable {
        /// Who opened it.
        package var origin: Direction
        fileprivate var opening: Int32
        fileprivate var serverStart: Int32 = 0
        fileprivate var clientStart: Int32 = 0

        /// The message that opened it; nil when the tape does not have it.
        package var request: Int? { opening < 0 ? nil : Int(opening) }
    }

    /// Type and label of messages.
    package struct Name: Hashable, Sendable {
        package var type: String
        package var label: String?
        package var channel: String?

        package init(type: String, label: String?, channel: String?) {
            (self.type, self.label, self.channel) = (type, label, channel)
        }

        /// `Invocation Send`; the label alone when it says the type, too.
        package var text: String {
            guard let label else { return type }
            return label.hasSuffix(type) ? label : "\(type) \(label)"
        }
    }

    /// How many steps ahead of the first unmatched client message a counterpart may stand, and how many ended chains are
    /// remembered.
    package static let window = 4_096

    package private(set) var steps: [Step] = []
    package private(set) var groups: [Group] = []
    package private(set) var names: [Name] = []
    /// Answers of the client to requests of the server.
    private var answers: [Int32] = []
    /// Messages of the client that cut a chain short.
    private var cancels: [Int32] = []
    /// What the server says or asks of its own accord, and its ends.
    package private(set) var pushes = StepSet()
    /// Those of them that are recorded between a call of the client, or what belongs to it, and its one answer.
    private var caused = StepSet()
    /// Steps of the groups, side by side in the order of the groups.
    private var serverSteps: [Int32] = []
    private var clientSteps: [Int32] = []
    /// Client messages by meaning: hashes in ascending order, and the steps of each in recorded order.
    private var keys: [UInt64] = []
    private var keyed: [Int32] = []
    /// The protocol's opening.
    package private(set) var clientHandshake: Int?
    package private(set) var serverHandshake: Int?
    /// Whether a message of the server had several frames.
    package private(set) var hasFrameSizes = false
    /// The client's farewell, and what the server made of it.
    package private(set) var farewell: Int?
    package private(set) var farewellAnswers: [Int] = []
    /// The tape's time at which the stream opened.
    package let opened: UInt64
    /// What the steps mean, hashed: for the digest.
    package private(set) var meanings: [UInt32] = []
    private var messages: ScriptMessages
    /// The pseudonyms in what its client said.
    package private(set) var variables = TapeVariables()

    package init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        var builder = ScriptBuilder(keeping: session, ignore: ignore)
        for entry in session.entries { builder.add(entry) }
        self = builder.finish()
    }

    /// Without steps.
    init(opened: UInt64, _ messages: ScriptMessages) {
        self.opened = opened
        self.messages = messages
    }

    // MARK: Looking

    /// The message of a step; nil for an ending.
    package func message(_ step: Int) -> Message? { messages.message(step, of: self) }

    /// Whether the recorded server ended a connection with that code.
    package func hasEnding(code: UInt16) -> Bool {
        messages.endings.values.contains { if case .close(code, _) = $0 { true } else { false } }
    }

    /// The byte count of each frame if these steps are a whole WebSocket message that had several frames. Else empty.
    package func frameSizes(of messageSteps: [Int]) -> [Int32] {
        guard !messages.frameSizes.isEmpty, let first = messageSteps.first, let last = messageSteps.last,
            let sizes = messages.frameSizes[Int32(clamping: first)]
        else { return [] }
        // A part of the message is sent in one frame. An ending has the number of the frame before it.
        let isPart = { (step: Int) in
            steps.indices.contains(step) && steps[step].role != nil && steps[step].frame == steps[first].frame
        }
        return isPart(first - 1) || isPart(last + 1) ? [] : sizes
    }

    /// The ending that a step is; nil for a message.
    package func ending(_ step: Int) -> RecordedSession.Ending? { messages.endings[Int32(clamping: step)] }

    /// Type and label of a step's message; nil for an ending.
    package func name(_ step: Int) -> Name? {
        let index = Int(steps[step].nameIndex)
        return index < 0 ? nil : names[index]
    }

    /// Counts the names of its messages.
    package func count(into counts: inout [String: Int]) {
        for (index, step) in steps.enumerated() {
            guard let role = step.role, let name = name(index) else { continue }
            MessageNames.count(role, name.type, name.label, name.channel, into: &counts)
        }
    }

    /// Steps of a group to the server, its request among them.
    package func toServer(in group: Int) -> StepList {
        let end = group + 1 < groups.count ? Int(groups[group + 1].serverStart) : serverSteps.count
        return StepList(serverSteps[Int(groups[group].serverStart)..<end])
    }

    package func toClient(in group: Int) -> StepList {
        let end = group + 1 < groups.count ? Int(groups[group + 1].clientStart) : clientSteps.count
        return StepList(clientSteps[Int(groups[group].clientStart)..<end])
    }

    /// Whether what the client asked for in that group is answered by one message.
    package func isOneAnswer(in group: Int) -> Bool {
        guard groups[group].origin == .toServer else { return false }
        let answers = toClient(in: group)
        return answers.count == 1 && answers.first.map { steps[$0].role == .reply } ?? false
    }

    /// Whether a call may have caused that push: it is recorded between a call, or what belongs to it, and its one answer.
    package func mayBeCaused(_ push: Int) -> Bool { caused.contains(push) }

    /// The places of its gates on the tape.
    package var gates: [RecordedSession.TapePlace] {
        steps.lazy.filter(\.isGate).map { RecordedSession.TapePlace(line: Int($0.line), time: $0.time) }
    }

    /// The first step on that line of the tape or behind it.
    package func firstStep(fromLine line: Int32) -> Int {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].line < line { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The client's answers recorded between two steps.
    package func answers(between earlier: Int, and later: Int) -> StepList {
        let from = StepList.place(of: earlier + 1, in: answers)
        return StepList(answers[from..<Swift.max(from, StepList.place(of: later, in: answers))])
    }

    package func cancels(before end: Int) -> StepList { StepList(cancels[..<StepList.place(of: end, in: cancels)]) }

    /// All answers of the client.
    package var allAnswers: StepList { StepList(answers[...]) }

    /// Client messages of that key in recorded order; empty when there is none.
    package func equals(_ key: UInt64) -> StepList {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        var end = low
        high = keys.count
        while end < high {
            let middle = (end + high) / 2
            if keys[middle] <= key { end = middle + 1 } else { high = middle }
        }
        return StepList(keyed[low..<end])
    }

    /// What the client messages of equal meaning have in common. What continues a chain is compared within it.
    /// - Parameter place: of the recorded chain; ignored for messages that open one.
    package static func key(_ message: Message, at place: ChainPlace?, ignore: [IgnoreRule]) -> UInt64 {
        var meaning = message.meaning
        for rule in ignore where rule.applies(to: message) { meaning = rule.removed(from: meaning) }
        var hash = StableHash()
        hash.combine(message.role.rawValue)
        hash.combine(message.kind)
        hash.combine(meaning.canonicalText)
        switch message.role {
        case .part, .cancel, .reply:
            if let place {
                hash.combine(UInt64(bitPattern: Int64(place.group)))
                hash.combine(UInt64(bitPattern: Int64(place.slot)))
            }
        case .request, .send: hash.combine(UInt64(message.opens.count))
        case .handshake, .push, .keepalive, .ack, .close, .opaque: break
        }
        return hash.value
    }
}

extension Role {
    /// Whether a client message of this role holds back later server messages.
    var isGate: Bool {
        switch self {
        case .keepalive, .ack, .cancel, .close: false
        case .handshake, .request, .send, .push, .part, .reply, .opaque: true
        }
    }
}

// MARK: Making

extension Script {
    /// What is needed only while a script is made.
    struct Build {
        package let ignore: [IgnoreRule]
        /// A channel goes on behind the answer to its subscription.
        var repliesEndChains = true
        package var open: [Chain: ChainPlace] = [:]
        /// Chains that have ended, in order. What comes for one of them long after is of no chain.
        package var closed: [(chain: Chain, group: Int)] = []
        /// Groups that have ended, as far as `closed` knows them.
        package var over: Set<Int> = []
        package var forgotten = 0
        package var names: [Name: Int32] = [:]
        package var keys: [(hash: UInt64, step: Int32)] = []
        package var toServer: Int32 = 0
        package var toClient: Int32 = 0

        init(ignore: [IgnoreRule]) { self.ignore = ignore }

        package mutating func close(_ chain: Chain) {
            closed.append((chain, open[chain]?.group ?? -1))
            if let group = open[chain]?.group { over.insert(group) }
            guard closed.count - forgotten > Script.window else { return }
            let oldest = closed[forgotten]
            if open[oldest.chain]?.group == oldest.group { open[oldest.chain] = nil }
            over.remove(oldest.group)
            forgotten += 1
            guard forgotten > Script.window else { return }
            closed.removeFirst(forgotten)
            forgotten = 0
        }
    }

    func step(
        of entry: RecordedSession.Entry, _ role: Role?, _ side: Direction, _ build: inout Build
    ) -> Step {
        var step = Step(
            time: entry.time, line: Int32(clamping: entry.line), ordinal: 0, frame: Int32(clamping: entry.frame),
            role: role)
        if side == .toServer {
            build.toServer += 1
            step.ordinal = build.toServer
            step.flags = 1
        } else {
            build.toClient += 1
            step.ordinal = build.toClient
        }
        if entry.isDeflated { step.flags |= 4 }
        if entry.isCrossing { step.flags |= 2 }
        return step
    }

    mutating func add(
        _ message: Message, _ entry: RecordedSession.Entry, _ build: inout Build, meaning: UInt64
    ) {
        let index = Int32(clamping: steps.count)
        let side = message.direction
        var step = step(of: entry, message.role, side, &build)
        let opens = message.opens.first != nil || (message.role == .request && message.chain?.origin == side)
        if let chain = message.chain ?? message.opens.first, message.role != .handshake {
            if opens || build.open[chain] == nil {
                build.open[chain] = ChainPlace(group: groups.count, slot: 0)
                groups.append(Group(origin: chain.origin, opening: opens ? index : -1))
            }
            if let place = build.open[chain] {
                step.groupIndex = Int32(clamping: place.group)
                step.slot = UInt16(clamping: place.slot)
                // It crossed the end of the chain on the wire: another run need not have it.
                if message.role == .cancel, build.repliesEndChains, build.over.contains(place.group) { step.flags |= 2 }
            }
            for (i, further) in message.opens.enumerated() {
                build.open[further] = ChainPlace(group: groups.count - 1, slot: i + 1)
            }
            if message.role == .reply { build.close(chain) }
        }
        let name = Name(type: message.type, label: message.label, channel: message.channel)
        if let known = build.names[name] {
            step.nameIndex = known
        } else {
            step.nameIndex = Int32(clamping: names.count)
            build.names[name] = step.nameIndex
            names.append(name)
        }
        if side == .toServer {
            build.keys.append((Script.key(message, at: step.place, ignore: build.ignore), index))
            variables.add(message)
        }
        add(step, meaning: meaning)
    }

    package mutating func add(_ step: Step, meaning: UInt64) {
        let index = steps.count
        var step = step
        if step.direction == .toServer {
            switch step.role {
            case .close:
                step.flags |= 2
                farewell = farewell ?? index
            case .reply: answers.append(Int32(clamping: index))
            case .cancel: cancels.append(Int32(clamping: index))
            case .handshake: clientHandshake = clientHandshake ?? index
            case .request, .send, .push, .part, .keepalive, .ack, .opaque, nil: break
            }
        } else {
            if farewell != nil, step.role == nil || step.role == .close {
                step.flags |= 2
                farewellAnswers.append(index)
            }
            if step.role == .handshake, serverHandshake == nil { serverHandshake = index }
        }
        steps.append(step)
        meanings.append(UInt32(truncatingIfNeeded: meaning ^ meaning >> 32))
    }

    /// Once all steps are known.
    mutating func complete(_ build: consuming Build, _ messages: ScriptMessages) {
        self.messages = messages
        hasFrameSizes = !messages.frameSizes.isEmpty
        fillGroups()
        findPushes()
        build.keys.sort { ($0.hash, $0.step) < ($1.hash, $1.step) }
        keys = build.keys.map(\.hash)
        keyed = build.keys.map(\.step)
    }

    private mutating func findPushes() {
        // The last answer to a call that the client has begun by then.
        var answered = -1
        for (index, step) in steps.enumerated() {
            guard step.direction == .toClient else {
                if let group = step.group, isOneAnswer(in: group) {
                    answered = max(answered, toClient(in: group).first ?? -1)
                }
                continue
            }
            switch step.role {
            case .push, .request:
                pushes.insert(index)
                if answered > index { caused.insert(index) }
            case .close, nil: pushes.insert(index)
            case .handshake, .send, .reply, .part, .cancel, .keepalive, .ack, .opaque: break
            }
        }
    }

    /// Lists the steps of every group.
    private mutating func fillGroups() {
        var server = [Int32](repeating: 0, count: groups.count)
        var client = server
        for step in steps {
            guard let group = step.group else { continue }
            if step.direction == .toServer { server[group] += 1 } else { client[group] += 1 }
        }
        var (serverEnd, clientEnd): (Int32, Int32) = (0, 0)
        for group in groups.indices {
            groups[group].serverStart = serverEnd
            groups[group].clientStart = clientEnd
            serverEnd += server[group]
            clientEnd += client[group]
            server[group] = groups[group].serverStart
            client[group] = groups[group].clientStart
        }
        serverSteps = [Int32](repeating: 0, count: Int(serverEnd))
        clientSteps = [Int32](repeating: 0, count: Int(clientEnd))
        for (i, step) in steps.enumerated() {
            guard let group = step.group else { continue }
            if step.direction == .toServer {
                serverSteps[Int(server[group])] = Int32(clamping: i)
                server[group] += 1
            } else {
                clientSteps[Int(client[group])] = Int32(clamping: i)
                client[group] += 1
            }
        }
    }
}
