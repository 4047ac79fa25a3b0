/// Compares two sessions as replay would: client messages in any order that the protocol allows, the server's in order
/// within each chain, ids by what they tie together. Keepalives, acknowledgements, transports and the order in which
/// both sides say goodbye play no part.
struct SessionDiff {
    private let a: Script
    private let b: Script
    private let numbers: (a: Int, b: Int)
    private let place: String
    private let ignore: [IgnoreRule]
    /// Chains of the second that chains of the first turned out to be.
    private var groups: [Int: Int] = [:]
    private var found: [(order: Int, difference: TapeDifference)] = []

    static func compare(_ a: RecordedSession, _ b: RecordedSession, ignore: [IgnoreRule]) -> [TapeDifference] {
        var diff = SessionDiff(a, b, ignore)
        return diff.run()
    }

    private init(_ a: RecordedSession, _ b: RecordedSession, _ ignore: [IgnoreRule]) {
        self.a = Script(a, ignore: ignore)
        self.b = Script(b, ignore: ignore)
        self.ignore = ignore
        numbers = (a.number, b.number)
        place = "session \(a.name ?? "\(a.number)") (\(a.route))"
    }

    private mutating func run() -> [TapeDifference] {
        // What opens chains tells which chains are the same; then the rest is compared chain by chain.
        pair(
            a.toServer.filter { opens(a, $0) }, b.toServer.filter { opens(b, $0) }, isOrdered: false)
        pair(
            a.toClient.filter { isOwn(a, $0) }, b.toClient.filter { isOwn(b, $0) }, isOrdered: true)
        for group in a.groups.indices where groups[group] != nil || !rest(a, group, .toClient).isEmpty {
            let other = groups[group]
            for side in [Direction.toServer, .toClient] {
                pair(rest(a, group, side), other.map { rest(b, $0, side) } ?? [], isOrdered: side == .toClient)
            }
        }
        let paired = Set(groups.values)
        for group in b.groups.indices where !paired.contains(group) {
            for side in [Direction.toServer, .toClient] { pair([], rest(b, group, side), isOrdered: true) }
        }
        for group in a.groups.indices where groups[group] == nil && rest(a, group, .toClient).isEmpty {
            pair(rest(a, group, .toServer), [], isOrdered: false)
        }
        return found.sorted { $0.order < $1.order }.map(\.difference)
    }

    // MARK: Which steps

    /// Openings of chains, messages without a chain, the handshake: what a client says of its own accord.
    private func opens(_ script: Script, _ step: Int) -> Bool {
        guard isCompared(script, step) else { return false }
        guard let group = script.steps[step].group else { return true }
        return script.groups[group].request == step || script.steps[step].role == .handshake
    }

    /// The same for the server: pushes of no chain, its own requests, endings.
    private func isOwn(_ script: Script, _ step: Int) -> Bool { opens(script, step) }

    /// What follows in a chain.
    private func rest(_ script: Script, _ group: Int, _ side: Direction) -> [Int] {
        let steps = side == .toServer ? script.groups[group].toServer : script.groups[group].toClient
        return steps.filter { isCompared(script, $0) && script.groups[group].request != $0 }
    }

    private func isCompared(_ script: Script, _ step: Int) -> Bool {
        !script.steps[step].optional && script.steps[step].role != .close
            || script.steps[step].role == .close && script.steps[step].direction == .toClient
                && !script.steps[step].optional
    }

    private func key(_ script: Script, _ step: Int) -> String {
        if let message = script.steps[step].message { return Script.key(message, at: nil, ignore: ignore) }
        return script.steps[step].ending.map { "\($0)" } ?? ""
    }

    // MARK: Pairs

    private mutating func pair(_ first: [Int], _ second: [Int], isOrdered: Bool) {
        let alignment = Alignment(first.map { key(a, $0) }, second.map { key(b, $0) })
        for (i, j) in alignment.kept + alignment.moved { join(first[i], second[j]) }
        if isOrdered {
            for (i, j) in alignment.moved { note(.moved, first[i], second[j]) }
        }
        // The rest is the same message with other content where type and label agree.
        var others = alignment.onlySecond.map { second[$0] }
        for i in alignment.onlyFirst.map({ first[$0] }) {
            if let at = others.firstIndex(where: { isLike(i, $0) }) {
                let j = others.remove(at: at)
                join(i, j)
                note(.changed, i, j)
            } else {
                note(.missing, i, nil)
            }
        }
        for j in others { note(.added, nil, j) }
    }

    private func isLike(_ i: Int, _ j: Int) -> Bool {
        let (x, y) = (a.steps[i], b.steps[j])
        guard let left = x.message, let right = y.message else { return x.ending != nil && y.ending != nil }
        return left.type == right.type && left.label == right.label && left.role == right.role
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
            let pointer = DivergenceText.difference(meaning(left), meaning(right)) ?? ""
            difference.pointer = pointer
            if !pointer.isEmpty { difference.ignore = IgnoreRule(label: left.label ?? left.type, pointer: pointer) }
        }
        // In the order of the first tape; what only the second has stands where it stands there.
        let line = i.map { a.steps[$0].line } ?? j.map { b.steps[$0].line } ?? 0
        found.append((line, difference))
    }

    private func meaning(_ message: Message) -> JSONValue {
        var meaning = message.meaning
        for rule in ignore where rule.applies(to: message) { meaning = meaning.without(rule.pointer) }
        return meaning
    }

    private func side(_ step: Script.Step, _ session: Int) -> TapeDifference.Side {
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
