internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension GraphQLCodec {
    /// A message of the subprotocol `graphql-ws`, of its predecessor, or of AppSync.
    mutating func legacyMessage(_ frame: GraphQLFrame, _ kind: String) throws(GraphQLFault) -> Message {
        switch (kind, frame.direction) {
        case ("start", .toServer):
            let chain = try frame.chain()
            return request(GraphQLOperation(try started(frame)), frame, chain)
        case ("stop", .toServer): return cancel(frame, try frame.chain())
        case ("connection_terminate", .toServer): return frame.message(.close, as: kind, summary: "")
        case ("ka", .toClient):
            hasKeepalives = true
            return frame.message(.keepalive, as: kind, summary: "")
        case ("connection_error", .toClient): return connectionError(frame, kind)
        case ("start_ack", .toClient):
            let chain = try frame.chain()
            let label = operations[chain]?.label
            return frame.message(.reply, as: kind, label: label, chain: chain, summary: label ?? "")
        case ("data", .toClient): return result(frame, try frame.chain())
        case ("error", .toClient):
            // Of the whole connection, as AppSync has them.
            guard let id = frame.field("id"), id != .null else { return connectionError(frame, kind) }
            return failure(frame, try frame.chain())
        case ("complete", .toClient): return completion(frame, try frame.chain())
        default: throw GraphQLCodec.unknown(frame.field("type")?.string ?? kind, frame.direction)
        }
    }

    /// The request of a `start`. AppSync carries it as a JSON text in `data`, the oldest dialect beside the id.
    private mutating func started(_ frame: GraphQLFrame) throws(GraphQLFault) -> JSONValue {
        let payload = frame.field("payload") ?? .null
        if let text = payload["data"]?.string {
            isAppSync = true
            do throws(JSONError) {
                return try JSONValue(parsing: text)
            } catch {
                throw GraphQLFault("payload.data is not JSON: \(error)")
            }
        }
        return payload["query"] == nil && frame.field("query") != nil ? frame.object : payload
    }

    /// A refusal while the connection opens, news of no operation later.
    private func connectionError(_ frame: GraphQLFrame, _ kind: String) -> Message {
        let errors = GraphQLCodec.errors(frame.field("payload") ?? .null)
        return frame.message(
            isAcknowledged ? .push : .handshake, as: kind, meaning: .object([.init("payload", .array(errors))]),
            summary: GraphQLCodec.summary(ofErrors: errors))
    }
}
