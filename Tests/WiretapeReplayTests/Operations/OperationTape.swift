import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// GraphQL tapes for replay tests, as lines: milliseconds, connection, and what passed.
///
/// ```
/// 0 1 POST multipart {"query":"subscription { tick }"}    a request over HTTP that accepts this: multipart, sse, json
/// 10 1 part {"payload":{"data":{"tick":1}}}               the head of its answer comes with the first line
/// 20 1 event next {"data":{"tick":1}}
/// 30 1 json {"data":{"hello":"ada"}}
/// 40 1 end | left | reset                                 the answer's proper end, the client's leaving, the server's reset
/// 0 2 ws graphql-transport-ws                             a WebSocket, and its messages
/// 5 2 > {"type":"connection_init"}
/// ```
enum OperationTape {
    static func sessions(_ script: String) -> [RecordedSession] {
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        var number: UInt64 = 0
        var heads: [UInt32: UInt32] = [:]
        var open: Set<UInt32> = []
        for line in script.split(separator: "\n").map({ $0.trimmingBlanks() }) where !line.isEmpty {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            let connection = UInt32(words[1])!
            for kind in kinds(words[2], words.count > 3 ? words[3] : "", connection, &heads, &open) {
                number += 1
                reader.read(
                    TapeEvent(time: UInt64(words[0])! * 1_000_000, connection: connection, kind), number: number,
                    into: &messages)
            }
        }
        return reader.finish()
    }

    private static func kinds(
        _ word: String, _ rest: String, _ c: UInt32, _ heads: inout [UInt32: UInt32], _ open: inout Set<UInt32>
    ) -> [TapeEvent.Kind] {
        let x = heads[c] ?? 1
        switch word {
        case "ws":
            let upgrade = [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")]
            let chosen = HeaderField("Sec-WebSocket-Protocol", rest)
            return [
                .request(x: 1, RequestHead(method: "GET", target: "/graphql", headers: upgrade + [chosen]), .none),
                .response(
                    x: 1, ResponseHead(status: 101, headers: upgrade + [chosen]), .none, interim: false, coding: nil,
                    proxy: false),
            ]
        case ">", "<":
            return [
                .message(word == ">" ? .toServer : .toClient, .text, Array(rest.utf8), deflated: false, fragments: [])
            ]
        case "POST":
            heads[c, default: 0] += 1
            open.remove(c)
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            let headers = [HeaderField("Content-Type", "application/json"), HeaderField("Accept", accept[parts[0]]!)]
            return [
                .request(
                    x: x + (heads[c]! > 1 ? 1 : 0), RequestHead(method: "POST", target: "/graphql", headers: headers),
                    .whole(Array(parts[1].utf8)))
            ]
        case "json": return [answer(x, "application/json", .whole(Array(rest.utf8)))]
        case "part":
            let piece = "\r\ncontent-type: application/json\r\n\r\n\(rest)\r\n--graphql"
            let isFirst = open.insert(c).inserted
            return (isFirst ? [answer(x, "multipart/mixed;boundary=graphql;subscriptionSpec=1.0", .streamed)] : [])
                + [.chunk(x: x, .toClient, Array((isFirst ? "\r\n--graphql" + piece : piece).utf8))]
        case "event":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            let event = "event: \(parts[0])\ndata: \(parts.count > 1 ? parts[1] : "")\n\n"
            return (open.insert(c).inserted ? [answer(x, "text/event-stream", .streamed)] : [])
                + [.chunk(x: x, .toClient, Array(event.utf8))]
        case "close": return [.chunk(x: x, .toClient, Array("--\r\n".utf8)), .end(x: x, .toClient, trailers: [])]
        case "end": return [.end(x: x, .toClient, trailers: [])]
        case "left": return [.gone(by: .client, how: .fin, why: nil), .gone(by: .server, how: .fin, why: nil)]
        default: return [.gone(by: .server, how: .rst, why: nil)]
        }
    }

    private static func answer(_ x: UInt32, _ type: String, _ body: TapeEvent.Body) -> TapeEvent.Kind {
        .response(
            x: x, ResponseHead(status: 200, headers: [HeaderField("Content-Type", type), HeaderField("X-Own", "1")]),
            body, interim: false, coding: nil, proxy: false)
    }

    static let accept = [
        "multipart": "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
        "sse": "text/event-stream", "json": "application/json",
    ]

    static let tick = #"{"query":"subscription OnTick($n: Int) { tick(n: $n) }","variables":{"n":3}}"#

    /// Three results 10 ms apart and the end, over each carrier.
    static let multipart = """
        0 1 POST multipart \(tick)
        10 1 part {"payload":{"data":{"tick":1}}}
        20 1 part {"payload":{"data":{"tick":2}}}
        30 1 part {"payload":{"data":{"tick":3}}}
        40 1 close
        """
    static let sse = """
        0 1 POST sse \(tick)
        10 1 event next {"data":{"tick":1}}
        20 1 event next {"data":{"tick":2}}
        30 1 event next {"data":{"tick":3}}
        40 1 event complete
        40 1 end
        """
    static let socket = """
        0 1 ws graphql-transport-ws
        1 1 > {"type":"connection_init"}
        2 1 < {"type":"connection_ack"}
        5 1 > {"id":"7","type":"subscribe","payload":\(tick)}
        15 1 < {"id":"7","type":"next","payload":{"data":{"tick":1}}}
        25 1 < {"id":"7","type":"next","payload":{"data":{"tick":2}}}
        35 1 < {"id":"7","type":"next","payload":{"data":{"tick":3}}}
        45 1 < {"id":"7","type":"complete"}
        50 1 > {"id":"8","type":"subscribe","payload":{"query":"query Hello { hello }"}}
        60 1 < {"id":"8","type":"next","payload":{"data":{"hello":"ada"}}}
        60 1 < {"id":"8","type":"complete"}
        """
    static let hello = """
        100 2 POST json {"query":"query Hello { hello }"}
        110 2 json {"data":{"hello":"ada"}}
        """
}

extension Playbook {
    /// A GraphQL request on a connection of its own.
    func operate(_ accept: String, _ body: String, on path: String = "/graphql") -> ConnectionID {
        request(
            "POST", path,
            [
                HeaderField("Content-Type", "application/json"),
                HeaderField("Accept", OperationTape.accept[accept] ?? accept),
            ], body: Array(body.utf8))
    }

    /// A WebSocket of a client that has shaken hands.
    func socket(_ subprotocol: String = "graphql-transport-ws") -> ConnectionID {
        let c = request(
            "GET", "/graphql",
            [HeaderField("Upgrade", "websocket"), HeaderField("Sec-WebSocket-Protocol", subprotocol)])
        sendBytes(c, .text, Array(#"{"type":"connection_init"}"#.utf8))
        return c
    }

    func say(_ c: ConnectionID, _ json: String) { sendBytes(c, .text, Array(json.utf8)) }

    static func part(_ json: String) -> String {
        "\r\ncontent-type: application/json\r\n\r\n\(json)\r\n--graphql"
    }

    static func next(_ json: String) -> String { "event: next\ndata: \(json)\n\n" }

    static let done = "event: complete\ndata:\n\n"
}
