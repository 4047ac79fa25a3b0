internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What the server of a session says by itself to everybody who connects: pushes that come again on each new connection.
struct SessionGreeting: Hashable, Sendable {
    /// Of the session's script, ascending.
    var steps: [Int] = []
    /// What they are called, each once, in that order.
    var labels: [String] = []
    /// How it was found, as a part of a sentence.
    var why: String

    /// How soon after the opening a push belongs to it.
    static let window: UInt64 = 250_000_000
    /// Connections of the tape that are looked at.
    static let mostConnections = 8

    /// - Parameter others: scripts of further connections to the same place, on the tape.
    init(_ script: Script, others: [Script], _ option: GreetingOption) {
        let first = script.firstPushes
        switch option {
        case .off: self.init([], script, why: "--greeting none")
        case .named(let names):
            let isNamed = { (step: Int) in
                script.name(step).map { name in names.contains(where: name.isNamed) } ?? false
            }
            var steps = first.filter(isNamed)
            if steps.isEmpty, let later = script.steps.indices.first(where: { script.isOwnPush($0) && isNamed($0) }) {
                steps = [later]
            }
            self.init(steps, script, why: steps.isEmpty ? "no push of the session is named so" : "--greeting")
        case .auto:
            let beginnings = others.filter(\.saysAnything).map { other in
                Set(other.firstPushes.compactMap { other.name($0)?.short })
            }
            let isAlone = beginnings.isEmpty
            // A name that comes more often is what the session is about: it is a greeting only as early as one.
            var counts: [String: Int] = [:]
            for step in isAlone ? 0..<0 : script.steps.indices {
                if let name = script.name(step)?.short { counts[name, default: 0] += 1 }
            }
            let steps = first.filter { step in
                guard let name = script.name(step)?.short, !isAlone else { return script.isEarly(step) }
                return beginnings.allSatisfy { $0.contains(name) } && (script.isEarly(step) || counts[name] == 1)
            }
            self.init(
                steps, script,
                why: isAlone
                    ? "pushes within 250 ms of the opening and before the client's first word"
                    : "begins each of \(beginnings.count + 1) connections on the tape")
        }
    }

    private init(_ steps: [Int], _ script: Script, why: String) {
        self.steps = steps
        self.why = why
        for step in steps {
            if let name = script.name(step)?.short, !labels.contains(name) { labels.append(name) }
        }
    }
}

extension Script {
    /// When the protocol's opening was through, on the tape's clock.
    var begun: UInt64 { (serverHandshake ?? clientHandshake).map { steps[$0].time } ?? opened }

    /// A message of the server that belongs to no chain.
    fileprivate func isOwnPush(_ step: Int) -> Bool {
        steps[step].direction == .toClient && steps[step].role == .push && steps[step].group == nil
    }

    fileprivate func isEarly(_ step: Int) -> Bool {
        let (limit, overflow) = begun.addingReportingOverflow(SessionGreeting.window)
        return overflow || steps[step].time <= limit
    }

    /// Whether either side says something behind the protocol's opening.
    fileprivate var saysAnything: Bool {
        steps.contains { $0.role != nil && $0.role != .handshake && $0.role != .close }
    }

    /// Pushes before the client's first word, at most 512.
    fileprivate var firstPushes: [Int] {
        var found: [Int] = []
        for (index, step) in steps.enumerated() where step.role != .handshake {
            guard step.direction == .toClient, step.role != nil, step.role != .close, found.count < 512 else { break }
            if isOwnPush(index) { found.append(index) }
        }
        return found
    }
}

extension Script.Name {
    /// What people call the message by.
    fileprivate var short: String { label ?? type }
}
