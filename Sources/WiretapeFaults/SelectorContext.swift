package import WiretapeWire

/// What a selector may ask about beside the message or the request itself.
package struct SelectorContext: Hashable, Sendable {
    /// `signalr`.
    package var protocolID: String?
    package var transport: Transport?
    /// The message subscribes to something, or does so again.
    package var subscribes = false
    /// An attempt begins with the request.
    package var opensAttempt = false
    /// The request brings the credential of the attempt before.
    package var hasStaleToken = false
    /// The name or address of the listener.
    package var listener: String?
    /// Who ended the connection: the one whose bytes go in this direction; and how.
    package var endedBy: Direction?
    package var code: UInt16?

    package init(protocolID: String? = nil, transport: Transport? = nil) {
        self.protocolID = protocolID
        self.transport = transport
    }
}
