internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension GraphQLCodec {
    /// What opens the connection. What clients and servers tell each other with it (tokens, session data) is never compared.
    mutating func handshake(_ frame: GraphQLFrame, _ kind: String) -> Message? {
        switch (kind, frame.direction) {
        case ("connection_init", .toServer):
            isAcknowledged = false
            return frame.message(.handshake, as: kind, summary: "")
        case ("connection_ack", .toClient):
            isAcknowledged = true
            if frame.field("payload")?["connectionTimeoutMs"] != nil { isAppSync = true }
            return frame.message(.handshake, as: kind, summary: "")
        default: return nil
        }
    }

    /// A message of `graphql-transport-ws`.
    mutating func transportMessage(_ frame: GraphQLFrame, _ type: String) throws(GraphQLFault) -> Message {
        switch (type, frame.direction) {
        case ("ping", _), ("pong", _):
            if type == "ping", frame.direction == .toClient { hasKeepalives = true }
            return frame.message(.keepalive, summary: "")
        case ("subscribe", .toServer):
            let request = frame.field("payload") ?? .null
            guard request.members != nil else { throw GraphQLFault("payload is not an object") }
            let operation = GraphQLOperation(request)
            guard operation.query != nil || operation.hash != nil else {
                throw GraphQLFault("payload.query is not a text")
            }
            return self.request(operation, frame, try frame.chain())
        case ("complete", .toServer): return cancel(frame, try frame.chain())
        // The older dialects' farewell, which some clients say here, too.
        case ("connection_terminate", .toServer): return frame.message(.close, summary: "")
        case ("next", .toClient): return result(frame, try frame.chain())
        case ("error", .toClient): return failure(frame, try frame.chain())
        case ("complete", .toClient): return completion(frame, try frame.chain())
        default: throw GraphQLCodec.unknown(type, frame.direction)
        }
    }

    static func unknown(_ type: String, _ direction: Direction) -> GraphQLFault {
        let summary = Summary.line("\(JSONValue.string(type).text)", limit: 60)
        return GraphQLFault("unknown message type \(summary) to the \(direction == .toServer ? "server" : "client")")
    }

    // MARK: What all dialects have

    mutating func request(_ operation: GraphQLOperation, _ frame: GraphQLFrame, _ chain: Chain) -> Message {
        operations.open(chain, operation)
        return frame.message(
            .request, as: "subscribe", label: operation.label, chain: chain, meaning: operation.meaning,
            summary: operation.summary)
    }

    func cancel(_ frame: GraphQLFrame, _ chain: Chain) -> Message {
        let label = operations[chain]?.label
        return frame.message(.cancel, as: "complete", label: label, chain: chain, summary: label ?? "")
    }

    /// One result of an operation. It answers a query or a mutation.
    func result(_ frame: GraphQLFrame, _ chain: Chain) -> Message {
        let operation = operations[chain]
        let payload = frame.field("payload") ?? .null
        let isOnly = operation?.hasSingleResult == true && !GraphQLCodec.isIncremental(payload)
        return frame.message(
            isOnly ? .reply : .push, as: "next", label: operation?.label, chain: chain,
            meaning: .object([.init("payload", payload)]),
            summary: GraphQLCodec.line(operation?.label, GraphQLCodec.summary(of: payload)))
    }

    /// The end of an operation that failed. Its errors are a list in one dialect and one object in others.
    func failure(_ frame: GraphQLFrame, _ chain: Chain) -> Message {
        let label = operations[chain]?.label
        let errors = GraphQLCodec.errors(frame.field("payload") ?? .null)
        return frame.message(
            .reply, as: "error", label: label, chain: chain, meaning: .object([.init("payload", .array(errors))]),
            summary: GraphQLCodec.line(label, GraphQLCodec.summary(ofErrors: errors)))
    }

    func completion(_ frame: GraphQLFrame, _ chain: Chain) -> Message {
        let label = operations[chain]?.label
        return frame.message(.reply, as: "complete", label: label, chain: chain, summary: label ?? "")
    }

    // MARK: Words for people

    static func line(_ label: String?, _ text: String) -> String { (label.map { "\($0) " } ?? "") + text }

    /// The errors of a `payload` in whatever form it has them.
    static func errors(_ payload: JSONValue) -> [JSONValue] {
        payload.array ?? payload["errors"]?.array ?? (payload == .null ? [] : [payload])
    }

    /// `{"tick":1}`, `errors "no such field"`.
    static func summary(of payload: JSONValue) -> String {
        var parts: [String] = []
        if let data = payload["data"], data != .null || payload["errors"] == nil { parts.append(data.text) }
        if let errors = payload["errors"]?.array { parts.append(summary(ofErrors: errors)) }
        return parts.isEmpty ? payload.text : parts.joined(separator: " ")
    }

    static func summary(ofErrors errors: [JSONValue]) -> String {
        let texts = errors.prefix(4).map { ($0["message"] ?? $0["errorType"] ?? $0).text }
        return "errors \(texts.joined(separator: ", "))"
    }
}
