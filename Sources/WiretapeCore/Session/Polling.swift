/// How a protocol's long polling works.
package struct Polling: Hashable, Sendable {
    /// The first poll is answered at once and carries nothing.
    package var opensAtOnce: Bool
    /// The server answers an idle poll with an empty one after so many nanoseconds.
    package var timeout: UInt64
    /// Whether the server sends keepalives over it.
    package var hasKeepalives: Bool

    package init(opensAtOnce: Bool, timeout: UInt64, hasKeepalives: Bool) {
        self.opensAtOnce = opensAtOnce
        self.timeout = timeout
        self.hasKeepalives = hasKeepalives
    }
}
