package import WiretapeWire

/// A correlation id within a session and the side that made it: a client's "1" and a server's "1" are different chains.
package struct Chain: Hashable, Sendable {
    package var id: String
    /// The direction in which the opening message went.
    package var origin: Direction

    package init(_ id: String, origin: Direction) {
        self.id = id
        self.origin = origin
    }
}
