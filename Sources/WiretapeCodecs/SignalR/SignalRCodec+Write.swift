internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension SignalRCodec {
    /// The recorded bytes with live ids: every byte but the ids stays. To a client an
    /// accepted handshake is `{}`, as not all clients read more. The kind of
    /// frame is the hub protocol's, whatever the recorded peer used: clients that speak JSON refuse binary frames.
    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        let live = message.chain.map { ids.live($0) }
        let streams = message.opens.map { ids.live($0) }
        let sameStreams = streams == message.opens.map(\.id)
        if message.role == .handshake, message.direction == .toClient, message.meaning["error"] == nil {
            out.append(utf8: "{}")
            out.append(SignalRCodec.separator)
            return opcode(of: message)
        }
        let bytes = message.role == .opaque || message.role == .handshake ? message.bytes : framed(message)
        guard message.role != .opaque, message.role != .handshake, live != message.chain?.id || !sameStreams else {
            out.append(copying: bytes.span)
            return opcode(of: message)
        }
        switch hubProtocol {
        case .json: SignalRCodec.rewrite(bytes, id: live, streams: sameStreams ? nil : streams, into: &out)
        case .messagePack: SignalRPack.rewrite(bytes.span, id: live, streams: sameStreams ? nil : streams, into: &out)
        }
        return opcode(of: message)
    }

    /// The message's bytes in the hub protocol of the session. Hand-written tapes contain JSON in MessagePack sessions too.
    private func framed(_ message: Message) -> [UInt8] {
        guard hubProtocol == .messagePack, !SignalRPack.begins(message.bytes.span) else { return message.bytes }
        return SignalRPack.frame(message.content) ?? message.bytes
    }

    /// A JSON record with other ids.
    private static func rewrite(_ record: [UInt8], id: String?, streams: [String]?, into out: inout [UInt8]) {
        var copied = 0
        for place in JSONMembers(of: record).places {
            let value: JSONValue
            switch place.name {
            case "invocationId":
                guard let id else { continue }
                value = .string(id)
            case "streamIds":
                guard let streams else { continue }
                value = .array(streams.map(JSONValue.string))
            default: continue
            }
            out.append(copying: record.span.extracting(copied..<place.value.lowerBound))
            value.write(into: &out)
            copied = place.value.upperBound
        }
        out.append(copying: record.span.extracting(copied..<record.count))
    }

    private func opcode(of message: Message) -> Opcode {
        guard message.role != .opaque else { return message.opcode }
        return switch hubProtocol {
        case .json: .text
        case .messagePack: message.role == .handshake ? message.opcode : .binary
        }
    }

    package static func framed(_ json: [UInt8]) -> [UInt8] { json + [separator] }

    /// A stream is what the protocol has for subscriptions.
    package static func subscribes(_ message: Message) -> Bool {
        message.direction == .toServer && message.type == "StreamInvocation"
    }

    package static func allowsReconnect(_ closeMessage: Message) -> Bool {
        closeMessage.content["allowReconnect"]?.bool == true
    }

    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] {
        [
            (.toServer, .text, framed(Array(#"{"protocol":"json","version":1}"#.utf8))),
            (.toClient, .text, framed(Array("{}".utf8))),
        ]
    }

    /// An error as the Completion of the request, in the hub protocol of the session that this value has seen. To a
    /// handshake it is an answer in JSON; for another hub protocol than the session's, or a version that servers do not
    /// know, in the server's own words first.
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        guard message.direction == .toServer else { return nil }
        switch message.role {
        case .handshake:
            let asked = message.meaning["protocol"]?.string ?? ""
            let version = message.meaning["version"]?.text
            var text = reason
            if asked != (hubProtocol == .json ? "json" : "messagepack") {
                text = "The protocol '\(asked)' is not supported. \(reason)"
            } else if let version {
                text = "The server does not support version \(version) of the '\(asked)' protocol. \(reason)"
            }
            return (SignalRCodec.record([.init("error", .string(text))]), .text)
        case .request:
            guard let id = message.chain?.id else { return nil }
            if hubProtocol == .messagePack { return (SignalRPack.failure(of: id, reason), .binary) }
            return (
                SignalRCodec.record([
                    .init("type", .number(3)), .init("invocationId", .string(id)), .init("error", .string(reason)),
                ]), .text
            )
        case .send, .reply, .push, .part, .cancel, .keepalive, .ack, .close, .opaque: return nil
        }
    }

    static func record(_ members: [JSONValue.Member]) -> [UInt8] {
        var payload: [UInt8] = []
        JSONValue.object(members).write(into: &payload)
        payload.append(separator)
        return payload
    }

    package static func vary(_ id: String, _ n: Int) -> String { varied(id, n) }
}
