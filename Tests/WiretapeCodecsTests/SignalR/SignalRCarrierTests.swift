import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Statuses, headers and bodies as a running ASP.NET Core 10.0.12 gave them to curl.
@Suite struct SignalRCarrierTests {
    private static let cache = [
        HeaderField("Cache-Control", "no-cache, no-store"), HeaderField("Expires", "Thu, 01 Jan 1970 00:00:00 GMT"),
        HeaderField("Pragma", "no-cache"),
    ]
    private static let text = HeaderField("Content-Type", "text/plain")
    private static let bytes = HeaderField("Content-Type", "application/octet-stream")

    private let poll = RequestHead(method: "GET", target: "/hub?id=t&_=1")
    private let send = RequestHead(method: "POST", target: "/hub?id=t")
    private let end = RequestHead(method: "DELETE", target: "/hub?id=t")
    private let stream = RequestHead(
        method: "GET", target: "/hub?id=t", headers: [HeaderField("Accept", "text/event-stream")])
    private let upgrade = RequestHead(
        method: "GET", target: "/hub?id=t", headers: [HeaderField("Upgrade", "websocket")])

    private func expect(
        _ what: CarrierAnswer, _ head: RequestHead, _ status: Int, _ headers: [HeaderField], _ body: String = "",
        _ place: SourceLocation = #_sourceLocation
    ) {
        let answer = SignalRCodec.answer(what, to: head)
        #expect(answer.status == status, sourceLocation: place)
        #expect(answer.headers == headers, sourceLocation: place)
        #expect(String(decoding: answer.body, as: UTF8.self) == body, sourceLocation: place)
    }

    @Test func polls() {
        expect(.pollOpened, poll, 200, [Self.bytes] + Self.cache)
        expect(.poll(Array("{}\u{1e}".utf8), .text), poll, 200, [Self.bytes] + Self.cache, "{}\u{1e}")
        expect(.pollEmpty, poll, 200, [Self.text] + Self.cache)
        expect(.pollEnd, poll, 204, [Self.text] + Self.cache)
        expect(.pollSuperseded, poll, 204, [Self.text] + Self.cache)
        expect(.ended, end, 202, [Self.text])
        expect(.sent, send, 200, [Self.text])
        #expect(
            SignalRCodec.polling == Polling(opensAtOnce: true, timeout: 90_000_000_000, hasKeepalives: false))
    }

    @Test func refusals() {
        expect(.missingID, poll, 400, [Self.text] + Self.cache, "Connection ID required")
        expect(.missingID, send, 400, [Self.text], "Connection ID required")
        expect(.unknownID, poll, 404, [Self.text] + Self.cache, "No Connection with that ID")
        expect(.unknownID, stream, 404, [Self.text], "No Connection with that ID")
        expect(.unknownID, end, 404, [Self.text], "No Connection with that ID")
        expect(.wrongTransport, poll, 400, [Self.text] + Self.cache, "Cannot change transports mid-connection")
        expect(.wrongTransport, upgrade, 400, [Self.text], "Cannot change transports mid-connection")
        expect(
            .wrongTransport, end, 400, [Self.text], "Cannot terminate this connection using the DELETE endpoint.")
        expect(.conflict, stream, 409, [Self.text])
        expect(.notAllowed, send, 405, [Self.text], "POST requests are not allowed for WebSocket connections.")
        expect(.notAllowed, RequestHead(method: "PUT", target: "/hub?id=t"), 405, [Self.text])
        let names = [(poll, "LongPolling"), (stream, "ServerSentEvents"), (upgrade, "WebSockets")]
        for (head, name) in names {
            let answer = SignalRCodec.answer(.notOffered, to: head)
            #expect(answer.status == 404)
            #expect(answer.body.starts(with: name.utf8))
        }
    }

    @Test func eventStream() {
        expect(
            .stream, stream, 200,
            [
                HeaderField("Content-Type", "text/event-stream"), HeaderField("Cache-Control", "no-cache,no-store"),
                HeaderField("Content-Encoding", "identity"), HeaderField("Pragma", "no-cache"),
            ], ":\r\n")
    }

    @Test(arguments: [
        ("{\"type\":6}\u{1e}", "data: {\"type\":6}\u{1e}\r\n\r\n"),
        ("a\r\nb\nc", "data: a\r\ndata: b\r\ndata: c\r\n\r\n"),
        ("a\n", "data: a\r\ndata: \r\n\r\n"), ("", "data: \r\n\r\n"), ("a\rb", "data: a\rb\r\n\r\n"),
    ])
    func events(_ payload: String, _ framed: String) {
        var out = Array("before ".utf8)
        SignalRCodec.frame(Array(payload.utf8).span, on: .sse, into: &out)
        #expect(String(decoding: out, as: UTF8.self) == "before " + framed)
    }

    @Test func eventsReadBack() {
        var out = Array(":\r\n".utf8)
        SignalRCodec.frame(Array("{\"type\":6}\u{1e}{}\u{1e}".utf8).span, on: .sse, into: &out)
        var reader = SSEReader()
        guard case .comment(_, let next) = reader.feed(out.span, from: 0) else { return #expect(Bool(false)) }
        #expect(
            reader.feed(out.span, from: next)
                == .event(SSEEvent(data: Array("{\"type\":6}\u{1e}{}\u{1e}".utf8)), next: out.count - 1))
    }

    @Test func transportsByHubProtocol() {
        var talk = SignalRTalk()
        #expect(talk.codec.transports == [.ws, .sse, .lp])
        _ = talk.toServer(#"{"protocol":"messagepack","version":1}"#)
        #expect(talk.codec.transports == [.ws, .lp])
        _ = talk.toServer(#"{"protocol":"json","version":1}"#)
        #expect(talk.codec.transports == [.ws, .sse, .lp])
    }

    /// moozzyk's client sends JSON in binary frames; answers that came in binary frames go out as text.
    @Test func jsonGoesOutAsText() {
        var talk = SignalRTalk()
        let messages = talk.payload(
            Array("{\"type\":6}\u{1e}{\"type\":1,\"target\":\"A\",\"arguments\":[]}\u{1e}".utf8),
            .toClient, .binary)
        for message in messages {
            var out: [UInt8] = []
            #expect(talk.codec.write(message, ids: IDMap(), on: .ws, into: &out) == .text)
            #expect(out == message.bytes)
        }
    }
}
