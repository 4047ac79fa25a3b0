internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Payloads over HTTP: the body of a request, an event, a part of a multipart body, a single answer. Each is told by its
/// members. What has no name there is called as in `graphql-transport-ws`.
extension GraphQLCodec {
    mutating func carried(_ frame: GraphQLFrame) throws(GraphQLFault) -> Message {
        if frame.direction == .toServer, frame.field("type") == nil || frame.field("query") != nil {
            return try asked(frame)
        }
        if let type = frame.field("type")?.string {
            if let opening = handshake(frame, type) { return opening }
            return try named(frame, type)
        }
        guard let members = frame.object.members, !members.isEmpty else { return signOfLife(frame) }
        if frame.field("payload") != nil { return part(frame) }
        let isResult = members.contains { ["data", "errors", "incremental", "hasNext"].contains($0.name) }
        guard isResult else { throw GraphQLFault("not a GraphQL result") }
        return result(frame, frame.object)
    }

    /// The client's request.
    private mutating func asked(_ frame: GraphQLFrame) throws(GraphQLFault) -> Message {
        let operation = GraphQLOperation(frame.object)
        guard operation.query != nil || operation.hash != nil else { throw GraphQLFault("query is not a text") }
        var message = request(operation, frame, chain(frame.field("extensions")?["operationId"]))
        message.type = message.kind
        return message
    }

    /// An event, or the end of an exchange, which says nothing when the operation is over already.
    private mutating func named(_ frame: GraphQLFrame, _ type: String) throws(GraphQLFault) -> Message {
        let chain = chain(frame.field("id"))
        // As the end of an exchange is told.
        let isBare = frame.object.members?.count == 1
        switch (type, frame.direction) {
        case ("complete", _) where chain.id.isEmpty && isAnswered:
            guard isBare else { throw GraphQLFault("id is missing") }
            return signOfLife(frame, as: type)
        case ("complete", .toServer): return cancel(frame, chain)
        case ("next", .toClient): return result(frame, frame.field("payload") ?? .null)
        case ("complete", .toClient):
            if chain.id.isEmpty { isAnswered = true }
            return completion(frame, chain)
        default: throw GraphQLCodec.unknown(type, frame.direction)
        }
    }

    /// `{"payload":…}`, with errors beside a payload of null when the operation has failed.
    private mutating func part(_ frame: GraphQLFrame) -> Message {
        let payload = frame.field("payload") ?? .null
        guard payload == .null else { return result(frame, payload) }
        guard let errors = frame.field("errors"), errors != .null else { return signOfLife(frame) }
        isAnswered = true
        var message = failure(frame, chain(nil))
        message.type = message.kind
        message.meaning = .object([.init("payload", .array(GraphQLCodec.errors(errors)))])
        message.summary = Summary.line(
            GraphQLCodec.line(message.label, GraphQLCodec.summary(ofErrors: GraphQLCodec.errors(errors))))
        return message
    }

    private func result(_ frame: GraphQLFrame, _ payload: JSONValue) -> Message {
        var inner = frame
        inner.object = .object([.init("payload", payload)])
        var message = result(inner, chain(frame.field("id")))
        message.type = message.kind
        message.content = frame.object
        return message
    }

    func signOfLife(_ frame: GraphQLFrame, as kind: String = "heartbeat") -> Message {
        var message = frame.message(.keepalive, as: kind, summary: "")
        message.type = message.kind
        return message
    }

    /// An operation over a connection of its own has no id.
    private func chain(_ id: JSONValue?) -> Chain { Chain(id.flatMap(GraphQLID.text) ?? "", origin: .toServer) }
}
