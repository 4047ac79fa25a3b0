import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// Tapes of event streams, as lines: milliseconds, connection, and what passed. `\n` and `\r` in what passed are line ends.
///
/// ```
/// 0 1 GET /prices last=5                   a request, perhaps with the id of the last event
/// 0 1 POST /chat {"stream":true}           one with a body
/// 5 1 sse | lines | text | bytes           the head of its answer
/// 10 1 < data: 1\n\n                       a piece of it
/// 10 1 hex c3                              the same in hexadecimal
/// 20 1 end | left | cut | reset            its proper end; the client's leaving; the server's FIN or RST
/// 20 1 204 | 429 | json {"a":1}            a whole answer
/// ```
enum EventsTape {
    static func read(_ script: String) -> (sessions: [RecordedSession], exchanges: [RecordedExchange]) {
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        for (i, event) in events(script).enumerated() { reader.read(event, number: UInt64(i + 1), into: &messages) }
        return (reader.finish(), reader.exchanges)
    }

    static func sessions(_ script: String) -> [RecordedSession] { read(script).sessions }

    static func events(_ script: String) -> [TapeEvent] {
        var number: [UInt32: UInt32] = [:]
        return script.split(separator: "\n").map { $0.trimmingBlanks() }.filter { !$0.isEmpty }.flatMap { line in
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            let connection = UInt32(words[1])!
            let kinds = kinds(words[2], words.count > 3 ? words[3] : "", connection, &number)
            return kinds.map { TapeEvent(time: UInt64(words[0])! * 1_000_000, connection: connection, $0) }
        }
    }

    static func text(_ escaped: String) -> String {
        escaped.replacing("\\n", with: "\n").replacing("\\r", with: "\r")
    }

    private static func kinds(
        _ word: String, _ rest: String, _ c: UInt32, _ number: inout [UInt32: UInt32]
    ) -> [TapeEvent.Kind] {
        let x = number[c] ?? 0
        switch word {
        case "GET", "POST":
            number[c] = x + 1
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            var headers: [HeaderField] = []
            var body = TapeEvent.Body.none
            if parts.count > 1, parts[1].hasPrefix("last=") {
                headers.append(HeaderField("Last-Event-ID", String(parts[1].dropFirst(5))))
            } else if parts.count > 1 {
                headers.append(HeaderField("Content-Type", "application/json"))
                body = .whole(Array(parts[1].utf8))
            }
            return [.request(x: x + 1, RequestHead(method: word, target: parts[0], headers: headers), body)]
        case "sse": return [answer(x, 200, "text/event-stream; charset=utf-8", .streamed)]
        case "lines": return [answer(x, 200, "application/x-ndjson", .streamed)]
        case "text": return [answer(x, 200, "text/plain; charset=utf-8", .streamed)]
        case "bytes": return [answer(x, 200, "application/octet-stream", .streamed)]
        case "hex": return [.chunk(x: x, .toClient, bytes(rest))]
        case "json": return [answer(x, 200, "application/json", .whole(Array(rest.utf8)))]
        case "204": return [answer(x, 204, "text/plain", .none)]
        case "429": return [answer(x, 429, "application/json", .whole(Array(#"{"error":"slow down"}"#.utf8)))]
        case "<": return [.chunk(x: x, .toClient, Array(text(rest).utf8))]
        case "end": return [.end(x: x, .toClient, trailers: [])]
        case "left": return [.gone(by: .client, how: .fin, why: nil), .gone(by: .server, how: .fin, why: nil)]
        default: return [.gone(by: .server, how: word == "cut" ? .fin : .rst, why: nil)]
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        var digits = hex[...]
        var bytes: [UInt8] = []
        while !digits.isEmpty {
            bytes.append(UInt8(digits.prefix(2), radix: 16)!)
            digits = digits.dropFirst(2)
        }
        return bytes
    }

    private static func answer(_ x: UInt32, _ status: Int, _ type: String, _ body: TapeEvent.Body) -> TapeEvent.Kind {
        let headers = [
            HeaderField("Content-Type", type), HeaderField("X-Own", "1"), HeaderField("Transfer-Encoding", "chunked"),
        ]
        return .response(
            x: x, ResponseHead(status: status, headers: headers), body, interim: false, coding: nil, proxy: false)
    }

    static func event(_ n: Int, _ name: String = "price") -> String {
        "id: \(n)\nevent: \(name)\ndata: {\"n\":\(n)}\n\n"
    }

    /// Five prices 10 ms apart, of which a comment stands between the second and the third, and the proper end.
    static let prices = """
        0 1 GET /prices
        5 1 sse
        6 1 < retry: 2000\\n\\n
        10 1 < id: 1\\nevent: price\\ndata: {"n":1}\\n\\n
        20 1 < id: 2\\nevent: price\\ndata: {"n":2}\\n\\n
        25 1 < : ping\\n\\n
        30 1 < id: 3\\nevent: price\\ndata: {"n":3}\\n\\n
        40 1 < id: 4\\nevent: price\\ndata: {"n":4}\\n\\n
        50 1 < id: 5\\nevent: price\\ndata: {"n":5}\\n\\n
        60 1 end
        """
    /// A client that came back with an id after its server had cut the stream.
    static let reconnected = """
        0 1 GET /prices
        5 1 sse
        10 1 < id: 1\\nevent: price\\ndata: {"n":1}\\n\\n
        20 1 < id: 2\\nevent: price\\ndata: {"n":2}\\n\\n
        30 1 reset
        130 2 GET /prices last=2
        135 2 sse
        140 2 < id: 3\\nevent: price\\ndata: {"n":3}\\n\\n
        150 2 < id: 4\\nevent: price\\ndata: {"n":4}\\n\\n
        160 2 left
        """
    /// A GET stream, and a POST to the same path whose response is a stream. Event ids are unique across both streams.
    static let called = """
        0 1 GET /rpc
        1 1 sse
        10 2 POST /rpc {"id":1,"method":"count"}
        11 2 sse
        20 2 < id: 1\\nevent: price\\ndata: {"n":1}\\n\\n
        30 2 < id: 2\\nevent: price\\ndata: {"n":2}\\n\\n
        40 2 < id: 3\\nevent: price\\ndata: {"n":3}\\n\\n
        41 2 end
        60 1 < id: 4\\nevent: price\\ndata: {"n":4}\\n\\n
        70 1 left
        """
    static let tokens = """
        0 1 POST /v1/chat {"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}
        5 1 sse
        10 1 < data: {"delta":"he"}\\n\\n
        20 1 < data: {"delta":"llo"}\\n\\n
        30 1 < data: [DONE]\\n\\n
        31 1 end
        """
    /// Text in pieces, of which one is cut within a character and one has two lines.
    static let pieces = """
        0 1 GET /say
        5 1 text
        10 1 < Once\\n
        20 1 < upon
        30 1 hex 20c3
        40 1 hex a9
        50 1 < a\\n{"time":1}
        60 1 end
        """
    /// The same for a POST.
    static let told = pieces.replacing("GET /say", with: #"POST /say {"model":"m","stream":true}"#)
    static let lines = """
        0 1 GET /log
        5 1 lines
        10 1 < {"a":1}\\n{"a":2}\\n
        20 1 < {"a"
        30 1 < :3}\\n\\n
        40 1 < {"a":4}
        50 1 end
        """
}

extension Playbook {
    func events(_ path: String, behind id: String? = nil) -> ConnectionID {
        request("GET", path, id.map { [HeaderField("Last-Event-ID", $0)] } ?? [])
    }

    func post(_ path: String, _ body: String) -> ConnectionID {
        request("POST", path, [HeaderField("Content-Type", "application/json")], body: Array(body.utf8))
    }
}
