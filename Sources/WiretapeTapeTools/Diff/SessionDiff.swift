internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Compares two sessions as replay would: client messages in any order that the protocol allows, the server's in order
/// within each chain, ids by what they tie together. Keepalives, acknowledgements, transports and the order in which
/// both sides say goodbye play no part.
struct SessionDiff {
    private let a: DiffScript
    private let b: DiffScript
    private let numbers: (a: Int, b: Int)
    private let place: String
    private let ignore: [IgnoreRule]
    /// A rule let messages pass others: their order says nothing.
    private var reorders = false
    /// Chains of the second that chains of the first turned out to be.
    private var groups: [Int: Int] = [:]
    private var found: [(line: Int, difference: TapeDifference)] = []

    static func compare(_ a: RecordedSession, _ b: RecordedSession, ignore: [IgnoreRule]) -> [TapeDifference] {
        let scripts = (DiffScript(a, ignore: ignore), DiffScript(b, ignore: ignore))
        var diff = SessionDiff(a, scripts.0, b.number, scripts.1, ignore)
        return diff.run()
    }

    /// - Parameter parts: what a run of the session told, connection by connection.
    static func compare(
        _ a: RecordedSession, played parts: [RecordedSession], _ run: PlayedRun, ignore: [IgnoreRule]
    ) -> [TapeDifference] {
        let (tape, told) = DiffScript.played(a, by: parts, run, ignore: ignore)
        var diff = SessionDiff(a, tape, parts.first?.number ?? 0, told, ignore)
        diff.reorders = run.reorders
        return diff.run()
    }

    private init(
        _ session: RecordedSession, _ a: DiffScript, _ number: Int, _ b: DiffScript, _ ignore: [IgnoreRule]
    ) {
        (self.a, self.b) = (a, b)
        self.ignore = ignore
        numbers = (session.number, number)
        place = "session \(session.name ?? "\(session.number)") (\(session.route))"
    }

    /// What opens chains tells which chains are the same; then the rest is compared chain by chain.
    private mutating func run() -> [TapeDifference] {
        for side in [Direction.toServer, .toClient] { pair(a.own(side), b.own(side), isOrdered: side == .toClient) }
        let paired = Set(groups.values)
        for side in [Direction.toServer, .toClient] {
            for group in a.groups.indices {
                let other = groups[group].map { b.rest($0, side) } ?? []
                pair(a.rest(group, side), other, isOrdered: side == .toClient)
            }
            for group in b.groups.indices where !paired.contains(group) {
                pair([], b.rest(group, side), isOrdered: true)
            }
        }
        return found.sorted { $0.line < $1.line }.map(\.difference)
    }

    // MARK: Pairs

    private mutating func pair(_ first: [Int], _ second: [Int], isOrdered: Bool) {
        let alignment = Alignment(first.map { a.steps[$0].key }, second.map { b.steps[$0].key })
        for (i, j) in alignment.kept + alignment.moved { join(first[i], second[j]) }
        if isOrdered, !reorders {
            for (i, j) in alignment.moved { note(.moved, first[i], second[j]) }
        }
        // The rest is the same message with other content where type and label agree.
        var others: [String: [Int]] = [:]
        for j in alignment.onlySecond.reversed() { others[kind(b.steps[second[j]]), default: []].append(second[j]) }
        var taken: Set<Int> = []
        for i in alignment.onlyFirst.map({ first[$0] }) {
            if let j = others[kind(a.steps[i])]?.popLast() {
                taken.insert(j)
                join(i, j)
                note(.changed, i, j)
            } else {
                note(.missing, i, nil)
            }
        }
        for j in alignment.onlySecond.map({ second[$0] }) where !taken.contains(j) { note(.added, nil, j) }
    }

    /// What two messages have in common that may be the same one with other content.
    private func kind(_ step: DiffScript.Step) -> String {
        step.message.map { "\($0.role.rawValue) \($0.type) \($0.label ?? "")" } ?? "ending"
    }

    private mutating func join(_ i: Int, _ j: Int) {
        guard let left = a.steps[i].group, let right = b.steps[j].group, a.groups[left].request == i else { return }
        groups[left] = right
    }

    private mutating func note(_ kind: TapeDifference.Kind, _ i: Int?, _ j: Int?) {
        let step = i.map { a.steps[$0] } ?? j.map { b.steps[$0] }
        guard let step else { return }
        let side = step.direction == .toServer ? "client" : "server"
        var difference = TapeDifference(
            kind: kind, what: step.ending == nil ? "\(side) message \(step.ordinal)" : "server's ending",
            place: place, first: i.map { self.side(a.steps[$0], numbers.a) },
            second: j.map { self.side(b.steps[$0], numbers.b) })
        if kind == .changed, let left = i.flatMap({ a.steps[$0].message }),
            let right = j.flatMap({ b.steps[$0].message })
        {
            difference.pointers = meaning(left).differences(from: meaning(right))
            difference.ignore = difference.pointers.filter { !$0.isEmpty }.prefix(TapeDifference.most).map {
                IgnoreRule(label: left.label ?? left.type, pointer: $0)
            }
        }
        // In the order of the first tape; what only the second has stands where it stands there.
        let line = i.map { a.steps[$0].line } ?? j.map { b.steps[$0].line } ?? 0
        found.append((line, difference))
    }

    private func meaning(_ message: Message) -> JSONValue {
        var meaning = message.meaning
        for rule in ignore where rule.applies(to: message) { meaning = rule.removed(from: meaning) }
        return meaning
    }

    private func side(_ step: DiffScript.Step, _ session: Int) -> TapeDifference.Side {
        let text: String
        switch step.ending {
        case nil: text = step.message?.title ?? ""
        case .close(let code, let reason)?:
            text = "close\(code.map { " \($0)" } ?? "")\(reason.isEmpty ? "" : " \(JSONValue.string(reason).text)")"
        case .disconnect?: text = "end of the connection"
        case .reset?: text = "reset of the connection"
        }
        return TapeDifference.Side(session: session, line: step.line, text: text)
    }
}
