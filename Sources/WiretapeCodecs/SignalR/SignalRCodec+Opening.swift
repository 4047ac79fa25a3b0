package import WiretapeCore

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
            return isHandshake(opening.requestBody) ? .certain : .no
        default: return .no
        }
    }

    /// The secret of the session: the connectionToken that the negotiation answered (before version 1 the
    /// connectionId), then the `id` of every request.
    package static func sessionKey(_ opening: StreamOpening) -> String? {
        switch kind(opening.request) {
        case .negotiate: NegotiateAnswer(opening.responseBody)?.ids?.token
        case .upgrade, .poll, .stream, .send, .end: query(opening.request, "id").first
        case .preflight, .other: nil
        }
    }

    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? {
        kind(opening.request) == .negotiate
            ? NegotiateAnswer(opening.responseBody)?.ids
            : sessionKey(opening).map { ServerIDs(connectionID: $0, token: $0) }
    }

    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        if request.path.hasSuffix(negotiateSuffix) { return .negotiate }
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
        var route = request.path[...]
        if route.hasSuffix(negotiateSuffix) { route = route.dropLast(negotiateSuffix.count) }
        while route.hasSuffix("/") { route = route.dropLast() }
        return route.isEmpty ? "/" : String(route)
    }

    static func takesEvents(_ request: RequestHead) -> Bool {
        request.headers.all("Accept").contains { $0.contains("text/event-stream") }
    }

    /// All values of a query item; the server reads its name without case.
    static func query(_ request: RequestHead, _ name: String) -> [String] {
        request.query.filter { equalIgnoringCase($0.name, name) }.map(\.value)
    }
}
