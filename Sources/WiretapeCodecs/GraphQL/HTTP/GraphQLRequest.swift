internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What an HTTP request is to GraphQL, told by its head alone.
enum GraphQLRequest {
    /// The secret of a single connection of graphql-sse, in the header that its client sends.
    static let tokenHeader = "X-GraphQL-Event-Stream-Token"

    static func kind(_ request: RequestHead) -> ExchangeKind {
        switch request.method {
        case "OPTIONS": return .preflight
        case "GET":
            if request.headers.hasToken("websocket", in: "Upgrade") { return .upgrade }
            if token(request) != nil, accepts("text/event-stream", request) { return .stream }
            return item("query", of: request) != nil || item("extensions", of: request) != nil ? .operation : .other
        case "POST":
            if request.headers.first(tokenHeader) != nil { return .send }
            return hasJSON(request) ? .operation : .other
        case "PUT": return token(request) == nil ? .negotiate : .other
        case "DELETE": return token(request) != nil && item("operationId", of: request) != nil ? .send : .other
        default: return .other
        }
    }

    static func token(_ request: RequestHead) -> String? {
        let token = request.headers.first(tokenHeader) ?? request.query.first { $0.name == "token" }?.value
        return token.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func hasJSON(_ request: RequestHead) -> Bool {
        guard let type = request.headers.first("Content-Type").map({ MediaType($0).name }) else { return false }
        return type == "application/json" || type.hasPrefix("application/graphql") && type.hasSuffix("+json")
    }

    // MARK: Accept

    static func accepts(_ type: String, _ request: RequestHead) -> Bool {
        MediaType.list(request.headers.all("Accept")).contains { $0.name == type }
    }

    /// The type of JSON lines that the client accepts (`application/jsonl`). Nil if it accepts none.
    static func jsonLines(_ request: RequestHead) -> MediaType? {
        MediaType.list(request.headers.all("Accept")).first(where: isJSONLines)
    }

    /// Whether a body of this type has one result on each line. `application/json-seq` does not: each of its records begins with the byte 0x1E.
    static func isJSONLines(_ type: MediaType) -> Bool { type.isJSONLines && !type.name.hasSuffix("json-seq") }

    /// What the client asks for when it can read multipart answers.
    static func multipart(_ request: RequestHead) -> MediaType? {
        MediaType.list(request.headers.all("Accept")).first { $0.name == "multipart/mixed" }
    }

    /// Whether it can read a single JSON answer. Those that say nothing can.
    static func acceptsJSON(_ request: RequestHead) -> Bool {
        let accepted = MediaType.list(request.headers.all("Accept"))
        return accepted.isEmpty
            || accepted.contains {
                ["application/json", "application/graphql-response+json", "application/*", "*/*"].contains($0.name)
            }
    }

    // MARK: The query of a GET

    /// An item of the query as forms encode it: `+` is a blank.
    static func item(_ name: String, of request: RequestHead) -> String? {
        guard let mark = request.target.firstIndex(of: "?") else { return nil }
        for item in request.target[mark...].dropFirst().prefix(while: { $0 != "#" }).split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, sides[0] == name else { continue }
            return percentDecoded(sides[1].replacing("+", with: " "))
        }
        return nil
    }

    /// The operation of a GET as the body of a POST would have it.
    static func body(of request: RequestHead) -> [UInt8] {
        var members: [JSONValue.Member] = []
        for name in ["query", "operationName"] {
            if let text = item(name, of: request) { members.append(.init(name, .string(text))) }
        }
        for name in ["variables", "extensions"] {
            guard let text = item(name, of: request), let value = try? JSONValue(parsing: text) else { continue }
            members.append(.init(name, value))
        }
        return Array(JSONValue.object(members).text.utf8)
    }
}
