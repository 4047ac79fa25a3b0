/// How a protocol's long polling works.
package struct Polling: Hashable, Sendable {
    /// The first poll is answered at once and carries nothing.
    package var opensAtOnce: Bool
    /// The server answers an idle poll with an empty one after so many nanoseconds.
    package var timeout: UInt64
    /// Whether the server sends keepalives over it.
    package var hasKeepalives: Bool
    /// A poll that waits is answered with the first payload that comes; those that come with it go with the next poll.
    package var answersFirst: Bool
    /// The head of the answer goes out when the poll begins to wait, if it has first bytes (``CarrierAnswer/pollBegun``).
    package var beginsAtOnce: Bool
    /// Nanoseconds without a request after which the server forgets the client.
    package var patience: UInt64

    /// - Parameter timeout: `.max`: none.
    package init(
        opensAtOnce: Bool, timeout: UInt64, hasKeepalives: Bool, answersFirst: Bool = false,
        beginsAtOnce: Bool = false, patience: UInt64 = Polling.usualPatience
    ) {
        self.opensAtOnce = opensAtOnce
        self.timeout = timeout
        self.hasKeepalives = hasKeepalives
        self.answersFirst = answersFirst
        self.beginsAtOnce = beginsAtOnce
        self.patience = patience
    }

    package static let usualPatience: UInt64 = 15_000_000_000
}
