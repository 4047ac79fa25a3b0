internal import WiretapeBytes
package import WiretapeCore

extension GraphQLCodec {
    /// The recorded bytes with the client's own id: every other byte stays.
    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        guard message.role != .opaque, let chain = message.chain, ids.live(chain) != chain.id else {
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

    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] {
        [
            (.toServer, .text, Array(#"{"type":"connection_init"}"#.utf8)),
            (.toClient, .text, Array(#"{"type":"connection_ack"}"#.utf8)),
        ]
    }

    /// The server makes no ids.
    package static func vary(_ id: String, _ n: Int) -> String { id }

    /// The dialect's `error` on the id of the operation.
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        guard message.role == .request, let chain = message.chain else { return nil }
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

    /// Only where the recorded server sent some: a legacy client that has seen one waits for the next from then on.
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        guard hasKeepalives else { return nil }
        switch dialect {
        case .transportWS?, nil: return (Array(#"{"type":"ping"}"#.utf8), .text, 12_000_000_000)
        case .legacy?: return (Array(#"{"type":"ka"}"#.utf8), .text, isAppSync ? 60_000_000_000 : 10_000_000_000)
        case .older?: return (Array(#"{"type":"keepalive"}"#.utf8), .text, 10_000_000_000)
        }
    }
}
