package import WiretapeMessages
package import WiretapeWire

/// What a rule, a filter of `inspect` or an edit talks about: a point, or messages by their label.
package struct Selector: Hashable, Sendable {
    package var subject: Subject
    package var conditions: [Condition]
    /// Which of those that meet the conditions; nil for all.
    package var occurrence: Ordinal?

    package init(_ subject: Subject, conditions: [Condition] = [], occurrence: Ordinal? = nil) {
        self.subject = subject
        self.conditions = conditions
        self.occurrence = occurrence
    }

    package enum Subject: Hashable, Sendable {
        case point(FaultPoint)
        /// A target, event, operation, channel or type.
        case label(String)

        /// As rules spell it.
        package var text: String {
            switch self {
            case .point(let point): point.rawValue
            case .label(let label): label
            }
        }
    }

    /// Whether the message is meant, its ordinal left aside. A label means the messages that bring it (calls, events, items
    /// of a stream), not the answers to them; a type means all messages of that type. `message` leaves out handshakes,
    /// keepalives and acknowledgements; `handshake` is the server's answer unless a direction is named.
    package func matches(_ message: Message, _ context: SelectorContext = SelectorContext()) -> Bool {
        switch subject {
        case .point(.message):
            guard ![.handshake, .keepalive, .ack].contains(message.role) else { return false }
            switch message.standing {
            case .message: break
            case .directed: guard namesDirection else { return false }
            case .aside: return false
            }
        case .point(.handshake):
            guard message.role == .handshake else { return false }
            guard namesDirection || message.direction == .toClient else { return false }
        case .point(.subscribe): guard context.subscribes else { return false }
        case .point: return false
        case .label(let label):
            let brings = ![.reply, .part, .cancel].contains(message.role)
            guard (brings && (message.label == label || message.channel == label)) || message.type == label else {
                return false
            }
        }
        return conditions.allSatisfy { $0.holds(for: message, context) }
    }

    private var namesDirection: Bool { conditions.contains { if case .direction = $0 { true } else { false } } }

    /// Whether the request is meant, its ordinal left aside.
    package func matches(_ request: RequestHead, _ kind: ExchangeKind, _ context: SelectorContext) -> Bool {
        guard case .point(let point) = subject else { return false }
        switch point {
        case .connect: guard context.opensAttempt else { return false }
        case .request: break
        case .accept, .tls, .negotiate, .upgrade, .poll, .send, .stream, .operation, .refresh, .handshake, .subscribe,
            .message, .close, .time:
            guard point.exchange == kind else { return false }
        }
        return conditions.allSatisfy { $0.holds(for: request, context) }
    }

    /// Whether the point is meant, where it has neither a message nor a request.
    package func matches(_ point: FaultPoint, _ context: SelectorContext) -> Bool {
        subject == .point(point) && conditions.allSatisfy { $0.holds(in: context) }
    }

    /// Whether it can only mean messages of one direction, and which.
    package var direction: Direction? {
        for case .direction(let direction) in conditions { return direction }
        return subject == .point(.handshake) ? .toClient : subject == .point(.subscribe) ? .toServer : nil
    }
}
