/// What an HTTP request is to a protocol. The raw values are the points of fault rules.
package enum ExchangeKind: String, Hashable, Sendable {
    case negotiate, upgrade, poll, send, stream
    /// Ends a session (SignalR's DELETE).
    case end
    /// A CORS preflight.
    case preflight
    /// An ordinary request beside the session.
    case other
}
