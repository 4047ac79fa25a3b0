internal import WiretapeMessages

/// The messages that a client's first connection began with: those before the first push of the server. Without a push, those
/// before the server's first answer. A client that has joined a room with them, as with an invocation `JoinRoom`, sends them
/// again when it reconnects.
package struct OpeningWords: Hashable, Sendable {
    /// How many different messages are kept.
    private static let most = 8
    private static let mostNames = 1_024

    /// One of the messages.
    package struct Word: Hashable, Sendable {
        package var saying: ClientSpeech.Saying
        /// The protocol knows it as a subscription.
        package var isSubscription: Bool
        /// Its label or channel, by which a policy names it.
        package var name: String
    }

    private var words: [Word] = []
    /// How many words came before the first answer; nil: no answer came.
    private var answered: Int?
    /// The server has pushed something on the first connection.
    private var isPushed = false
    private var isAbsent = false
    private var isReturned = false
    /// Labels and channels of what the client has sent on its current connection.
    private var names: Set<String> = []

    /// The client sends a message.
    mutating func said(_ message: Message, identity: UInt64, isSubscription: Bool, on connection: Int) {
        guard !isAbsent, let name = message.label ?? message.channel else { return }
        if isReturned {
            if names.count < OpeningWords.mostNames { names.insert(name) }
        } else if connection == 1, !isPushed, words.count < OpeningWords.most,
            !words.contains(where: { $0.name == name })
        {
            let saying = ClientSpeech.Saying(message, identity: identity)
            words.append(Word(saying: saying, isSubscription: isSubscription, name: name))
        }
    }

    /// A message of the server has reached the client.
    mutating func heard(_ role: Role) {
        guard !isReturned, !isPushed else { return }
        switch role {
        case .push, .request, .send: isPushed = true
        case .reply: answered = answered ?? words.count
        case .handshake, .part, .cancel, .keepalive, .ack, .close, .opaque: break
        }
    }

    /// The client has another connection.
    mutating func returned() {
        isReturned = true
        names = []
    }

    /// Each request has a connection of its own.
    mutating func isNone() {
        isAbsent = true
        words = []
    }

    /// What the client has not sent on its current connection; empty on the first one.
    var unrepeated: [Word] {
        guard isReturned else { return [] }
        let opening = isPushed ? words[...] : words.prefix(answered ?? words.count)
        return opening.filter { !names.contains($0.name) }
    }
}

extension JudgedSession {
    /// For a client that is back and did not send again what its first connection began with: what that was, and the policy
    /// that judges it. Nil where there is nothing to report, or where one of the policies judges it already.
    package func openingNote(judgedBy expectations: [Expectation]) -> String? {
        guard hadTime(Expectation.Tolerance()) else { return nil }
        let judged = expectations.flatMap { expectation -> [Expectation.Subscriber?] in
            guard case .resubscribes(let names) = expectation.policy else { return [] }
            return names.isEmpty ? [nil] : names
        }
        let words = speech.unrepeatedOpening.filter { word in
            !judged.contains { name in name.map { word.saying.isNamed($0.name) } ?? word.isSubscription }
        }
        guard !words.isEmpty else { return nil }
        let names = words.map(\.name).joined(separator: ", ")
        let policy = words.allSatisfy(\.isSubscription) ? "resubscribes" : "resubscribes(\(names))"
        return "the client came back and did not say again what its first connection began with: \(names); "
            + "--expect '\(policy)' judges that"
    }
}
