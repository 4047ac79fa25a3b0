/// What a message does in its conversation. The release rules of replay ask for nothing else.
package enum Role: String, Hashable, Sendable {
    /// The protocol's own opening, either direction. The server's answer is released like a reply.
    case handshake
    /// To the server: opens a chain that the server answers. To the client: the server asks, and waits for an answer.
    case request
    /// To the server without a chain: an invocation that nobody answers.
    case send
    /// Answers a request and ends its chain, in either direction.
    case reply
    /// To the client: unasked, or an item of a stream (then it has a chain).
    case push
    /// To the server: belongs to a chain that it did not open, such as an item or the end of an upload.
    case part
    /// To the server: ends a chain early (CancelInvocation, complete, stop, unsubscribe). Gates its own chain only.
    case cancel
    case keepalive
    /// An acknowledgement of the protocol's own. Never matched.
    case ack
    /// The protocol's own farewell.
    case close
    /// Bytes that the codec could not read; the summary says why.
    case opaque
}
