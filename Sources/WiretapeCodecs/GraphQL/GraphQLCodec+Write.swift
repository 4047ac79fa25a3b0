internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension GraphQLCodec {
    /// The recorded bytes with the client's own id, where the client's carrier and dialect have them so: every other byte
    /// stays.
    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        guard message.role != .opaque, let chain = message.chain else {
            if let renamed = renamed(message) { out += renamed } else { out.append(copying: message.bytes.span) }
            return message.opcode
        }
        guard isNative(message, id: ids.live(chain), on: transport) else {
            rewrite(message, id: ids.live(chain), on: transport, into: &out)
            return .text
        }
        guard ids.live(chain) != chain.id else {
            out.append(copying: message.bytes.span)
            return message.opcode
        }
        let id = GraphQLID.value(ids.live(chain))
        var copied = 0
        for place in JSONMembers(of: message.bytes).places where place.name == "id" {
            out.append(copying: message.bytes.span.extracting(copied..<place.value.lowerBound))
            id.write(into: &out)
            copied = place.value.upperBound
        }
        out.append(copying: message.bytes.span.extracting(copied..<message.bytes.count))
        return message.opcode
    }

    package static func framed(_ json: [UInt8]) -> [UInt8] { json }

    /// Every operation is subscribed to, whatever its dialect calls that.
    package static func subscribes(_ message: Message) -> Bool {
        message.direction == .toServer && message.role == .request
    }

    /// Queries and mutations are calls. A persisted document without its text does not tell what it is.
    package static func isSubscription(_ message: Message) -> Bool? {
        guard subscribes(message) else { return false }
        return GraphQLOperation(of: message).kind.map { $0 == .subscription }
    }

    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] {
        [
            (.toServer, .text, Array(#"{"type":"connection_init"}"#.utf8)),
            (.toClient, .text, Array(#"{"type":"connection_ack"}"#.utf8)),
        ]
    }

    /// Of the token of a single connection over event streams.
    package static func vary(_ id: String, _ n: Int) -> String { varied(id, n) }

    /// The dialect's `error` on the id of the operation.
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        guard message.role == .request, let chain = message.chain else { return badMessage(message, reason) }
        guard !isHTTP || !chain.id.isEmpty else { return (GraphQLCodec.body(ofError: reason), .text) }
        var error = JSONValue.object([.init("message", .string(reason))])
        switch dialect {
        case .transportWS?, nil: error = .array([error])
        case .legacy? where isAppSync:
            error["errorType"] = .string("UnsupportedOperation")
            error = .object([.init("errors", .array([error]))])
        case .older?: error = .object([.init("errors", .array([error]))])
        case .legacy?: break
        }
        let payload = JSONValue.object([
            .init("id", GraphQLID.value(chain.id)),
            .init("type", .string(dialect == .older ? "subscription_fail" : "error")), .init("payload", error),
        ])
        return (Array(payload.text.utf8), .text)
    }

    /// What servers of the older dialects say of a message that they cannot read; the others close the connection.
    private func badMessage(_ message: Message, _ reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        guard message.role == .opaque, dialect == .legacy || dialect == .older else { return nil }
        let answer = JSONValue.object([
            .init("type", .string(dialect == .older ? "init_fail" : "connection_error")),
            .init("payload", .object([.init("message", .string(reason))])),
        ])
        return (Array(answer.text.utf8), .text)
    }

    /// The body of an answer over HTTP.
    private static func body(ofError reason: String) -> [UInt8] {
        let error = JSONValue.object([.init("message", .string(reason))])
        return Array(JSONValue.object([.init("errors", .array([error]))]).text.utf8)
    }

    /// Only where the recorded server sent some: a legacy client that has seen one waits for the next from then on.
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        guard hasKeepalives else { return nil }
        switch dialect {
        case .transportWS?, nil: return (Array(#"{"type":"ping"}"#.utf8), .text, 12_000_000_000)
        case .legacy?: return (Array(#"{"type":"ka"}"#.utf8), .text, isAppSync ? 60_000_000_000 : 10_000_000_000)
        case .older?: return (Array(#"{"type":"keepalive"}"#.utf8), .text, 10_000_000_000)
        }
    }

    package var beginsWithKeepalive: Bool { dialect == .legacy || dialect == .older }

    /// With the payload of the ping, as the specification advises.
    package func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)? {
        guard keepalive.type == "ping" else { return nil }
        var pong: [JSONValue.Member] = [.init("type", .string("pong"))]
        if let payload = keepalive.content["payload"] { pong.append(.init("payload", payload)) }
        return (Array(JSONValue.object(pong).text.utf8), .text)
    }

    package static var allowsCancels: Bool { true }

    package var subprotocol: String? { dialect?.rawValue }

    package var rules: (any ConnectionRules)? {
        dialect == .transportWS ? GraphQLRules() : nil
    }
}
