/// What an HTTP request is to a protocol. The raw values are the points of fault rules.
package enum ExchangeKind: String, Hashable, Sendable {
    case negotiate, upgrade, poll, send, stream
    /// One message of the client; the answer carries what the server has to say to it, and nothing else (a GraphQL request
    /// over plain HTTP). Whether a request is one may hang on its body: `claim` tells.
    case operation
    /// Ends a session (SignalR's DELETE).
    case end
    /// Renews the credential of a session while its connection lives (SignalR's POST to `/refresh`).
    case refresh
    /// A CORS preflight.
    case preflight
    /// An ordinary request beside the session.
    case other

    /// Whether a client that has no connection tries for one with it. A send that is answered when its connection is gone was on
    /// its way before: the client has not come back by it.
    package var beginsAttempts: Bool {
        switch self {
        case .negotiate, .upgrade, .poll, .stream, .operation: true
        case .send, .end, .refresh, .preflight, .other: false
        }
    }
}
