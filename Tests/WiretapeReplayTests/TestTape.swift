import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Recorded sessions for tests, written as a conversation: `5 < {"type":6}`. Milliseconds, direction, JSON records of one
/// frame separated by ` | `; or `< close 1000 bye`, `< reset`, `< disconnect`.
enum TestTape {
    static func session(
        _ script: String, number: Int = 1, route: String = "/chat", token: String? = nil, transport: Transport = .ws,
        query: String = ""
    ) -> RecordedSession {
        let token = token ?? "token-\(number)"
        let upgrade = RequestHead(
            method: "GET", target: "\(route)?\(query)id=\(token)", headers: [HeaderField("Upgrade", "websocket")])
        var codec = SignalRCodec(StreamOpening(request: upgrade))
        var entries: [RecordedSession.Entry] = []
        for (i, line) in script.split(separator: "\n").map({ $0.trimmingBlanks() }).enumerated() where !line.isEmpty {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            let time = UInt64(parts[0])! * 1_000_000
            let direction: Direction = parts[1] == ">" ? .toServer : .toClient
            func add(_ what: RecordedSession.What) {
                entries.append(
                    RecordedSession.Entry(
                        event: UInt64(i + 10 + 1_000 * (number - 1)), time: time, connection: 1, frame: i, what))
            }
            guard parts[2].hasPrefix("{") else {
                let words = parts[2].split(separator: " ", maxSplits: 2).map(String.init)
                switch words[0] {
                case "reset": add(.ending(.reset))
                case "disconnect": add(.ending(.disconnect))
                default: add(.ending(.close(code: UInt16(words[1]), reason: words.count > 2 ? words[2] : "")))
                }
                continue
            }
            var messages: [Message] = []
            codec.decode(bytes(parts[2]).span, .text, direction, into: &messages)
            for message in messages { add(.message(message)) }
        }
        return RecordedSession(
            number: number, codec: CodecEntry(SignalRCodec.self), writer: codec, transport: transport, route: route,
            opening: StreamOpening(request: upgrade, response: ResponseHead(status: 101)),
            negotiate: StreamOpening(request: RequestHead(method: "POST", target: "\(route)/negotiate?\(query)")),
            serverIDs: ServerIDs(connectionID: "public-\(number)", token: token), connections: [1], entries: entries,
            opened: 0)
    }

    /// A session whose server lets the client renew its credential: it lasts 60 seconds.
    static func renewable(_ script: String) -> RecordedSession {
        var session = session(script)
        session.negotiate?.responseBody = Array(#"{"connectionId":"public-1","tokenLifetimeSeconds":60}"#.utf8)
        return session
    }

    /// ` | ` between records becomes the record separator, and one ends the payload.
    static func bytes(_ records: String) -> [UInt8] {
        Array((records.replacing(" | ", with: "\u{1e}") + "\u{1e}").utf8)
    }

    static let handshake = """
        1 > {"protocol":"json","version":1}
        2 < {}

        """
}
