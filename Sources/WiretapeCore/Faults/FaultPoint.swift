/// The places where a rule can act, as `docs/faults.md` lists them. A label that is spelled like one is quoted.
package enum FaultPoint: String, Hashable, Sendable, CaseIterable {
    case accept, tls
    /// The first request of an attempt.
    case connect
    /// Any HTTP request.
    case request
    case negotiate, upgrade, poll, send, stream
    case handshake, subscribe
    case message
    case close, time

    /// The kind of request that it names.
    package var exchange: ExchangeKind? { ExchangeKind(rawValue: rawValue) }

    /// Whether it is about HTTP requests.
    package var isRequest: Bool {
        switch self {
        case .connect, .request, .negotiate, .upgrade, .poll, .send, .stream: true
        default: false
        }
    }

    /// Whether this version can act there.
    package var isBuilt: Bool {
        switch self {
        case .connect, .request, .negotiate, .upgrade, .poll, .send, .stream, .handshake, .message: true
        default: false
        }
    }
}
