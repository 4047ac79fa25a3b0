import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// The HTTP fallbacks: SockJS frames around the messages.
@Suite struct EventflitCarrierTests {
    private func codec(_ call: String) -> EventflitCodec {
        EventflitCodec(
            StreamOpening(request: RequestHead(method: "POST", target: "/pusher/app/KEY/12/abcdefgh/\(call)?t=1&n=2")))
    }

    private static let frames = #"""
        o{"hostname":"h2"}
        a["{\"event\":\"pusher:connection_established\",\"data\":\"{\\\"socket_id\\\":\\\"1.2\\\"}\"}"]
        h
        a["{\"event\":\"a\",\"channel\":\"c\",\"data\":\"1\"}","{\"event\":\"b\",\"channel\":\"c\",\"data\":\"é\"}"]
        m"{\"event\":\"d\",\"channel\":\"c\"}"
        c[4200,"bye"]

        """#

    private static let summaries = [
        "open", "connection_established 1.2", "heartbeat", "a on c 1", "b on c \"é\"", "d on c", "close 4200 bye",
    ]

    @Test func wholeAndInPieces() {
        let bytes = Array(Self.frames.utf8)
        for size in [bytes.count, 1, 7, 64] {
            var codec = codec("xhr_streaming")
            var messages: [Message] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                messages += codec.read(.init(direction: .toClient, bytes: piece))
            }
            #expect(messages.map(\.summary) == Self.summaries)
            #expect(messages.map(\.role) == [.ack, .handshake, .keepalive, .push, .push, .push, .close])
        }
    }

    /// A poll's body is whole; a line of a stream may still grow.
    @Test func linesWithoutAnEnd() {
        let line = ContractSession.Payload(direction: .toClient, bytes: Array(#"a["{\"event\":\"a\"}"]"#.utf8))
        var poll = codec("xhr")
        #expect(poll.read(line).map(\.summary) == ["a"])
        var stream = codec("xhr_streaming")
        #expect(stream.read(line).isEmpty)
        #expect(stream.read(.init(direction: .toClient, bytes: [0x0a])).map(\.summary) == ["a"])
    }

    @Test func sent() {
        var codec = codec("xhr_streaming")
        func read(_ text: String) -> [Message] { codec.read(.init(direction: .toServer, bytes: Array(text.utf8))) }
        let asked = read(
            #"["{\"event\":\"pusher:subscribe\",\"data\":{\"channel\":\"a\"}}","{\"event\":\"pusher:ping\",\"data\":{}}"]"#
        )
        #expect(asked.map(\.summary) == ["subscribe a", "ping"])
        #expect(read("[]").map(\.role) == [.keepalive])
        #expect(read(#"{"event":"pusher:ping","data":{}}"#).map(\.summary) == ["ping"])
        for text in ["", "{}", "[1]", "["] { #expect(read(text).map(\.role) == [.opaque]) }
    }

    @Test func damagedFrames() {
        var codec = codec("xhr_streaming")
        for text in ["x\n", "a[1]\n", "a\n", "m1\n", "c\n", "c{}\n", "\n"] {
            let messages = codec.read(.init(direction: .toClient, bytes: Array(text.utf8)))
            #expect(messages.map(\.role) == [.opaque] && messages.first?.summary.isEmpty == false, "\(text)")
        }
        let endless = [UInt8](repeating: UInt8(ascii: "h"), count: 3 << 20)
        let kept = codec.read(.init(direction: .toClient, bytes: endless))
        #expect(kept.count == 3)
    }

    /// What was recorded over a WebSocket has a frame over HTTP, and the other way round.
    @Test func writtenForEachTransport() {
        var codec = codec("xhr_streaming")
        let text = #"{"event":"a","channel":"c","data":"\"é\n\""}"#
        let message = codec.message(Array(text.utf8), .text, .toClient)
        var (socket, stream) = ([UInt8](), [UInt8]())
        _ = codec.write(message, ids: IDMap(), on: .ws, into: &socket)
        _ = codec.write(message, ids: IDMap(), on: .stream, into: &stream)
        #expect(String(decoding: socket, as: UTF8.self) == text)
        #expect(codec.read(.init(direction: .toClient, bytes: stream)) == [message])
        var framed: [UInt8] = []
        EventflitCodec.frame(stream.span, on: .stream, into: &framed)
        #expect(framed == stream)
        framed = []
        EventflitCodec.frame(socket.span, on: .stream, into: &framed)
        #expect(framed == stream)
        let body = EventflitCodec.answer(
            .poll(socket + stream + socket, .text), to: RequestHead(method: "POST", target: "/")
        ).body
        #expect(body == stream + stream + stream)
    }
}
