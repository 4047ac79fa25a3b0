package import WiretapeMessages

/// The messages that policies name as subscriptions, and what hangs on them: `resubscribes(JoinGroup, Ticks->Tick)`.
package struct Subscribers: Hashable, Sendable {
    private let all: [Expectation.Subscriber]
    /// Those on which pushes hang.
    package let hanging: [Expectation.Subscriber]

    package init(_ expectations: [Expectation] = []) {
        all = expectations.flatMap { expectation -> [Expectation.Subscriber] in
            guard case .resubscribes(let names) = expectation.policy else { return [] }
            return names
        }
        hanging = all.filter { $0.pushes != nil }
    }

    package func contains(_ message: Message) -> Bool { all.contains { Self.names($0, message) } }

    /// The labels of the pushes that hang on the message.
    package func pushes(behind message: Message) -> [String] {
        hanging.filter { Self.names($0, message) }.compactMap(\.pushes)
    }

    private static func names(_ subscriber: Expectation.Subscriber, _ message: Message) -> Bool {
        message.label == subscriber.name || message.channel == subscriber.name || message.type == subscriber.name
    }
}
