internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// GraphQL operations over WebSockets in their three subprotocols. `docs/protocols/graphql.md` is the reference.
///
/// A value sees both directions of a session in their order and keeps what later messages need to be understood: the
/// subprotocol where the server's answer does not name it, and what the open operations are called. Bad input is never more
/// than one `.opaque` message.
package struct GraphQLCodec: FrameCodec {
    package static let id = "graphql"
    private static let types = MessageTypes(
        [
            "connection_init", "connection_ack", "connection_error", "connection_terminate", "ping", "pong", "ka",
            "subscribe", "next", "error", "complete", "start", "start_ack", "data", "stop", "heartbeat",
        ] + GraphQLDialect.olderTypes)
    package static func mayBeCalled(_ name: String) -> Bool { types.contains(name) }

    /// Nil until it is known.
    var dialect: GraphQLDialect?
    var operations = GraphQLOperations()
    /// The server has accepted the connection.
    var isAcknowledged = false
    /// The server was seen to send keepalives.
    var hasKeepalives = false
    /// Requests and answers over HTTP instead of a WebSocket.
    let isHTTP: Bool
    /// Over HTTP: the operation of the exchange has come to its end.
    var isAnswered = false
    /// Of a value that writes for a client: what the recorded session spoke, when the client speaks something else.
    var recordedDialect: GraphQLDialect?
    /// What a part of a multipart answer is to the client that this value writes for.
    var partForm = GraphQLForm.part
    /// AWS AppSync: payloads of its own within ``GraphQLDialect/legacy``.
    var isAppSync: Bool

    package init(_ opening: StreamOpening) {
        let offered = GraphQLDialect.offered(opening.request)
        dialect = GraphQLDialect(opening) ?? (offered.count == 1 ? offered[0] : nil)
        isAppSync = GraphQLCodec.isAppSync(opening.request)
        isHTTP = GraphQLCodec.kind(opening.request) != .upgrade
    }

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        // A line without a result keeps a stream of JSON lines alive.
        if isHTTP, direction == .toClient, !bytes.isEmpty, bytes.allSatisfy({ $0 <= 0x20 }) {
            let frame = GraphQLFrame(object: .object([]), bytes: bytes, opcode: opcode, direction: direction)
            return out.append(signOfLife(frame))
        }
        do throws(GraphQLFault) {
            let frame = GraphQLFrame(
                object: try GraphQLCodec.object(of: payload), bytes: bytes, opcode: opcode, direction: direction)
            let message = isHTTP ? try carried(frame) : try read(frame)
            out.append(message)
        } catch {
            out.append(.opaque(bytes, direction, opcode: opcode, reason: error.reason))
        }
    }

    static func object(of payload: Span<UInt8>) throws(GraphQLFault) -> JSONValue {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(parsing: payload)
        } catch {
            throw GraphQLFault("not JSON: \(error)")
        }
        guard object.members != nil else { throw GraphQLFault("not a JSON object") }
        return object
    }

    /// One message. What both dialects call the same is read before the dialect is known.
    private mutating func read(_ frame: GraphQLFrame) throws(GraphQLFault) -> Message {
        guard let type = frame.field("type")?.string else { throw GraphQLFault("type is missing") }
        dialect = dialect ?? GraphQLDialect.using(type)
        let kind = dialect?.kind(of: type) ?? type
        if let message = handshake(frame, kind) { return message }
        switch dialect {
        case .transportWS?, nil: return try transportMessage(frame, kind)
        case .legacy?, .older?: return try legacyMessage(frame, kind)
        }
    }

    /// AppSync's clients have no other.
    package var transports: [Transport] { isAppSync ? [.ws] : [.ws, .sse] }

    package var obstacle: String? { nil }

    /// subscriptions-transport-ws gives no code.
    package static var farewellEnd: ClosingHandshake.Frame { .init(code: nil, reason: "") }

    package func withoutHistory() -> Self {
        var fresh = self
        fresh.operations = GraphQLOperations()
        fresh.isAcknowledged = false
        fresh.isAnswered = false
        return fresh
    }
}
