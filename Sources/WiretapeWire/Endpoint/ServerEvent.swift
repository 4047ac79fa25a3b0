/// What ``ServerEndpoint`` heard or wants.
package enum ServerEvent: Hashable, Sendable {
    /// A whole request. Nothing of the connection is read further until ``ServerWriter/answer(_:thenClose:date:)`` or
    /// ``ServerWriter/upgrade(_:accept:deflate:date:)``. `isUpgrade`: a valid opening of a WebSocket.
    case request(RequestHead, body: [UInt8], isUpgrade: Bool)
    /// A request that was answered without anybody's help: bad HTTP, too large a body, a bad opening of a WebSocket. The
    /// head is nil when it could not be read.
    case refused(RequestHead?, HTTPAnswer)
    /// A whole WebSocket message, inflated.
    case message(Opcode, [UInt8], deflated: Bool = false)
    /// Answered with a pong already.
    case ping([UInt8])
    case pong([UInt8])
    /// The client ended its side, or must be treated as if it had. Told once. A close frame that answers none of ours wants
    /// an answer: ``ServerWriter/close(code:reason:)`` or ``ServerWriter/finish()``.
    case ended(ClientEnd)
    /// Send FIN after what ``ServerWriter/takeOutput()`` gives, and wait for the client's FIN for a while.
    case finish
}
