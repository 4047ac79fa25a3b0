internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The three subprotocols for GraphQL over a WebSocket. `docs/protocols/graphql.md` tells their differences.
///
/// The library called graphql-ws speaks ``transportWS``; the subprotocol called `graphql-ws` is ``legacy``.
enum GraphQLDialect: String, Hashable, Sendable, CaseIterable {
    case transportWS = "graphql-transport-ws"
    /// Of subscriptions-transport-ws, and of AWS AppSync with payloads of its own.
    case legacy = "graphql-ws"
    /// Of subscriptions-transport-ws before 0.7.
    case older = "graphql-subscriptions"

    /// The one that the server's answer chose; nil without an answer, or when the answer names none.
    init?(_ opening: StreamOpening) {
        guard let chosen = opening.response?.headers.first("Sec-WebSocket-Protocol"),
            let dialect = GraphQLDialect(rawValue: String(chosen.trimmingBlanks()))
        else { return nil }
        self = dialect
    }

    /// What a client offers: the last resort where no server has answered.
    static func offered(_ request: RequestHead) -> [GraphQLDialect] {
        request.offeredSubprotocols.compactMap(GraphQLDialect.init)
    }

    /// The dialect that has a message of that type, for connections whose opening does not tell.
    static func using(_ type: String) -> GraphQLDialect? {
        switch type {
        case "subscribe", "next", "ping", "pong": .transportWS
        case "start", "data", "stop", "ka", "connection_error", "connection_terminate", "start_ack": .legacy
        default: olderNames[type] != nil ? .older : nil
        }
    }

    /// What a type of this dialect is called in the dialect that this codec's table is made of.
    func kind(of type: String) -> String { self == .older ? GraphQLDialect.olderNames[type] ?? type : type }

    static var olderTypes: [String] { Array(olderNames.keys) }

    /// The names of ``older`` and what they became.
    private static let olderNames = [
        "init": "connection_init", "init_success": "connection_ack", "init_fail": "connection_error",
        "subscription_start": "start", "subscription_success": "start_ack", "subscription_data": "data",
        "subscription_fail": "error", "subscription_end": "stop", "keepalive": "ka",
    ]
}
