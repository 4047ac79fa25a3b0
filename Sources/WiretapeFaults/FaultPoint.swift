package import WiretapeMessages

/// The places where a rule can act, as `docs/faults.md` lists them. A label that is spelled like one is quoted.
package enum FaultPoint: String, Hashable, Sendable, CaseIterable {
    /// The TCP connection · the TLS handshake.
    case accept, tls
    /// The first request of an attempt.
    case connect
    /// Any HTTP request.
    case request
    case negotiate, upgrade, poll, send, stream, operation, refresh
    /// The protocol's handshake · a subscription, or one that is made again.
    case handshake, subscribe
    case message
    /// Either side ends · a moment.
    case close, time

    /// The kind of request that it names.
    package var exchange: ExchangeKind? { ExchangeKind(rawValue: rawValue) }

    /// Whether it is about HTTP requests.
    package var isRequest: Bool {
        switch self {
        case .connect, .request, .negotiate, .upgrade, .poll, .send, .stream, .operation, .refresh: true
        case .accept, .tls, .handshake, .subscribe, .message, .close, .time: false
        }
    }

    /// Whether it is about messages.
    package var isMessage: Bool { self == .message || self == .handshake || self == .subscribe }
}
