internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension GraphQLCodec {
    /// What AppSync signs anew for each connection, tokens, and the operation of a GET.
    package static let volatileQuery: Set<String> = [
        "header", "payload", "access_token", "query", "variables", "operationName", "extensions", "token",
        "operationId",
    ]

    /// By the subprotocol that the server chose, never by a path. Where no server answered one, by what the client offers
    /// and by what it says first.
    package static func claim(_ opening: StreamOpening) -> Confidence {
        guard kind(opening.request) == .upgrade else { return claimHTTP(opening) }
        if GraphQLDialect(opening) != nil { return .certain }
        if opening.response?.headers.first("Sec-WebSocket-Protocol") != nil { return .no }
        if begins(opening.firstPayload) { return .likely }
        return opening.firstPayload.isEmpty && !GraphQLDialect.offered(opening.request).isEmpty ? .likely : .no
    }

    /// Whether a client of one of the dialects begins so.
    private static func begins(_ payload: [UInt8]) -> Bool {
        guard payload.first == UInt8(ascii: "{"), payload.count <= 65_536,
            let type = (try? JSONValue(parsing: payload))?["type"]?.string
        else { return false }
        return ["connection_init", "init", "subscribe", "start", "subscription_start"].contains(type)
    }

    /// What a source gives to somebody who subscribes again is its own affair.
    package static var mayBeginSubscriptionsAgain: Bool { true }

    package static func route(_ request: RequestHead) -> String { request.path }

    /// AppSync's clients put a signed header into the URL.
    static func isAppSync(_ request: RequestHead) -> Bool {
        let names = request.query.map(\.name)
        return names.contains("header") && names.contains("payload")
    }
}
