/// A fault of the network at an exact place.
package struct SimulatedFault: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Both ends get an RST.
        case reset
        /// Nothing passes from then on, and nobody is told.
        case lost
    }

    /// The connection's number: its place among the calls of `connect`, from 0.
    package var connection: Int
    /// Which direction's bytes are counted: those that the connecting side sends, or those of the accepting side.
    package var fromConnector: Bool
    /// So many bytes arrive.
    package var after: Int
    package var kind: Kind

    package init(_ kind: Kind, connection: Int, fromConnector: Bool, after: Int) {
        self.kind = kind
        self.connection = connection
        self.fromConnector = fromConnector
        self.after = after
    }
}
