import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What requests are, whose they are, and what they are answered.
@Suite struct AtmosphereOpeningTests {
    private static let id = Atmosphere.id

    @Test func kinds() {
        func kind(_ transport: String, id: String = Atmosphere.id, method: String = "GET", _ more: String = "")
            -> ExchangeKind
        {
            AtmosphereCodec.kind(Atmosphere.request(transport, id: id, method: method, more))
        }
        #expect(kind("long-polling", id: "0") == .poll && kind("LONG_POLLING") == .poll && kind("jsonp") == .poll)
        #expect(kind("streaming") == .stream && kind("sse") == .stream && kind("websocket") == .upgrade)
        #expect(kind("polling", method: "POST") == .send && kind("long-polling", method: "POST") == .send)
        #expect(kind("jsonp", "&X-Atmosphere-Post-Body=hi") == .send)
        #expect(kind("close") == .end && kind("close", method: "POST") == .end)
        #expect(kind("polling") == .other && kind("webtransport") == .other)
        // Nobody's: the server makes an id for it and forgets that.
        #expect(kind("polling", id: "0", method: "POST") == .other && kind("close", id: "0") == .other)
        #expect(kind("sse", method: "OPTIONS") == .preflight)
        #expect(AtmosphereCodec.kind(RequestHead(method: "GET", target: "/chat?id=1")) == .other)
        let bare = RequestHead(
            method: "GET", target: "/chat",
            headers: [HeaderField("x-atmosphere-tracking-id", Self.id), HeaderField("Accept", "text/event-stream")])
        #expect(AtmosphereCodec.kind(bare) == .stream && AtmosphereCodec.transport(bare) == .sse)
        // Behind a proxy that strips the upgrade it is answered with nothing.
        let stripped = RequestHead(method: "GET", target: Atmosphere.request("websocket").target)
        #expect(AtmosphereCodec.kind(stripped) == .other)
    }

    @Test func theIdIsTheRequestsOrTheAnswers() {
        func key(_ transport: String, id: String, _ answer: ResponseHead? = nil) -> String? {
            AtmosphereCodec.sessionKey(
                StreamOpening(request: Atmosphere.request(transport, id: id), response: answer))
        }
        let answer = ResponseHead(status: 200, headers: [HeaderField("X-Atmosphere-tracking-id", "a \(Self.id)")])
        #expect(key("sse", id: Self.id) == Self.id && key("sse", id: "0") == nil)
        #expect(key("sse", id: "0", answer) == Self.id && key("long-polling", id: "0", answer) == Self.id)
        #expect(key("long-polling", id: "0", ResponseHead(status: 501, headers: answer.headers)) == nil)
        #expect(key("websocket", id: "0", ResponseHead(status: 101)) == nil)
        let header = RequestHead(
            method: "POST", target: "/chat",
            headers: [HeaderField("X-ATMOSPHERE-TRACKING-ID", "7"), HeaderField("X-Atmosphere-Transport", "polling")])
        #expect(AtmosphereCodec.sessionKey(StreamOpening(request: header)) == "7")
    }

    /// The server sends the id only in the handshake of the body, after padding. The body arrives in pieces of `size` bytes.
    @Test(arguments: ["sse", "streaming"], [1, 7, 10_000]) func findsTheIDInTheBody(_ transport: String, _ size: Int) {
        func event(_ text: String) -> String { transport == "sse" ? "data: \(text)\n\n" : text }
        let handshake = "\(Self.id)|0|X|"
        let padding = transport == "sse" ? "" : String(repeating: " ", count: 4_098)
        let body = padding + event("\(handshake.utf8.count)|\(handshake)") + event("2|hi")
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        var number: UInt64 = 0
        func read(_ connection: UInt32, _ kind: TapeEvent.Kind) {
            number += 1
            reader.read(TapeEvent(time: number, connection: connection, kind), number: number, into: &messages)
        }
        read(1, .request(x: 1, Atmosphere.request(transport), .none))
        let type = transport == "sse" ? "text/event-stream" : "text/plain"
        let head = ResponseHead(status: 200, headers: [HeaderField("Content-Type", type)])
        read(1, .response(x: 1, head, .streamed, interim: false, coding: nil, proxy: false))
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            read(1, .chunk(x: 1, .toClient, Array(bytes[start..<min(start + size, bytes.count)])))
        }
        let push = Atmosphere.request("polling", id: Self.id, method: "POST")
        read(2, .request(x: 1, push, .whole(Array("hello".utf8))))
        let sessions = reader.finish()
        #expect(sessions.map(\.serverIDs?.token) == [Self.id])
        #expect(messages.map(\.message).texts == ["hi", "hello"] && Set(messages.map(\.session)) == [1])
    }

    /// graphql-sse has `?token=` in the requests of its streams, too.
    @Test func anItemOfAnotherProtocolChangesNothing() {
        let reader = SessionReader(codecs: Codecs.all)
        let accepts = [HeaderField("Accept", "text/event-stream")]
        let token = RequestHead(method: "GET", target: "/graphql/stream?token=secret", headers: accepts)
        #expect(reader.names(of: StreamOpening(request: token)).map(\.codec.id) == ["graphql"])
        var opening = StreamOpening(request: Atmosphere.request("sse", "&token=secret", accepts))
        #expect(reader.names(of: opening).isEmpty)
        opening.response = ResponseHead(
            status: 200,
            headers: [
                HeaderField("X-Atmosphere-tracking-id", Self.id), HeaderField("Content-Type", "text/event-stream"),
            ])
        #expect(reader.names(of: opening).map(\.codec.id) == ["atmosphere"])
    }

    @Test func pushes() {
        let jsonp = Atmosphere.request("jsonp", id: Self.id, "&X-Atmosphere-Post-Body=h%C3%A9%20")
        #expect(AtmosphereCodec.payload(of: StreamOpening(request: jsonp)) == Array("hé ".utf8))
        let post = Atmosphere.request("polling", id: Self.id, method: "POST")
        #expect(AtmosphereCodec.payload(of: StreamOpening(request: post, requestBody: [1, 2])) == [1, 2])
    }

    @Test func answers() {
        var codec = Atmosphere.codec("long-polling")
        _ = codec.read(String(repeating: " ", count: 2_048) + "\n41|\(Self.id)|0|X|")
        let place = CarrierPlace(id: Self.id)
        let first = Atmosphere.request("long-polling")
        let begun = codec.answer(.pollBegun, to: first, in: place)
        #expect(begun.body.count == 2_049 && begun.headers.first("Content-Type") == "text/plain")
        #expect(begun.headers.first("X-Atmosphere-tracking-id") == Self.id)
        #expect(begun.headers.first("X-Atmosphere-first-request") == "true")
        #expect(codec.greeting(first, id: Self.id).map(\.payload) == [Array("41|\(Self.id)|0|X|".utf8)])
        let later = codec.serving(StreamOpening(request: Atmosphere.request("long-polling", id: Self.id)))
        let poll = later.answer(.pollBegun, to: Atmosphere.request("long-polling", id: Self.id), in: place)
        #expect(poll.headers.first("Content-Type") == nil && poll.headers.first("X-Atmosphere-first-request") == nil)
        let events = codec.serving(StreamOpening(request: Atmosphere.request("sse")))
        let stream = events.answer(.stream, to: Atmosphere.request("sse"), in: place)
        #expect(stream.body.count == 2_001)
        #expect(stream.headers.first("Content-Type") == "text/event-stream;charset=utf-8")
        let socket = codec.serving(StreamOpening(request: Atmosphere.request("websocket", id: Self.id)))
        #expect(
            socket.greeting(Atmosphere.request("websocket", id: Self.id), id: Self.id).map(\.payload.count) == [4_098])
        // If no recorded connection began with blanks, the replay sends none.
        let request = Atmosphere.request("websocket", id: Self.id)
        var bare = Atmosphere.greeted("websocket")
        #expect(bare.serving(StreamOpening(request: request)).greeting(request, id: Self.id).isEmpty)
        bare.carried(by: StreamOpening(request: request))
        _ = bare.read(String(repeating: " ", count: 100))
        #expect(
            bare.serving(StreamOpening(request: request)).greeting(request, id: Self.id).map(\.payload.count) == [100])
        let refused = AtmosphereCodec.answer(.notOffered, to: first)
        #expect(refused.status == 501 && refused.headers.first("X-Atmosphere-error") != nil)
    }

    /// What a client asks for decides: lengths, and the shape of the handshake's generation.
    @Test func aClientWithoutLengths() {
        var codec = Atmosphere.greeted("websocket")
        let message = codec.read("10|héllo € 😀")[0]
        let plain = Atmosphere.request("sse", lengths: false)
        let live = codec.serving(StreamOpening(request: plain))
        #expect(live.greeting(plain, id: "x").map { String(decoding: $0.payload, as: UTF8.self) } == ["x|0|X|"])
        var out: [UInt8] = []
        _ = live.write(message, ids: IDMap(), on: .sse, into: &out)
        #expect(String(decoding: out, as: UTF8.self) == "héllo € 😀")
        var event: [UInt8] = []
        AtmosphereCodec.frame(Array("11|line1\r\nline2".utf8).span, on: .sse, into: &event)
        #expect(String(decoding: event, as: UTF8.self) == "data:11|line1\r\ndata:line2\r\n\r\n")
    }

    /// 2.0 tells a client the time of what it has, and gives it what came later.
    @Test func cacheDates() {
        let handshake = Atmosphere.request("long-polling", lengths: false)
        var codec = AtmosphereCodec(StreamOpening(request: handshake))
        _ = codec.read("\(Self.id)|1795199865770")
        let dated = ResponseHead(status: 200, headers: [HeaderField("X-Cache-Date", "1000")])
        let poll = Atmosphere.request("long-polling", id: Self.id, lengths: false, "&X-Cache-Date=0")
        codec.carried(by: StreamOpening(request: poll, response: dated))
        let answer = codec.answer(.poll([0x61], .text), to: poll, in: CarrierPlace(id: Self.id, sent: 3))
        #expect(answer.headers.first("X-Cache-Date") == "1003")
        func missed(_ date: Int) -> Int {
            codec.missed(
                Atmosphere.request("long-polling", id: Self.id, "&X-Cache-Date=\(date)"),
                in: CarrierPlace(id: Self.id, sent: 5))
        }
        #expect(missed(1_003) == 2 && missed(1_005) == 0 && missed(0) == 0 && missed(2_000) == 0)
    }

    @Test func idsAreVariedInTheirShape() {
        let ids = (0..<1_000).map { AtmosphereCodec.vary(Self.id, $0) }
        #expect(ids[0] == Self.id && Set(ids).count == 1_000)
        #expect(ids.allSatisfy { $0.utf8.count == 36 && $0.allSatisfy { $0 == "-" || $0.isHexDigit } })
    }
}
