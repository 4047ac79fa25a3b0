internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension SignalRCodec {
    /// One of the nine types.
    mutating func message(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        let type = try frame.integer("type")
        var message: Message
        switch type {
        case 1: message = try invocation(frame, "Invocation")
        case 2: message = try streamItem(frame)
        case 3: message = try completion(frame)
        case 4: message = try invocation(frame, "StreamInvocation")
        case 5: message = try cancel(frame)
        case 6: return frame.message(.keepalive, "Ping", summary: "Ping")
        case 7: return try close(frame)
        case 8, 9: return try acknowledgement(frame, type == 8 ? "Ack" : "Sequence")
        default: throw SignalRFault("unknown message type \(type)")
        }
        if tellsRepetitions, counters.isRepeated(frame.direction) {
            message.role = .ack
            message.opens = []
            message.summary = Summary.line("\(message.summary) (sent again)")
        }
        return message
    }

    private mutating func invocation(_ frame: SignalRFrame, _ type: String) throws(SignalRFault) -> Message {
        let target = try frame.requiredText("target")
        let id = try frame.text("invocationId")
        let arguments = try frame.list("arguments")
        var opens: [Chain] = []
        for stream in try frame.list("streamIds") ?? [] {
            guard let name = stream.string else { throw SignalRFault("a stream id is not a string") }
            opens.append(Chain(name, origin: frame.direction))
        }
        if type == "StreamInvocation", id == nil { throw SignalRFault("invocationId is missing") }
        let chain = id.map { Chain($0, origin: frame.direction) }
        if let chain { chains.open(chain, target) }
        for stream in opens { chains.open(stream, target, upload: true) }
        let role: Role = chain != nil ? .request : frame.direction == .toServer ? .send : .push
        return frame.message(
            role, type, label: target, chain: chain, opens: opens,
            meaning: [
                .init("target", .string(target)), .init("arguments", arguments.map(JSONValue.array) ?? .null),
                .init("streams", .number(opens.count)),
            ],
            shown: .call(target, arguments ?? []))
    }

    private mutating func streamItem(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        let id = try frame.requiredText("invocationId")
        let chain = Chain(id, origin: .toServer)
        let item = frame.field("item") ?? .null
        return frame.message(
            frame.direction == .toServer ? .part : .push, "StreamItem", label: chains.target(of: chain), chain: chain,
            meaning: [.init("item", item)], summary: "StreamItem \(id) -> \(item.text)")
    }

    /// To the client it answers an invocation of the client. To the server it ends an upload of the client, or answers
    /// an invocation of the server.
    private mutating func completion(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        let id = try frame.requiredText("invocationId")
        let error = try frame.text("error")
        let result = frame.field("result")
        var role = Role.reply
        var chain = Chain(id, origin: frame.direction.reversed)
        if frame.direction == .toServer, chains.target(of: chain) == nil {
            let upload = Chain(id, origin: .toServer)
            if chains.isUpload(upload) {
                role = .part
                chain = upload
            }
        }
        let label = chains.close(chain)
        let outcome: JSONValue.Member
        var summary = "Completion \(id)"
        if let error {
            outcome = .init("error", .string(error))
            summary += " error \(JSONValue.string(error).text)"
        } else {
            // A result of null and none are one: hubs complete methods without a value with either.
            outcome = .init("result", result ?? .null)
            if let result { summary += " -> \(result.text)" }
        }
        return frame.message(
            role, "Completion", label: label, chain: chain, meaning: [outcome], summary: summary)
    }

    private mutating func cancel(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        let id = try frame.requiredText("invocationId")
        let chain = Chain(id, origin: frame.direction)
        return frame.message(
            frame.direction == .toServer ? .cancel : .push, "CancelInvocation", label: chains.target(of: chain),
            chain: chain, summary: "CancelInvocation \(id)")
    }

    private func close(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        let error = try frame.text("error")
        let mayReconnect = frame.field("allowReconnect")?.bool ?? false
        var summary = "Close"
        if let error { summary += " error \(JSONValue.string(error).text)" }
        if mayReconnect { summary += " allowReconnect" }
        return frame.message(
            .close, "Close",
            meaning: [
                .init("error", error.map(JSONValue.string) ?? .null), .init("allowReconnect", .bool(mayReconnect)),
            ],
            summary: summary)
    }

    private mutating func acknowledgement(_ frame: SignalRFrame, _ type: String) throws(SignalRFault) -> Message {
        let number = try frame.integer("sequenceId")
        guard number >= 0 else { throw SignalRFault("sequenceId is negative") }
        if type == "Sequence" { counters.restart(frame.direction, at: UInt64(number)) }
        return frame.message(
            .ack, type, meaning: [.init("sequenceId", .number(number))], summary: "\(type) \(number)")
    }
}
