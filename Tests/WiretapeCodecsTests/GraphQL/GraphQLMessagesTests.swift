import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What each message is, in each dialect.
@Suite struct GraphQLMessagesTests {
    @Test func transportWS() {
        var talk = GraphQLTalk()
        let chain = Chain.client("7")
        #expect(Look(talk.toServer(#"{"type":"connection_init"}"#)) == Look(.handshake, "connection_init", summary: ""))
        #expect(Look(talk.toClient(#"{"type":"connection_ack"}"#)) == Look(.handshake, "connection_ack", summary: ""))
        #expect(
            Look(
                talk.subscribe(
                    "7", "subscription OnTick($limit: Int) { t: tick(limit: $limit) }",
                    #","variables":{"limit":3,"s":"a"}"#))
                == Look(.request, "subscribe", "OnTick", chain, #"OnTick(limit: 3, s: "a")"#))
        #expect(
            Look(talk.toClient(#"{"id":"7","type":"next","payload":{"data":{"t":1}}}"#))
                == Look(.push, "next", "OnTick", chain, #"OnTick {"t":1}"#))
        #expect(
            Look(talk.toClient(#"{"id":"7","type":"next","payload":{"data":null,"errors":[{"message":"no"}]}}"#))
                == Look(.push, "next", "OnTick", chain, #"OnTick errors "no""#))
        #expect(Look(talk.toServer(#"{"type":"ping"}"#)) == Look(.keepalive, "ping", summary: ""))
        #expect(Look(talk.toClient(#"{"type":"pong"}"#)) == Look(.keepalive, "pong", summary: ""))
        #expect(
            Look(talk.toServer(#"{"id":"7","type":"complete"}"#))
                == Look(.cancel, "complete", "OnTick", chain, "OnTick"))
        // Frames cross the end.
        #expect(Look(talk.toClient(#"{"id":"7","type":"next","payload":{"data":{"t":2}}}"#)).label == "OnTick")
        #expect(
            Look(talk.toClient(#"{"id":"7","type":"complete"}"#)) == Look(.reply, "complete", "OnTick", chain, "OnTick")
        )
        #expect(
            Look(talk.toClient(#"{"id":"8","type":"error","payload":[{"message":"a"},{"message":"b"}]}"#))
                == Look(.reply, "error", nil, .client("8"), #"errors "a", "b""#))
    }

    /// Queries and mutations have one result, which answers them.
    @Test(arguments: [("{ hello }", "query hello"), ("mutation Add { add(a: 1) }", "mutation Add")])
    func singleResults(_ query: String, _ summary: String) {
        var talk = GraphQLTalk()
        #expect(talk.subscribe("1", query).title == "subscribe \(summary)")
        #expect(talk.toClient(#"{"id":"1","type":"next","payload":{"data":{}}}"#).role == .reply)
        #expect(talk.toClient(#"{"id":"1","type":"complete"}"#).role == .reply)
    }

    @Test func namesOfOperations() {
        var talk = GraphQLTalk()
        let two = "query A { a } mutation B { b }"
        #expect(talk.subscribe("1", two, #","operationName":"B""#).summary == "mutation B")
        #expect(talk.subscribe("1", two).label == nil)
        #expect(talk.subscribe("1", "{ ...F } fragment F on Q { a }").label == nil)
        #expect(talk.subscribe("1", "subscription { counter(to: 3) { n } }").title == "subscribe counter")
        let persisted = talk.toServer(
            #"{"id":"1","type":"subscribe","payload":{"extensions":{"persistedQuery":{"sha256Hash":"ecf4edb46db40b51"}}}}"#
        )
        #expect(persisted.title == "subscribe persisted ecf4edb4…" && persisted.role == .request)
    }

    /// A policy about subscriptions is not about calls.
    @Test func onlySubscriptionsSubscribe() {
        var talk = GraphQLTalk()
        #expect(GraphQLCodec.isSubscription(talk.subscribe("1", "subscription OnTick { tick }")) == true)
        #expect(GraphQLCodec.isSubscription(talk.subscribe("2", "mutation Add { add }")) == false)
        #expect(GraphQLCodec.isSubscription(talk.subscribe("3", "{ me }")) == false)
        let two = "query A { a } subscription B { b }"
        #expect(GraphQLCodec.isSubscription(talk.subscribe("4", two, #","operationName":"B""#)) == true)
        #expect(GraphQLCodec.isSubscription(talk.subscribe("5", two, #","operationName":"A""#)) == false)
        let persisted = talk.toServer(
            #"{"id":"6","type":"subscribe","payload":{"extensions":{"persistedQuery":{"sha256Hash":"5f0c"}}}}"#)
        #expect(GraphQLCodec.isSubscription(persisted) == nil)
        #expect(GraphQLCodec.isSubscription(talk.toClient(#"{"id":"1","type":"complete"}"#)) == false)
        var legacy = GraphQLTalk("graphql-ws")
        let start = legacy.toServer(#"{"id":"1","type":"start","payload":{"query":"mutation Add { add }"}}"#)
        #expect(GraphQLCodec.isSubscription(start) == false && GraphQLCodec.subscribes(start))
    }

    @Test func legacy() {
        var talk = GraphQLTalk("graphql-ws")
        let chain = Chain.client("1")
        let start = talk.toServer(
            #"{"id":"1","type":"start","payload":{"query":"subscription S { tick }","variables":null,"operationName":null}}"#
        )
        #expect(Look(start) == Look(.request, "start", "S", chain, "S"))
        #expect(talk.toClient(#"{"type":"connection_ack"}"#).role == .handshake)
        #expect(talk.toClient(#"{"type":"ka"}"#).role == .keepalive)
        #expect(
            talk.toClient(#"{"type":"data","id":"1","payload":{"data":{"tick":1}}}"#).title == #"data S {"tick":1}"#)
        #expect(talk.toServer(#"{"id":"1","type":"stop"}"#).role == .cancel)
        #expect(talk.toClient(#"{"type":"complete","id":"1","payload":null}"#).role == .reply)
        let error = talk.toClient(#"{"type":"error","id":"1","payload":{"message":"no"}}"#)
        #expect(Look(error) == Look(.reply, "error", "S", chain, #"S errors "no""#))
        #expect(talk.toServer(#"{"type":"connection_terminate","payload":null}"#).role == .close)
    }

    /// The same request has the same match key in all dialects.
    @Test func dialectsAgreeOnMeaning() {
        let payload = #"{"query":"subscription S($n:Int){tick(n:$n)}","variables":{"n":1}}"#
        var new = GraphQLTalk()
        var legacy = GraphQLTalk("graphql-ws")
        var older = GraphQLTalk("graphql-subscriptions")
        let request = new.toServer("{\"id\":\"a\",\"type\":\"subscribe\",\"payload\":\(payload)}")
        let messages = [
            legacy.toServer("{\"id\":\"1\",\"type\":\"start\",\"payload\":\(payload)}"),
            legacy.toServer(
                "{\"id\":\"2\",\"type\":\"start\",\"payload\":{\"data\":\(JSONValue.string(payload).text),\"extensions\":{\"authorization\":{}}}}"
            ),
            older.toServer("{\"id\":1,\"type\":\"subscription_start\",\(payload.dropFirst())"),
        ]
        for message in messages { #expect(message.matchKey == request.matchKey) }
        let next = new.toClient(#"{"id":"a","type":"next","payload":{"data":{"tick":1}}}"#)
        #expect(legacy.toClient(#"{"id":"1","type":"data","payload":{"data":{"tick":1}}}"#).matchKey == next.matchKey)
        let error = new.toClient(#"{"id":"a","type":"error","payload":[{"message":"x"}]}"#)
        #expect(legacy.toClient(#"{"id":"1","type":"error","payload":{"message":"x"}}"#).matchKey == error.matchKey)
        #expect(
            older.toClient(#"{"id":1,"type":"subscription_fail","payload":{"errors":[{"message":"x"}]}}"#).matchKey
                == error.matchKey)
    }

    @Test func appSync() {
        var talk = GraphQLTalk("graphql-ws", target: "/graphql?header=eyJ9&payload=e30=")
        #expect(
            talk.toClient(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#).role == .handshake)
        let start = talk.toServer(
            #"{"id":"u1","type":"start","payload":{"data":"{\"query\":\"subscription S { a }\",\"variables\":{\"n\":1}}","extensions":{"authorization":{"x-api-key":"k"}}}}"#
        )
        #expect(start.title == "start S(n: 1)")
        #expect(
            Look(talk.toClient(#"{"id":"u1","type":"start_ack"}"#))
                == Look(.reply, "start_ack", "S", .client("u1"), "S"))
        let wide = talk.toClient(#"{"type":"error","payload":{"errors":[{"errorType":"Gone","message":"bye"}]}}"#)
        #expect(Look(wide) == Look(.push, "error", summary: #"errors "bye""#))
        #expect(talk.codec.keepalive?.every == nil)
        #expect(talk.toClient(#"{"type":"ka"}"#).role == .keepalive)
        #expect(talk.codec.keepalive?.every == 60_000_000_000)
        let refusal = talk.codec.refusal(of: start, reason: "no").map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(
            refusal
                == #"{"id":"u1","type":"error","payload":{"errors":[{"message":"no","errorType":"UnsupportedOperation"}]}}"#
        )
    }

    @Test func aRefusalOfTheConnectionIsItsAnswer() {
        var talk = GraphQLTalk("graphql-ws")
        let refused = talk.toClient(#"{"type":"connection_error","payload":{"message":"Prohibited connection!"}}"#)
        #expect(Look(refused) == Look(.handshake, "connection_error", summary: #"errors "Prohibited connection!""#))
        _ = talk.toClient(#"{"type":"connection_ack"}"#)
        #expect(talk.toClient(#"{"type":"connection_error","payload":{"message":"x"}}"#).role == .push)
    }

    /// Without the server's answer the first messages tell the dialect.
    @Test func sniffs() {
        var new = GraphQLTalk(nil)
        #expect(new.toServer(#"{"type":"connection_init"}"#).role == .handshake && new.codec.subprotocol == nil)
        #expect(new.subscribe("1", "{ a }").role == .request && new.codec.subprotocol == "graphql-transport-ws")
        var old = GraphQLTalk(nil)
        _ = old.toServer(#"{"type":"connection_init"}"#)
        #expect(old.toServer(#"{"type":"start","id":"1","payload":{"query":"{ a }"}}"#).role == .request)
        #expect(old.codec.subprotocol == "graphql-ws")
    }

    @Test(arguments: [
        ("[]", "not a JSON object"), ("{\"type\":\"ping\"", "not JSON: ends too early at byte 14"),
        ("", "not JSON: ends too early at byte 0"),
        ("{}", "type is missing"), (#"{"type":"ka"}"#, #"unknown message type "ka" to the server"#),
        (#"{"type":"next","id":"1","payload":{}}"#, #"unknown message type "next" to the server"#),
        (#"{"type":"subscribe","payload":{"query":"{a}"}}"#, "id is missing"),
        (#"{"type":"subscribe","id":true,"payload":{"query":"{a}"}}"#, "id is not a text"),
        (#"{"type":"subscribe","id":"1","payload":[]}"#, "payload is not an object"),
        (#"{"type":"subscribe","id":"1","payload":{"query":1}}"#, "payload.query is not a text"),
        (#"{"type":"complete"}"#, "id is missing"),
    ])
    func whatCannotBeReadIsOpaque(_ text: String, _ reason: String) {
        var talk = GraphQLTalk()
        let message = talk.toServer(text)
        #expect(message.role == .opaque && message.summary == reason && message.bytes == Array(text.utf8))
    }

    @Test func idsKeepTheirForm() throws {
        var talk = GraphQLTalk()
        #expect(talk.toServer(#"{"id":1,"type":"subscribe","payload":{"query":"{a}"}}"#).chain == .client("#1"))
        #expect(talk.subscribe("1", "{a}").chain == .client("1"))
        #expect(talk.subscribe("#1", "{a}").chain == .client("##1"))
        let next = talk.toClient(#"{ "id" : "1", "type":"next","payload":{"data":{"id":"1"}} }"#)
        for (live, written) in [("#1", "1"), ("##1", "\"#1\""), ("a\"b", "\"a\\\"b\"")] {
            var ids = IDMap()
            ids.bind(.client("1"), to: live)
            var bytes: [UInt8] = []
            _ = talk.codec.write(next, ids: ids, on: .ws, into: &bytes)
            let wanted = "{ \"id\" : \(written), \"type\":\"next\",\"payload\":{\"data\":{\"id\":\"1\"}} }"
            #expect(String(decoding: bytes, as: UTF8.self) == wanted)
        }
    }
}
