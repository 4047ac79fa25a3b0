internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// What the messages of a tape are called, as rules ask for it: see ``FaultPlan/hopeless(in:tapeName:options:)``.
package struct TapeNames {
    private let sessions: [RecordedSession]
    /// Every name, with the number of messages that a rule naming it would count.
    package private(set) var counts: [String: Int] = [:]
    /// The most messages to the client in one session, by name; those that are said anew on every connection are left out.
    private var most: [String: Int] = [:]
    private var openings: Set<String> = []
    private var saidByClients: Set<String> = []
    /// Something of the tape is kept as names only.
    private var isFolded = false

    package init(_ sessions: [RecordedSession]) {
        self.sessions = sessions
        for session in sessions {
            let digested = session.digested
            if digested.cold != nil || !digested.names.isEmpty { isFolded = true }
            for (name, count) in digested.names { counts[name, default: 0] += count }
            var toClient: [String: Int] = [:]
            for (index, step) in (digested.script?.steps ?? []).enumerated() {
                guard let role = step.role, let name = digested.script?.name(index) else { continue }
                add(step.direction, role, name, &toClient)
            }
            for case .message(let one) in session.entries.lazy.map(\.what) {
                let name = Script.Name(type: one.type, label: one.label, channel: one.channel)
                add(one.direction, one.role, name, &toClient)
            }
            most.merge(toClient) { max($0, $1) }
        }
    }

    private mutating func add(
        _ direction: Direction, _ role: Role, _ name: Script.Name, _ toClient: inout [String: Int]
    ) {
        MessageNames.count(role, name.type, name.label, name.channel, into: &counts)
        let words = [name.type, name.label, name.channel].compactMap(\.self)
        if direction == .toServer {
            saidByClients.formUnion(words)
        } else {
            if role == .handshake { openings.formUnion(words) }
            MessageNames.count(role, name.type, name.label, name.channel, into: &toClient)
        }
    }

    /// Whether no message of a replay can be called so, but for what a client says that nobody recorded.
    package func isUnknown(_ name: String) -> Bool { counts[name] == nil && !mayBeCalled(name) }

    private func mayBeCalled(_ name: String) -> Bool {
        name == "opaque" || sessions.contains { $0.codec.type.mayBeCalled(name) }
    }

    /// How many messages of that name a session has at most; nil when that is not known: clients say it, the protocol has a
    /// say in it, or sessions can be made of single operations.
    package func most(_ name: String, _ direction: Direction?) -> Int? {
        let isOnlyToClient = direction == .toClient || !saidByClients.contains(name)
        guard !isFolded, isOnlyToClient, !mayBeCalled(name), !openings.contains(name),
            sessions.allSatisfy({ $0.codec.type.operationEnd.isEmpty && !$0.isOperation })
        else { return nil }
        return most[name]
    }

    /// Whether no recorded message meets a condition; nil when the messages are not at hand.
    package func lacks(_ condition: Condition) -> Bool? {
        guard !isFolded, sessions.allSatisfy({ $0.digested.script == nil }) else { return nil }
        return !sessions.contains { session in
            session.entries.contains { entry in
                guard case .message(let message) = entry.what else { return false }
                return condition.holds(for: message, SelectorContext())
            }
        }
    }

    /// What a name that is not there was meant for, or what there is.
    package func hint(_ name: String) -> String {
        let all = counts.keys.sorted()
        if let near = NearestName.find(name, among: all) {
            return "; nearest is '\(near)' (\(RuleNames.times(counts[near] ?? 0)))"
        }
        if let point = NearestName.find(name, among: FaultPoint.allCases.map(\.rawValue)) {
            return "; nearest is the point '\(point)'"
        }
        guard !all.isEmpty else { return ", which has no messages" }
        let more = all.count > TapeNames.shown ? " and \(all.count - TapeNames.shown) more" : ""
        return ", which has \(all.prefix(TapeNames.shown).joined(separator: ", "))\(more)"
    }

    /// Names that a sentence has.
    private static let shown = 8
}
