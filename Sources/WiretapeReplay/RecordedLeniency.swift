internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What a recorded server took from its client although servers of its protocol end the connection for that. A live client
/// may say it, too: the replay is not stricter than the server that it stands for.
struct RecordedLeniency: Sendable {
    private struct Taken: Hashable {
        var code: UInt16
        var name: String
    }

    private var taken: Set<Taken> = []

    /// Plays the recorded conversation to the rules.
    /// - Parameter rules: those of the recorded protocol for a new connection; nil: it has none.
    init(_ script: Script, _ rules: (any ConnectionRules)?) {
        guard let rules else { return }
        var current = rules
        for index in script.steps.indices {
            guard let message = script.message(index) else {
                // What follows an ending is said on another connection.
                current = rules
                continue
            }
            if message.direction == .toClient {
                current.said(message, on: message.chain)
            } else if let breach = current.heard(message) {
                taken.insert(Taken(code: breach.code, name: RecordedLeniency.name(of: message)))
            }
        }
    }

    func allows(_ breach: RuleBreach, at message: Message) -> Bool {
        taken.contains(Taken(code: breach.code, name: RecordedLeniency.name(of: message)))
    }

    /// Of a message that the codec cannot read, what it calls itself.
    private static func name(of message: Message) -> String {
        guard message.role == .opaque else { return message.kind }
        return "opaque \((try? JSONValue(parsing: message.bytes))?["type"]?.string ?? "")"
    }
}
