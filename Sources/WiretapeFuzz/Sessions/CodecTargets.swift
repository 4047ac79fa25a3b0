internal import WiretapeCodecs
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What peers say, as each protocol reads it: no byte is lost between messages, and every message can be written again and refused.
enum CodecTargets {
    static let all = Codecs.all.map { codec in
        FuzzTarget("codec-\(codec.id)", longest: 2_048) { judge(codec, FuzzInput($0)) }
    }

    private static let openings: [StreamOpening] = {
        let paths = [
            "/chat?id=1", "/graphql", "/app/key?protocol=7&client=js", "/chat?X-Atmosphere-Transport=websocket", "/",
        ]
        return paths.flatMap { path in
            ["", "graphql-transport-ws", "graphql-ws"].map { subprotocol in
                let upgrade = [
                    HeaderField("Host", "a"), HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket"),
                    HeaderField("Sec-WebSocket-Protocol", subprotocol),
                ]
                return StreamOpening(
                    request: RequestHead(method: "GET", target: path, headers: upgrade),
                    response: ResponseHead(status: 101, headers: upgrade))
            }
        }
    }()

    private static func judge(_ entry: CodecEntry, _ input: FuzzInput) -> String? {
        var codec = entry.type.init(openings[Int(input.choices) % openings.count])
        for turn in input.turns {
            var messages: [Message] = []
            codec.decode(
                turn.bytes.span, turn.chooses(1) ? .binary : .text, turn.chooses(0) ? .toServer : .toClient,
                into: &messages)
            if messages.flatMap(\.bytes) != turn.bytes { return "the messages are not the payload: \(messages)" }
            var out: [UInt8] = []
            for message in messages {
                if message.role == .opaque, message.summary.isEmpty { return "opaque without a reason" }
                _ = codec.write(
                    message, ids: IDMap(), on: turn.chooses(2) ? .ws : turn.chooses(3) ? .sse : .lp, into: &out)
                _ = codec.refusal(of: message, reason: "no")
            }
        }
        return nil
    }
}
