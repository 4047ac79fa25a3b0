import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct GraphQLOpeningTests {
    private func opening(offered: String?, chosen: String?, status: Int? = 101, first: String = "") -> StreamOpening {
        var headers = [HeaderField("Upgrade", "websocket")]
        if let offered { headers.append(HeaderField("sec-websocket-protocol", offered)) }
        return StreamOpening(
            request: RequestHead(method: "GET", target: "/any", headers: headers),
            response: status.map {
                ResponseHead(status: $0, headers: chosen.map { [HeaderField("Sec-WebSocket-Protocol", $0)] } ?? [])
            }, firstPayload: Array(first.utf8))
    }

    private static let claimed: [(String?, String?, Int?, String, Confidence)] = [
        ("graphql-ws, graphql-transport-ws", "graphql-transport-ws", 101, "", Confidence.certain),
        ("graphql-ws", "graphql-ws", 101, "", .certain),
        (nil, "graphql-subscriptions", 101, "", .certain),
        // The server chose something else.
        ("graphql-ws, chat", "chat", 101, #"{"type":"connection_init"}"#, .no),
        // It chose nothing, or never answered.
        ("graphql-ws", nil, 101, "", .likely),
        ("graphql-ws", nil, nil, "", .likely),
        ("graphql-transport-ws", nil, 401, "", .likely),
        (nil, nil, 101, #"{"type": "connection_init", "payload": {}}"#, .likely),
        (nil, nil, 101, #"{"type":"start","id":"1"}"#, .likely),
        (nil, nil, 101, #"{"type":6}"#, .no),
        ("graphql-ws", nil, 101, "hello", .no),
        (nil, nil, 101, "", .no),
    ]

    @Test(arguments: claimed)
    func claims(_ offered: String?, _ chosen: String?, _ status: Int?, _ first: String, _ wanted: Confidence) {
        #expect(GraphQLCodec.claim(opening(offered: offered, chosen: chosen, status: status, first: first)) == wanted)
    }

    /// Neither path nor library names tell: `/graphql` without the subprotocol is any WebSocket.
    @Test func pathsTellNothing() {
        #expect(GraphQLCodec.claim(ContractSamples.upgrade("/graphql-transport-ws/graphql")) == .no)
    }

    @Test(arguments: ["graphql-transport-ws-js", "graphql-legacy-ws-stw", "graphql-wss-tls12-gql"])
    func everyMessageOfACaptureIsRead(_ name: String) throws {
        let reading = try Reading(Codecs.all, FixtureTape("graphql/\(name)").events)
        #expect(reading.messages.count > 25)
        #expect(reading.messages.allSatisfy { $0.codec == "graphql" && $0.message.role != .opaque })
        for message in reading.messages.map(\.message) { #expect((message.chain != nil) == (message.label != nil)) }
        let requests = reading.messages.filter { $0.message.role == .request }
        #expect(Set(requests.map(\.message.summary)).count >= 3)
    }

    @Test func aSessionOfManyOperations() throws {
        let session = try #require(
            try Reading(Codecs.all, FixtureTape("graphql/graphql-transport-ws-js").events).sessions.first)
        #expect(session.route == "/graphql" && session.transport == .ws)
        let lines = session.lines
        #expect(Array(lines[2...4]) == ["> A", "> B(n: 10)", "> counter"])
        #expect(
            lines.contains(#"< B {"ticks":10}"#) && lines.contains("> query Hello") && lines.contains("> mutation add"))
        #expect(lines.contains(#"< nosuchfield errors "Cannot query field \"nosuchfield\" on type \"Subscription\".""#))
    }
}
