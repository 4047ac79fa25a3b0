/// How a connection is ended.
package enum ConnectionEnd: Hashable, Sendable {
    /// RST.
    case reset
    /// FIN without a close frame.
    case fin
    /// A close frame, then FIN. Any code, also those that must not be on the wire.
    case close(code: UInt16?, reason: String)
}
