import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct EventflitAuthTests {
    /// Name, secret, what is signed, hexadecimal: V1 to V9 of the reference page. V1 and V2 are Pusher's own.
    static let vectors: [(String, String, (id: String, channel: String, data: String?), String)] = [
        (
            "V1", "7ad3773142a6692b25b8", ("1234.1234", "private-foobar", nil),
            "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"
        ),
        (
            "V2", "7ad3773142a6692b25b8",
            ("1234.1234", "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#),
            "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
        ),
        (
            "V3", "secret", ("45481.3166671", "private-test-channel", nil),
            "0d0d2e7c2cd967246d808180ef0f115dad51979e48cac9ad203928141f9e6a6f"
        ),
        (
            "V4", "secret", ("45481.3166671", "presence-channel", #"{"user_id":"45481.3166671"}"#),
            "5ce61ee2b8594e22b66323913d7c7af9d8e815659365be3627733993f4ce3824"
        ),
        (
            "V5", "superSecretSecret", ("45481.3166671", "private-channel", nil),
            "e1d0947a10d6ff1a25990798910b2505687bb096e3e8b6c97eef02c6b1abb4c7"
        ),
        (
            "V6", "replay-secret", ("1111.2222", "private-orders", nil),
            "a5a38581be2625b5e7cb96c648d70aeeb8c201402ede233102fc3fc70a77d679"
        ),
        (
            "V7", "replay-secret", ("3333.4444", "private-orders", nil),
            "c1efc38ed3b9334f1319322cf31dfc050dd54723220abd498e8a22949294d258"
        ),
        (
            "V8", "replay-secret",
            ("3333.4444", "presence-room@1;x=2", #"{"user_id":"u-7","user_info":{"name":"Zoë \"Q\""}}"#),
            "a0ace1b2dbe3ff9ff7178bc283fcb245112f0070be86c43c04e6e34d910385b8"
        ),
        (
            "V9", "replay-secret",
            ("3333.4444", "presence-room@1;x=2", #"{"user_info":{"name":"Zoë \"Q\""},"user_id":"u-7"}"#),
            "5b8df40fb15b71783e99b14f1334c9fba0343f7efe9670030c299801af070d79"
        ),
    ]

    @Test(arguments: vectors.indices) func vector(_ i: Int) {
        let (name, secret, signed, hex) = Self.vectors[i]
        let mine = EventflitCodec.signature(
            secret: secret, socketID: signed.id, channel: signed.channel, channelData: signed.data)
        #expect(mine == hex, "\(name)")
    }

    /// V10, which signs a user: `SOCKET_ID::user::USER_DATA` is what a channel `:user` and data `:…` would be.
    @Test func userVector() {
        let mac = HMACSHA256.hash(
            Array(#"1234.1234::user::{"id":"12345"}"#.utf8).span, key: Array("7ad3773142a6692b25b8".utf8).span)
        #expect(hexText(mac) == "4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba")
    }

    /// RFC 4231, cases 2 and 6: short keys are filled up, long ones hashed.
    @Test func keysOfAllLengths() {
        let short = HMACSHA256.hash(Array("what do ya want for nothing?".utf8).span, key: Array("Jefe".utf8).span)
        #expect(hexText(short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = HMACSHA256.hash(
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8).span,
            key: [UInt8](repeating: 0xaa, count: 131).span)
        #expect(hexText(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    // MARK: Subscriptions

    private func codec(_ id: String = "3333.4444") -> EventflitCodec {
        var codec = EventflitCodec(ContractSamples.upgrade("/app/KEY?protocol=7"))
        var settings = CodecSettings()
        settings.secrets = ["KEY": "replay-secret"]
        codec.configure(settings)
        _ = codec.hear(
            .toClient, #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"\#(id)\"}"}"#)
        return codec
    }

    private static let subscribe =
        #"{"event":"pusher:subscribe","data":{"channel":"presence-room@1;x=2","auth":"KEY:SIGNATURE","channel_data":"DATA"}}"#

    private func subscribe(_ signature: String, _ data: String) -> String {
        let text = JSONValue.string(data).text.dropFirst().dropLast()
        return Self.subscribe.replacing("SIGNATURE", with: signature).replacing("DATA", with: text)
    }

    /// The same data in another order is another text: what was signed is what was sent.
    @Test func signedAsItWasSent() throws {
        let (v8, v9) = (Self.vectors[7], Self.vectors[8])
        var codec = codec()
        let good = codec.hear(.toServer, subscribe(v8.3, v8.2.data ?? ""))
        #expect(good.meaning["signature"] == nil)
        let alsoGood = codec.hear(.toServer, subscribe(v9.3, v9.2.data ?? ""))
        #expect(alsoGood.matchKey == good.matchKey)
        let bad = codec.hear(.toServer, subscribe(v8.3, v9.2.data ?? ""))
        #expect(bad.meaning["signature"] != nil && bad.matchKey != good.matchKey)
        let refusal = try #require(codec.refusal(of: bad, reason: "no"))
        let said = codec.hear(.toClient, String(decoding: refusal.payload, as: UTF8.self))
        #expect(said.type == "error" && said.channel == "presence-room@1;x=2" && said.role == .reply)
        #expect(said.content["data"]?["message"]?.string?.hasPrefix("Invalid signature: Expected HMAC SHA256") == true)
    }

    /// Swift clients of 2018 write the key in lower case.
    @Test func keysWithoutCase() {
        var codec = codec()
        let text = subscribe(Self.vectors[7].3, Self.vectors[7].2.data ?? "").replacing("KEY:", with: "key:")
        #expect(codec.hear(.toServer, text).meaning["signature"] == nil)
    }

    /// Nobody checks what cannot be checked: other keys, public channels, no secret.
    @Test func unknownIsNotChecked() {
        var codec = codec()
        let text = subscribe("00", "{}")
        #expect(codec.hear(.toServer, text).meaning["signature"] != nil)
        #expect(codec.hear(.toServer, text.replacing("KEY", with: "OTHER")).meaning["signature"] == nil)
        #expect(codec.hear(.toServer, text.replacing("presence-", with: "public-")).meaning["signature"] == nil)
        codec.configure(CodecSettings())
        #expect(codec.hear(.toServer, text).meaning["signature"] == nil)
    }

    // MARK: The endpoint

    private func ask(_ body: String, method: String = "POST", query: String = "", answer: String = "") -> StreamOpening
    {
        StreamOpening(
            request: RequestHead(method: method, target: "/pusher/auth\(query)"), requestBody: Array(body.utf8),
            responseBody: Array(answer.utf8))
    }

    @Test func sideRequests() throws {
        let form = try #require(EventflitCodec.sideRequest(ask("socket_id=1.2&channel_name=private-a%3Db&x=1")))
        let json = try #require(
            EventflitCodec.sideRequest(ask(#"{"x":"1","channel_name":"private-a=b","socket_id":"3.4"}"#)))
        #expect(form.meaning.canonicalText == json.meaning.canonicalText && form.session == "1.2")
        let script = try #require(
            EventflitCodec.sideRequest(
                ask("", method: "GET", query: "?callback=f1&socket_id=5.6&channel_name=private-a%3Db&x=1")))
        #expect(script.meaning.canonicalText == form.meaning.canonicalText && script.session == "5.6")
        for other in ["", "a=b", "socket_id=abc&channel_name=x", #"{"socket_id":12.5}"#, "[1]", "socket_id=1.2.3"] {
            #expect(EventflitCodec.sideRequest(ask(other)) == nil)
        }
        #expect(EventflitCodec.sideRequest(ask("", method: "GET", query: "?socket_id=5.6")) == nil)
    }

    @Test func renewed() throws {
        var settings = CodecSettings()
        settings.secrets = ["key": "replay-secret"]
        let answer = #"{"auth": "key:\#(Self.vectors[5].3)", "other" : 1}"#
        let recorded = ask("socket_id=1111.2222&channel_name=private-orders", answer: answer)
        let live = ask("socket_id=3333.4444&channel_name=private-orders")
        func renewed(_ live: StreamOpening, _ settings: CodecSettings) -> String {
            String(
                decoding: EventflitCodec.renewed(recorded.responseBody, of: recorded, for: live, settings),
                as: UTF8.self)
        }
        #expect(renewed(live, settings) == #"{"auth": "key:\#(Self.vectors[6].3)", "other" : 1}"#)
        #expect(renewed(live, CodecSettings()) == answer)
        #expect(renewed(recorded, settings) == answer)
    }

    /// The channel's data in an answer is signed as it stands, escapes undone.
    @Test func renewedWithChannelData() throws {
        var settings = CodecSettings()
        settings.secrets = ["KEY": "replay-secret"]
        let data = try #require(Self.vectors[7].2.data)
        let answer = #"f1({"auth":"KEY:00","channel_data":\#(JSONValue.string(data).text)});"#
        let query = "?callback=f1&channel_name=presence-room@1;x=2&socket_id="
        let recorded = ask("", method: "GET", query: query + "1.1", answer: answer)
        let live = ask("", method: "GET", query: (query + "3333.4444").replacing("f1", with: "f[2]"))
        let body = EventflitCodec.renewed(recorded.responseBody, of: recorded, for: live, settings)
        let expected = answer.replacing("f1(", with: "f[2](").replacing(":00", with: ":\(Self.vectors[7].3)")
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }
}

extension FrameCodec {
    /// The one message of a text.
    mutating func hear(_ direction: Direction, _ text: String) -> Message {
        let messages = read(.init(direction: direction, bytes: Array(text.utf8)))
        #expect(messages.count == 1)
        return messages[0]
    }
}
