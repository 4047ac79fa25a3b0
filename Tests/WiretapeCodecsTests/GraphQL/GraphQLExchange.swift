import WiretapeProtocol
import WiretapeWire

/// Exchanges of GraphQL over HTTP as tape events, one millisecond apart.
struct GraphQLExchange {
    private(set) var events: [TapeEvent] = []
    private var time: UInt64 = 0

    mutating func add(_ connection: UInt32, _ kind: TapeEvent.Kind) {
        time += 1_000_000
        events.append(TapeEvent(time: time, connection: connection, kind))
    }

    mutating func request(
        _ connection: UInt32, _ method: String = "POST", _ target: String = "/graphql", accept: String = "*/*",
        token: String? = nil, body: String = ""
    ) {
        var headers = [HeaderField("Accept", accept)]
        if !body.isEmpty { headers.append(HeaderField("Content-Type", "application/json")) }
        if let token { headers.append(HeaderField("X-GraphQL-Event-Stream-Token", token)) }
        if method == "WS" { headers += [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")] }
        let head = RequestHead(method: method == "WS" ? "GET" : method, target: target, headers: headers)
        add(connection, .request(x: x(connection), head, body.isEmpty ? .none : .whole(Array(body.utf8))))
    }

    private var numbers: [UInt32: UInt32] = [:]

    private mutating func x(_ connection: UInt32) -> UInt32 {
        numbers[connection, default: 0] += 1
        return numbers[connection] ?? 1
    }

    /// Nil: the body follows in pieces.
    mutating func answer(_ connection: UInt32, _ type: String, _ body: String? = nil, status: Int = 200) {
        let head = ResponseHead(
            status: status,
            headers: type.isEmpty
                ? [] : [HeaderField("Content-Type", type), HeaderField("Transfer-Encoding", "chunked")])
        let kind = body.map { $0.isEmpty ? TapeEvent.Body.none : .whole(Array($0.utf8)) } ?? .streamed
        add(
            connection,
            .response(x: numbers[connection] ?? 1, head, kind, interim: false, coding: nil, proxy: false))
    }

    mutating func piece(_ connection: UInt32, _ text: String, x: UInt32? = nil) {
        add(connection, .chunk(x: x ?? numbers[connection] ?? 1, .toClient, Array(text.utf8)))
    }

    mutating func end(_ connection: UInt32) {
        add(connection, .end(x: numbers[connection] ?? 1, .toClient, trailers: []))
    }

    mutating func gone(_ connection: UInt32, _ party: TapeEvent.Party, _ how: TapeEvent.How = .fin) {
        add(connection, .gone(by: party, how: how, why: nil))
    }

    static let multipart = "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0"

    static func part(_ json: String) -> String {
        "\r\ncontent-type: application/json\r\n\r\n\(json)\r\n--graphql"
    }
}
