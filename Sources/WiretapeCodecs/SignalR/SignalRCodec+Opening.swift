internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension SignalRCodec {
    package static let volatileQuery: Set<String> = [
        "id", "_", "access_token", "negotiateVersion", "useStatefulReconnect", "asrs_request_id",
    ]

    private static let negotiateSuffix = "/negotiate"

    package static func claim(_ opening: StreamOpening) -> Confidence {
        switch kind(opening.request) {
        case .negotiate:
            if let answer = NegotiateAnswer(opening.responseBody), opening.response?.status ?? 200 == 200 {
                return answer.isUnmistakable ? .certain : .likely
            }
            return query(opening.request, "negotiateVersion").isEmpty ? .possible : .likely
        case .upgrade:
            if isHandshake(opening.firstPayload) { return .certain }
            return sessionKey(opening) != nil && isSequence(opening.firstPayload) ? .certain : .no
        case .send:
            return isHandshake(opening.requestBody) ? .certain : isRefused(opening) ? .likely : .no
        case .poll, .stream, .end, .operation, .other:
            return isRefused(opening) ? .likely : .no
        case .refresh, .preflight: return .no
        }
    }

    /// Whether the server answered in its own words that the request names no session of its.
    private static func isRefused(_ opening: StreamOpening) -> Bool {
        switch opening.response?.status {
        case 400: opening.responseBody.elementsEqual("Connection ID required".utf8)
        case 404: opening.responseBody.elementsEqual("No Connection with that ID".utf8)
        default: false
        }
    }

    /// The secret of the session: the connectionToken that the negotiation answered (before version 1 the
    /// connectionId), then the `id` of every request.
    package static func sessionKey(_ opening: StreamOpening) -> String? {
        switch kind(opening.request) {
        case .negotiate: NegotiateAnswer(opening.responseBody)?.ids?.token
        case .upgrade, .poll, .stream, .send, .end: query(opening.request, "id").first
        case .refresh: opening.request.headers.first(refreshHeader)
        case .operation, .preflight, .other: nil
        }
    }

    package static func redirection(_ exchange: StreamOpening) -> Redirection? {
        guard kind(exchange.request) == .negotiate, exchange.response?.status ?? 200 == 200,
            let answer = NegotiateAnswer(exchange.responseBody), let url = answer.url
        else { return nil }
        let afterScheme = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let target = afterScheme.firstIndex { $0 == "/" || $0 == "?" }.map { afterScheme[$0...] } ?? "/"
        return Redirection(
            target: (target.hasPrefix("/") ? "" : "/") + target, credential: answer.accessToken)
    }

    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? {
        kind(opening.request) == .negotiate
            ? NegotiateAnswer(opening.responseBody)?.ids
            : sessionKey(opening).map { ServerIDs(connectionID: $0, token: $0) }
    }

    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        if request.path.hasSuffix(negotiateSuffix) { return .negotiate }
        if request.headers.first(refreshHeader) != nil, refreshRoute(request) != nil { return .refresh }
        if request.method == "GET", request.headers.hasToken("websocket", in: "Upgrade") { return .upgrade }
        guard !query(request, "id").isEmpty else { return .other }
        switch request.method {
        case "GET": return takesEvents(request) ? .stream : .poll
        case "POST": return .send
        case "DELETE": return .end
        default: return .other
        }
    }

    /// A slash at the end does not count: clients that are sent to `/client/?hub=chat` negotiate at `/client/negotiate`.
    package static func route(_ request: RequestHead) -> String {
        if request.headers.first(refreshHeader) != nil, let route = refreshRoute(request) { return route }
        var route = request.path[...]
        if route.hasSuffix(negotiateSuffix) { route = route.dropLast(negotiateSuffix.count) }
        while route.hasSuffix("/") { route = route.dropLast() }
        return route.isEmpty ? "/" : String(route)
    }

    static func takesEvents(_ request: RequestHead) -> Bool {
        request.headers.all("Accept").contains { list in
            list.utf8.split(separator: UInt8(ascii: ",")).contains { item in
                let type = Substring(item.prefix { $0 != UInt8(ascii: ";") })
                return equalIgnoringCase(type.trimmingBlanks(), "text/event-stream")
            }
        }
    }

    /// All values of a query item; the server reads its name without case.
    static func query(_ request: RequestHead, _ name: String) -> [String] {
        request.query.filter { equalIgnoringCase($0.name, name) }.map(\.value)
    }
}

/// The body of a server's answer to negotiate.
struct NegotiateAnswer {
    /// Nil for a redirect or an error.
    var ids: ServerIDs?
    /// A body that no other protocol gives.
    var isUnmistakable: Bool
    /// Where the client has to negotiate instead, and with which token.
    var url: String?
    var accessToken: String?
    /// Why the server refused (status 200, too).
    var error: String?

    /// Nil for anything but a JSON object with members of the protocol.
    init?(_ body: [UInt8]) {
        guard let object = try? JSONValue(parsing: body), object.members != nil else { return nil }
        let id = object["connectionId"]?.string
        let token = object["connectionToken"]?.string ?? id
        if let token, !token.isEmpty { ids = ServerIDs(connectionID: id ?? token, token: token) }
        error = object["error"]?.string
        url = object["url"]?.string
        accessToken = object["accessToken"]?.string
        isUnmistakable = object["availableTransports"]?.array != nil && (id != nil || url != nil)
        guard id != nil || error != nil || url != nil else { return nil }
    }
}
