import Testing
import WiretapeCodecs
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct EventflitMessagesTests {
    private func codec() -> EventflitCodec { EventflitCodec(ContractSamples.upgrade("/app/KEY?protocol=7&client=js")) }

    @Test func summaries() throws {
        var codec = codec()
        let said: [(Direction, String, String, Role)] = [
            (
                .toClient,
                #"{"event":"eventflit:connection_established","data":"{\"socket_id\":\"45481.3166671\",\"activity_timeout\":120}"}"#,
                "connection_established 45481.3166671, activity timeout 120 s", .handshake
            ),
            (.toServer, #"{"event":"eventflit:subscribe","data":{"channel":"room"}}"#, "subscribe room", .request),
            (
                .toServer,
                #"{"event":"eventflit:subscribe","data":{"channel":"presence-x","auth":"KEY:0","channel_data":"{\"user_id\":\"7\",\"user_info\":{\"name\":\"ada\"}}"}}"#,
                #"subscribe presence-x as 7 {"name":"ada"}"#, .request
            ),
            (
                .toClient, #"{"event":"eventflit_internal:subscription_succeeded","channel":"room","data":"{}"}"#,
                "subscription_succeeded room", .reply
            ),
            (
                .toClient,
                #"{"event":"eventflit_internal:subscription_succeeded","channel":"presence-x","data":"{\"presence\":{\"count\":2,\"ids\":[\"7\",\"8\"],\"hash\":{\"7\":{\"name\":\"a\"},\"8\":null}}}"}"#,
                "subscription_succeeded presence-x with 2 members: 7, 8", .reply
            ),
            (
                .toClient,
                #"{"event":"eventflit_internal:member_added","channel":"presence-x","data":"{\"user_id\":\"9\",\"user_info\":{\"name\":\"c\"}}"}"#,
                #"member_added presence-x 9 {"name":"c"}"#, .push
            ),
            (
                .toClient,
                #"{"event":"eventflit_internal:member_removed","channel":"presence-x","data":"{\"user_id\":\"9\"}"}"#,
                "member_removed presence-x 9", .push
            ),
            (
                .toServer, #"{"event":"client-typing","channel":"private-room","data":{"user":"ada"}}"#,
                #"client-typing on private-room {"user":"ada"}"#, .send
            ),
            (
                .toClient,
                #"{"event":"client-typing","channel":"presence-x","data":"{\"user\":\"ada\"}","user_id":"7"}"#,
                #"client-typing on presence-x {"user":"ada"} of 7"#, .push
            ),
            (.toClient, #"{"event":"order","channel":"room","data":"{\"id\":1}"}"#, #"order on room {"id":1}"#, .push),
            (.toClient, #"{"event":"order","channel":"room","data":"plain"}"#, #"order on room "plain""#, .push),
            (.toServer, #"{"event":"eventflit:unsubscribe","data":{"channel":"room"}}"#, "unsubscribe room", .cancel),
            (.toServer, #"{"event":"eventflit:ping","data":{}}"#, "ping", .keepalive),
            (.toClient, #"{"event":"eventflit:pong","data":{}}"#, "pong", .keepalive),
            (
                .toClient, #"{"event":"eventflit:error","data":{"code":4001,"message":"Could not find app by key"}}"#,
                "error 4001 Could not find app by key", .close
            ),
            (
                .toClient, #"{"event":"eventflit:error","data":{"code":4301,"message":"too fast"}}"#,
                "error 4301 too fast",
                .push
            ),
            (
                .toServer, #"{"event":"pusher:signin","data":{"auth":"k:0","user_data":"{\"id\":\"1\"}"}}"#,
                #"signin {"id":"1"}"#, .request
            ),
            (.toClient, #"{"event":"pusher:cache_miss","channel":"cache-a"}"#, "cache_miss cache-a", .push),
        ]
        for (direction, text, summary, role) in said {
            let message = codec.hear(direction, text)
            #expect(message.summary == summary && message.role == role)
        }
    }

    @Test func fieldsForRules() throws {
        var codec = codec()
        let event = codec.hear(.toClient, #"{"event":"order","channel":"private-a","data":"{\"id\":7}"}"#)
        for filter in ["order", "private-a", "order[channel=private-a]", "order[/data/id=7]", "message[event=order]"] {
            let selector = try Selector(parsing: filter, from: RuleSource(file: "--filter"))
            #expect(selector.matches(event), "\(filter)")
        }
        for filter in ["orders", "order[channel=private-b]", "order[/data/id=8]"] {
            let selector = try Selector(parsing: filter, from: RuleSource(file: "--filter"))
            #expect(!selector.matches(event), "\(filter)")
        }
        #expect(event.title == #"order on private-a {"id":7}"#)
    }

    /// An error that names a channel answers its subscription; one that does not is nobody's answer.
    @Test func errorsOfSubscriptions() {
        var codec = codec()
        _ = codec.hear(.toServer, #"{"event":"pusher:subscribe","data":{"channel":"private-a"}}"#)
        _ = codec.hear(.toServer, #"{"event":"pusher:subscribe","data":{"channel":"private-abc"}}"#)
        let text = #"{"event":"pusher:error","data":{"code":null,"message":"Existing subscription to channel NAME"}}"#
        let longer = codec.hear(.toClient, text.replacing("NAME", with: "private-abc"))
        #expect(longer.chain == Chain("private-abc", origin: .toServer) && longer.role == .reply)
        let other = codec.hear(.toClient, text.replacing("NAME", with: "nothing"))
        #expect(other.chain == nil && other.role == .push)
        let shorter = codec.hear(.toClient, text.replacing("NAME", with: "private-a"))
        #expect(shorter.chain == Chain("private-a", origin: .toServer))
        #expect(codec.hear(.toClient, text.replacing("NAME", with: "private-a")).role == .push)
    }

    @Test func whatIsNoMessage() {
        var codec = codec()
        for (direction, text) in [
            (Direction.toServer, "{}"), (.toServer, "[]"), (.toServer, #"{"event":1}"#), (.toServer, #"{"event":"x"}"#),
            (.toServer, #"{"event":"pusher:subscribe","data":{}}"#), (.toServer, #"{"event":"pusher:other"}"#),
            (.toServer, #"{"event":"pusher:subscribe","data":{"channel":1}}"#),
            (.toClient, #"{"event":"pusher:connection_established","data":"x"}"#),
            (.toClient, #"{"event":"pusher_internal:member_added","data":"{}"}"#),
            (.toClient, #"{"event":"a","channel":7}"#), (.toServer, ""),
        ] {
            let message = codec.hear(direction, text)
            #expect(message.role == .opaque && !message.summary.isEmpty, "\(text)")
        }
    }

    // MARK: Writing

    private func written(_ codec: EventflitCodec, _ message: Message, _ ids: IDMap = IDMap()) -> String {
        var out: [UInt8] = []
        _ = codec.write(message, ids: ids, on: .ws, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    @Test func announcedInterval() {
        var codec = codec()
        let text =
            #"{"event":"pusher:connection_established", "data":"{\"socket_id\":\"1.2\",\"activity_timeout\":120}"}"#
        let established = codec.hear(.toClient, text)
        #expect(written(codec, established) == text)
        #expect(codec.keepalive?.every == 120_000_000_000)
        var settings = CodecSettings()
        settings.keepalive = 2_000_000_000
        codec.configure(settings)
        #expect(written(codec, established) == text.replacing(":120}", with: ":2}"))
        settings.keepalive = 250_000_000
        codec.configure(settings)
        #expect(written(codec, established) == text.replacing(":120}", with: ":0.25}"))
    }

    @Test func otherSocketID() {
        var codec = codec()
        let established = codec.hear(
            .toClient, #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"12.34\"}"}"#)
        let members =
            #"{"event":"pusher_internal:member_added","channel":"presence-a","data":"{\"user_id\":\"u12.34\",\"user_info\":{\"a\":\"112.34\",\"b\":12.345}}"}"#
        let added = codec.hear(.toClient, members)
        var ids = IDMap()
        ids.bind(Chain("12.34", origin: .toClient), to: "13.34")
        #expect(written(codec, established, ids).contains(#"\"13.34\""#))
        #expect(written(codec, added, ids) == members.replacing("u12.34", with: "u13.34"))
        #expect(EventflitCodec.vary("99.5", 1) == "00.6" && EventflitCodec.vary("12.34", 1) == "22.34")
    }

    /// The live id of a client has the name that the recorded one has.
    @Test func usersNamedBySocket() {
        func key(_ id: String) -> String {
            var codec = codec()
            _ = codec.hear(.toClient, #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"\#(id)\"}"}"#)
            return codec.hear(
                .toServer,
                #"{"event":"pusher:subscribe","data":{"channel":"presence-a","channel_data":"{\"user_id\":\"\#(id)\"}"}}"#
            ).matchKey
        }
        #expect(key("1.2") == key("3.4"))
    }

    @Test func answers() throws {
        var codec = codec()
        let ping = codec.hear(.toServer, #"{"event": "eventflit:ping", "data": ""}"#)
        #expect(
            codec.pong(to: ping).map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"event":"eventflit:pong","data":"{}"}"#)
        #expect(codec.pong(to: codec.hear(.toServer, #"{"event":"eventflit:pong","data":{}}"#)) == nil)
        let asked = codec.hear(.toServer, #"{"event":"eventflit:subscribe","data":{"channel":"a\"b"}}"#)
        let refusal = try #require(codec.refusal(of: asked, reason: "not on the tape"))
        let said = codec.hear(.toClient, String(decoding: refusal.payload, as: UTF8.self))
        #expect(said.type == "subscription_error" && said.channel == "a\"b")
        #expect(said.content["data"]?["error"] == .string("not on the tape"))
        let typing = codec.hear(.toServer, #"{"event":"client-a","channel":"private-a","data":{}}"#)
        #expect(codec.refusal(of: typing, reason: "no") != nil)
        let gone = codec.hear(.toServer, #"{"event":"eventflit:unsubscribe","data":{"channel":"a"}}"#)
        #expect(codec.refusal(of: gone, reason: "no") == nil)
    }

    /// Data that is changed is a text again; data that is not stays as it was.
    @Test func encodedTwice() {
        var codec = codec()
        let event = codec.hear(.toClient, #"{"event":"order","channel":"room","data":"{ \"id\": 1 }"}"#)
        var content = event.content
        content["channel"] = .string("other")
        #expect(
            EventflitCodec.encode(content, like: event).map { String(decoding: $0, as: UTF8.self) }
                == #"{"event":"order","channel":"other","data":"{ \"id\": 1 }"}"#)
        content["data"] = .object([.init("id", .number(2))])
        #expect(
            EventflitCodec.encode(content, like: event).map { String(decoding: $0, as: UTF8.self) }
                == #"{"event":"order","channel":"other","data":"{\"id\":2}"}"#)
    }

    // MARK: Openings

    @Test func claims() {
        #expect(
            EventflitCodec.claim(ContractSamples.upgrade("/app/KEY?client=Pysher&version=1.0.7&protocol=6")) == .likely)
        #expect(EventflitCodec.claim(ContractSamples.upgrade("/base/app/KEY?protocol=7")) == .likely)
        #expect(EventflitCodec.claim(ContractSamples.upgrade("/app/chat")) == .no)
        var said = ContractSamples.upgrade("/app/KEY")
        said.firstPayload = Array(#"{"event":"eventflit:subscribe","data":{"channel":"a"}}"#.utf8)
        #expect(EventflitCodec.claim(said) == .certain)
        said = ContractSamples.upgrade("/app/KEY?protocol=7")
        said.firstPayload = Array(#"{"event":"hello"}"#.utf8)
        #expect(EventflitCodec.claim(said) == .no)
        #expect(EventflitCodec.claim(ContractSamples.upgrade("/application/KEY")) == .no)
        #expect(EventflitCodec.claim(StreamOpening(request: RequestHead(method: "GET", target: "/app/KEY"))) == .no)
        let poll = RequestHead(method: "POST", target: "/pusher/app/KEY/12/abcdefgh/xhr?protocol=7&t=1&n=2")
        #expect(EventflitCodec.kind(poll) == .poll && EventflitCodec.route(poll) == "/app/KEY")
        #expect(EventflitCodec.sessionKey(StreamOpening(request: poll)) == "12/abcdefgh")
        let stream = RequestHead(method: "POST", target: "/eventflit/app/KEY/999/zzzzzzzz/xhr_streaming")
        #expect(EventflitCodec.kind(stream) == .stream)
        let publish = RequestHead(method: "POST", target: "/apps/1/events")
        #expect(EventflitCodec.kind(publish) == .other)
    }
}
