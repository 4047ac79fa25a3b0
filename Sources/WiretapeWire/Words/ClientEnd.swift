/// How a client ended its side of a connection.
package enum ClientEnd: Hashable, Sendable {
    /// A close frame; no code when it was empty.
    case closeFrame(code: UInt16?, reason: String)
    /// FIN without a close frame.
    case fin
    /// RST, or another failure of the transport, in the system's words.
    case rst(String)
}
