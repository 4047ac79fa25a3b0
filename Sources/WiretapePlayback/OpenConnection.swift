package import WiretapeRuntime
package import WiretapeWire

/// A client connection of a run as somebody may look at it.
package struct OpenConnection: Hashable, Sendable {
    /// 1, 2, … in the order of acceptance.
    package var id: UInt32
    /// The client's address, when known.
    package var from: Address?
    /// The recorded session that it carries, and which run of it; nil: none.
    package var session: Int?
    package var run: Int?
    package var transport: Transport?
    /// It was made silent, by a rule or by somebody.
    package var isStalled: Bool

    package init(
        id: UInt32, from: Address?, session: Int?, run: Int?, transport: Transport?, isStalled: Bool
    ) {
        self.id = id
        self.from = from
        self.session = session
        self.run = run
        self.transport = transport
        self.isStalled = isStalled
    }
}
