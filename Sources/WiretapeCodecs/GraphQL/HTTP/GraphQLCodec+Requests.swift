package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Which exchanges over HTTP are GraphQL's, and what they carry.
extension GraphQLCodec {
    package static func kind(_ request: RequestHead) -> ExchangeKind { GraphQLRequest.kind(request) }

    /// By the document in the request, and by the words of graphql-sse.
    static func claimHTTP(_ opening: StreamOpening) -> Confidence {
        switch kind(opening.request) {
        case .operation: return claimOperation(payload(of: opening))
        case .send:
            let isNamed = extensionsID(opening.requestBody) != nil
            return isNamed || opening.request.method == "DELETE" ? .certain : .no
        case .negotiate:
            if opening.response == nil { return opening.requestBody.isEmpty ? .possible : .no }
            return reservation(opening) == nil ? .no : .likely
        case .stream: return framing(opening) == .events ? .possible : .no
        case .upgrade, .poll, .end, .refresh, .preflight, .other: return .no
        }
    }

    private static func claimOperation(_ body: [UInt8]) -> Confidence {
        guard let object = try? JSONValue(parsing: body), object.members != nil else { return .no }
        let operation = GraphQLOperation(object)
        if operation.hash != nil { return .likely }
        guard let text = object["query"]?.string, let document = try? GraphQLDocument(text) else { return .no }
        return document.operations.isEmpty ? .no : .certain
    }

    /// The token that a server answers to a reservation (graphql-sse, "Single connection mode").
    private static func reservation(_ opening: StreamOpening) -> String? {
        guard opening.response?.status == 201, opening.requestBody.isEmpty,
            opening.response?.headers.first("Content-Type").map({ MediaType($0).name }) == "text/plain",
            (1...256).contains(opening.responseBody.count),
            opening.responseBody.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        return String(decoding: opening.responseBody, as: UTF8.self)
    }

    package static func sessionKey(_ opening: StreamOpening) -> String? {
        switch kind(opening.request) {
        case .negotiate: reservation(opening)
        case .stream, .send: GraphQLRequest.token(opening.request)
        case .upgrade, .poll, .end, .operation, .refresh, .preflight, .other: nil
        }
    }

    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? {
        sessionKey(opening).map { ServerIDs(connectionID: $0, token: $0) }
    }

    package static func transport(_ request: RequestHead) -> Transport {
        guard kind(request) == .operation else { return .sse }
        if GraphQLRequest.multipart(request) != nil { return .multipart }
        if GraphQLRequest.accepts("text/event-stream", request) { return .sse }
        return GraphQLRequest.jsonLines(request) != nil ? .stream : .http
    }

    package static func framing(_ opening: StreamOpening) -> BodyFraming? {
        guard let type = opening.response?.headers.first("Content-Type").map({ MediaType($0) }) else { return nil }
        switch type.name {
        case "text/event-stream": return .events
        case "multipart/mixed": return .parts(boundary: Array((type["boundary"] ?? "-").utf8))
        default: return GraphQLRequest.isJSONLines(type) ? .units(.lines) : nil
        }
    }

    package static func hasHandshake(on transport: Transport) -> Bool { transport == .ws }

    package static var operationEnd: [UInt8] { Array(#"{"type":"complete"}"#.utf8) }

    /// Streams where the client can read them, a single answer where one is enough. What was recorded comes first.
    package static func carriers(
        of operation: Message, for request: RequestHead, recorded: Transport
    ) -> [Transport] {
        let asked = GraphQLOperation(of: operation)
        // An answer in pieces is none for a client that reads a single one; servers refuse such a client, too.
        let isSingle = asked.hasSingleResult && (recorded == .http || !asked.asksForPieces)
        var found: [Transport] = []
        if isSingle, GraphQLRequest.acceptsJSON(request) { found.append(.http) }
        if GraphQLRequest.multipart(request) != nil { found.append(.multipart) }
        if GraphQLRequest.accepts("text/event-stream", request) { found.append(.sse) }
        if GraphQLRequest.jsonLines(request) != nil { found.append(.stream) }
        if !isSingle, recorded == .http, GraphQLRequest.acceptsJSON(request) { found.append(.http) }
        return found.contains(recorded) ? [recorded] + found.filter { $0 != recorded } : found
    }

    // MARK: What requests and events carry

    package static func payload(of request: StreamOpening) -> [UInt8] {
        switch request.request.method {
        case "GET": return GraphQLRequest.body(of: request.request)
        case "DELETE":
            let id = GraphQLRequest.item("operationId", of: request.request) ?? ""
            return Array("{\"id\":\(JSONValue.string(id).text),\"type\":\"complete\"}".utf8)
        default: return request.requestBody
        }
    }

    /// The id of an operation of a single connection.
    static func extensionsID(_ body: [UInt8]) -> String? {
        (try? JSONValue(parsing: body))?["extensions"]?["operationId"]?.string
    }

    /// The event's name and data as a message of `graphql-transport-ws`; over a connection of its own without an id.
    package static func payload(of event: SSEEvent) -> [UInt8] {
        var text = Array("{\"type\":\(JSONValue.string(event.type).text)".utf8)
        let places = JSONMembers(of: event.data).places
        if let id = places.first(where: { $0.name == "id" }) {
            text += Array(",\"id\":".utf8) + event.data[id.value]
            if let payload = places.first(where: { $0.name == "payload" }) {
                text += Array(",\"payload\":".utf8) + event.data[payload.value]
            }
        } else if !event.data.isEmpty {
            text += Array(",\"payload\":".utf8) + event.data
        }
        return text + [UInt8(ascii: "}")]
    }
}
