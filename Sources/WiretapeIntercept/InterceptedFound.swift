package import WiretapeWire

/// What ``InterceptedFrames/feed(_:from:)`` found. `next` is where the following call starts.
package enum InterceptedFound: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    /// A large message is being inflated: the next call goes on with it, and may come when others have had their turn.
    case later(next: Int)
    case message(InterceptedMessage, next: Int)
    case control(InterceptedControl, next: Int)
    /// Bytes that no rule can touch: of a message over the limit, or of a stream that is not understood.
    case piece(InterceptedPiece, next: Int)
}

/// A whole WebSocket message.
package struct InterceptedMessage: Hashable, Sendable {
    package var opcode: Opcode
    /// Unmasked and inflated.
    package var payload: [UInt8]
    /// Its frames as they came.
    package var raw: [UInt8]
    package var isDeflated: Bool
}

/// A ping (9), pong (10) or close frame (8).
package struct InterceptedControl: Hashable, Sendable {
    package var opcode: UInt8
    /// Unmasked.
    package var payload: [UInt8]
    package var raw: [UInt8]
}

package struct InterceptedPiece: Hashable, Sendable {
    package var raw: [UInt8]
    /// Its part of the message, unmasked and inflated; nil when the stream is not understood.
    package var plain: [UInt8]?
    package var opcode = Opcode.binary
    package var isFirst = false
    package var isLast = false
    /// Whether a frame ends with it.
    package var endsFrame = false
}
