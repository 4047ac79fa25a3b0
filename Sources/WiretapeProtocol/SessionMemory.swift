package import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// What a protocol keeps of a session so that a client may go on over a new connection without a handshake, with nothing
/// lost or doubled (SignalR's stateful reconnect). A value per session; it outlives connections.
package protocol SessionMemory: Sendable {
    /// `payload` goes to the client and carries these messages.
    mutating func sending(_ messages: [Message], _ payload: [UInt8], _ opcode: Opcode)
    /// Whether a message for the client is one of those that it keeps and sends again.
    func keeps(_ message: Message) -> Bool
    /// A message of the client.
    /// - Returns: false when it is a repetition, or may not be read yet: it is dropped.
    mutating func receiving(_ message: Message, at now: WireInstant) -> Bool
    /// The message that was received last never arrived after all: the connection was lost with it.
    mutating func lost(_ message: Message)
    /// The payloads that go out first on the client's new connection: the protocol's own message, then what it sends again.
    mutating func reopened(at now: WireInstant) -> [(payload: [UInt8], opcode: Opcode)]
    /// The first payload of a resumed connection begins with the protocol's own message. This is the length of that message in bytes.
    func protocolPrefixLength(of first: [UInt8]) -> Int
    /// When an acknowledgement is due; nil: none is.
    var acknowledgeAt: WireInstant? { get }
    /// The acknowledgement, which counts as sent.
    mutating func acknowledgement() -> (payload: [UInt8], opcode: Opcode)?
    /// The client broke the rules of the protocol: why the connection must be closed.
    var violation: String? { get }
}
