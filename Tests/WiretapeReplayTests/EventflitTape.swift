import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Recorded Eventflit sessions for tests, written as a conversation: milliseconds, direction, and the event in short, with
/// `P:` and `P_internal:` for the connection's prefix:
///
///     1 < hello 1.2                     connection_established
///     2 > subscribe private-a KEY:00    with auth, and the channel's data behind it
///     3 < succeeded private-a {}
///     4 < order private-a {"id":1}
///     5 > client-typing private-a {"on":true}
///     6 < close 4200 bye
enum EventflitTape {
    static func session(_ script: String, number: Int = 1, dialect: String = "pusher") -> RecordedSession {
        let upgrade = upgrade
        var codec = EventflitCodec(upgrade)
        var entries: [RecordedSession.Entry] = []
        for (i, line) in script.split(separator: "\n").map({ $0.trimmingBlanks() }).enumerated() where !line.isEmpty {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            let direction: Direction = parts[1] == ">" ? .toServer : .toClient
            func add(_ what: RecordedSession.What) {
                entries.append(
                    RecordedSession.Entry(
                        event: UInt64(i + 10 + 1_000 * (number - 1)), time: UInt64(parts[0])! * 1_000_000,
                        connection: 1, frame: i, what))
            }
            if parts[2].hasPrefix("close ") {
                let words = parts[2].split(separator: " ", maxSplits: 2).map(String.init)
                add(.ending(.close(code: UInt16(words[1]), reason: words.count > 2 ? words[2] : "")))
                continue
            }
            var messages: [Message] = []
            codec.decode(Array(text(parts[2], direction, dialect).utf8).span, .text, direction, into: &messages)
            for message in messages { add(.message(message)) }
        }
        return RecordedSession(
            number: number, codec: CodecEntry(EventflitCodec.self), writer: codec, transport: .ws, route: "/app/KEY",
            opening: upgrade, connections: [1], entries: entries, opened: 0)
    }

    private static var upgrade: StreamOpening {
        StreamOpening(
            request: RequestHead(
                method: "GET", target: "/app/KEY?protocol=7&client=js&version=8.0&flash=false",
                headers: [HeaderField("Upgrade", "websocket")]), response: ResponseHead(status: 101))
    }

    /// What the short form stands for.
    static func text(_ short: String, _ direction: Direction, _ dialect: String = "pusher") -> String {
        let words = short.split(separator: " ", maxSplits: 2).map(String.init)
        let rest = words.count > 2 ? words[2] : ""
        func quoted(_ text: String) -> String { JSONValue.string(text).text }
        switch words[0] {
        case "hello":
            let data = quoted(#"{"socket_id":"\#(words[1])","activity_timeout":120}"#)
            return #"{"event":"\#(dialect):connection_established","data":\#(data)}"#
        case "subscribe":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            var data = #"{"channel":\#(quoted(words[1]))"#
            if let auth = parts.first { data += #","auth":\#(quoted(auth))"# }
            if parts.count > 1 { data += #","channel_data":\#(quoted(parts[1]))"# }
            return #"{"event":"\#(dialect):subscribe","data":\#(data)}}"#
        case "unsubscribe": return #"{"event":"\#(dialect):unsubscribe","data":{"channel":\#(quoted(words[1]))}}"#
        case "succeeded", "added", "removed":
            let name = words[0] == "succeeded" ? "subscription_succeeded" : "member_\(words[0])"
            return #"{"event":"\#(dialect)_internal:\#(name)","channel":\#(quoted(words[1])),"data":\#(quoted(rest))}"#
        case "ping", "pong": return #"{"event":"\#(dialect):\#(words[0])","data":{}}"#
        default:
            let data = direction == .toServer ? rest : quoted(rest)
            return #"{"event":\#(quoted(words[0])),"channel":\#(quoted(words[1])),"data":\#(data)}"#
        }
    }
}
