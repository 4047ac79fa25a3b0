package import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

/// What a model client does. A slot is one of its TCP connections, opened by the first action that names it.
package enum ClientAction: Sendable {
    /// A whole HTTP request. `sayings`: what its body says.
    case request(slot: Int, RequestHead, body: [UInt8], [Saying])
    case message(slot: Int, Opcode, [UInt8], [Saying])
    /// A close frame; the client hears nothing more on that slot.
    case closeFrame(slot: Int, code: UInt16)
    /// The client's end of the connection: it neither says nor hears anything on it any more.
    case end(slot: Int, reset: Bool)

    package var slot: Int {
        switch self {
        case .request(let slot, _, _, _), .message(let slot, _, _, _), .closeFrame(let slot, _), .end(let slot, _): slot
        }
    }
}

/// One message of the client: which line of which session it says, under which ids.
package struct Saying: Hashable, Sendable {
    /// Index into the client's sessions, and the line in that session's ``Conversation``; nil for what is on no tape.
    package var session: Int
    package var line: Int?
    /// Counts the client's connections to the session, from 1.
    package var generation: Int
    /// Whether its connection goes on with what the protocol kept of an earlier one.
    package var isResumed = false
    /// The live ids of the message's chain and of what it opens.
    package var chain: Chain?
    package var opens: [Chain] = []
}

/// What a model client perceives.
package enum ClientEvent: Sendable {
    case answered(slot: Int, status: Int, headers: [HeaderField], body: [UInt8])
    /// The head of an answer whose body goes on.
    case streamOpened(slot: Int, status: Int)
    case streamBytes(slot: Int, [UInt8])
    case streamEnded(slot: Int)
    case upgraded(slot: Int)
    case message(slot: Int, Opcode, [UInt8])
    case closeFrame(slot: Int, code: UInt16?)
    /// The server ended the connection.
    case ended(slot: Int, reset: Bool)

    package var slot: Int {
        switch self {
        case .answered(let slot, _, _, _), .streamOpened(let slot, _), .streamBytes(let slot, _),
            .streamEnded(let slot),
            .upgraded(let slot), .message(let slot, _, _), .closeFrame(let slot, _), .ended(let slot, _):
            slot
        }
    }
}
