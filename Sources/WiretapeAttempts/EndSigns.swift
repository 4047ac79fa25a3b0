package import WiretapeBytes

/// Signs that a client's connection is about to end. When the connection has ended, they decide who ended it, how and when.
package struct EndSigns: Sendable {
    /// The client's close frame or FIN on a connection that a rule stalls, and the time when it arrived.
    package private(set) var departure: (how: Attempt.End.Manner, at: WireInstant)?
    /// The sender and the time of the first close message of the protocol, such as SignalR's Close.
    private var goodbye: (by: Attempt.End.Party, at: WireInstant)?

    package init() {}

    /// The client's close frame or FIN arrived on a stalled connection. Only the first counts.
    package mutating func clientLeft(with how: Attempt.End.Manner, at moment: WireInstant) {
        if departure == nil { departure = (how, moment) }
    }

    /// The client or the server sent a close message of the protocol. Only the first counts.
    package mutating func saidGoodbye(by sender: Attempt.End.Party, at moment: WireInstant) {
        if goodbye == nil { goodbye = (sender, moment) }
    }

    /// The end for the report. A close message ends the connection for its sender: a FIN, an RST or the client's close frame after it
    /// changes nothing. After the client's close message, no other end counts.
    package func settled(
        by party: Attempt.End.Party, _ how: Attempt.End.Manner, reason: String? = nil, at moment: WireInstant
    ) -> Ending {
        if let goodbye, goodbye.by == .client {
            return Ending(by: .client, how: .close(nil), reason: nil, at: goodbye.at)
        }
        let at = party == .client ? departure?.at ?? moment : moment
        if let goodbye, party == .client || how == .fin || how == .reset {
            return Ending(by: goodbye.by, how: .close(nil), reason: Self.closeMessage, at: at)
        }
        guard party == .client else { return Ending(by: party, how: how, reason: reason, at: moment) }
        // Until the connection is read again, an RST looks like a FIN.
        let isReset = departure?.how == .fin && how == .reset
        return Ending(by: .client, how: isReset ? .reset : departure?.how ?? how, reason: reason, at: at)
    }

    package struct Ending: Hashable, Sendable {
        package var by: Attempt.End.Party
        package var how: Attempt.End.Manner
        package var reason: String?
        package var at: WireInstant

        package init(by: Attempt.End.Party, how: Attempt.End.Manner, reason: String?, at: WireInstant) {
            self.by = by
            self.how = how
            self.reason = reason
            self.at = at
        }
    }

    private static let closeMessage = "the protocol's own close message"
}
