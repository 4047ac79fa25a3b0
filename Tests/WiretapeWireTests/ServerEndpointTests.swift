import Testing
import WiretapeWire

struct ServerEndpointTests {
    /// A server's end that answers what it is asked at once, and what came of it.
    private struct Run {
        var events: [ServerEvent] = []
        var output: [UInt8] = []
        var text: String { String(decoding: output, as: UTF8.self) }
        var bodies: [String] {
            events.compactMap {
                if case .request(_, let body, _) = $0 { String(decoding: body, as: UTF8.self) } else { nil }
            }
        }
        var targets: [String] {
            events.compactMap { if case .request(let head, _, _) = $0 { head.target } else { nil } }
        }
    }

    private func run(
        _ pieces: [[UInt8]], fin: Bool = false,
        then: (inout ServerEndpoint, ServerEvent) -> Void = { endpoint, event in
            if case .ended(.closeFrame(let code, _)) = event {
                return endpoint.writer.close(code: code, reason: "good bye")
            }
            guard case .request(let head, _, let isUpgrade) = event else { return }
            if isUpgrade {
                endpoint.writer.upgrade([HeaderField("X", "y")], date: nil)
            } else {
                let answer = HTTPAnswer(status: 200, body: Array(head.target.utf8))
                endpoint.writer.answer(answer, thenClose: head.target == "/last", date: nil)
            }
        }
    ) -> Run {
        var endpoint = ServerEndpoint()
        var run = Run()
        for i in 0...pieces.count {
            if i < pieces.count {
                let piece = pieces[i]
                endpoint.received(piece.span)
            } else if fin {
                endpoint.receivedEnd()
            }
            while let event = endpoint.next() {
                run.events.append(event)
                then(&endpoint, event)
            }
            run.output += endpoint.writer.takeOutput()
        }
        return run
    }

    private func reply(_ text: String, _ more: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\(more)\r\n\(text)"
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() {
        let bytes = Array(
            """
            GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\
            POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n\
            HEAD /4 HTTP/1.1\r\nHost: x\r\n\r\nGET /last HTTP/1.1\r\nHost: x\r\n\r\nGET /never HTTP/1.1\r\nHost: x\r\n\r\n
            """.utf8)
        for way in pieces(of: bytes) {
            let run = run(way)
            #expect(run.targets == ["/1", "/2", "/3", "/4", "/last"])
            #expect(run.bodies == ["", "abc", "def", "", ""])
            #expect(run.events.last == .finish)
            #expect(
                run.text == reply("/1") + reply("/2") + reply("/3") + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                    + reply("/last", "Connection: close\r\n"))
        }
    }

    @Test func keepAliveOfHTTP10() {
        let once = run([Array("GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.0\r\n\r\n".utf8)])
        #expect(once.text == reply("/a", "Connection: close\r\n") && once.events.last == .finish)
        let kept = run([Array("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".utf8)])
        #expect(kept.text == reply("/a", "Connection: keep-alive\r\n") && kept.events.count == 1)
    }

    @Test func continueIsSentBeforeTheBody() {
        var endpoint = ServerEndpoint()
        var events: [ServerEvent] = []
        let head = Array("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8)
        endpoint.received(head.span)
        while let event = endpoint.next() { events.append(event) }
        #expect(String(decoding: endpoint.writer.takeOutput(), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(events == [])
        let body = Array("ab".utf8)
        endpoint.received(body.span)
        while let event = endpoint.next() { events.append(event) }
        #expect(events.count == 1 && endpoint.writer.owesAnswer)
    }

    @Test func whatComesWhileAnAnswerIsOwedWaits() {
        var endpoint = ServerEndpoint()
        var events: [ServerEvent] = []
        let two = Array("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        endpoint.received(two.span)
        while let event = endpoint.next() { events.append(event) }
        #expect(events.count == 1 && endpoint.pendingCount == two.count / 2 && endpoint.writer.outputCount == 0)
        endpoint.receivedEnd()
        while let event = endpoint.next() { events.append(event) }
        // The client may have shut down its sending side only: what it sent ahead comes before its end.
        #expect(events.count == 1)
        endpoint.writer.answer(HTTPAnswer(status: 204), thenClose: false, date: nil)
        while let event = endpoint.next() { events.append(event) }
        #expect(events.count == 3 && endpoint.writer.owesAnswer && events[2] == .ended(.fin))
        endpoint.writer.answer(HTTPAnswer(status: 204), thenClose: false, date: nil)
        while let event = endpoint.next() { events.append(event) }
        #expect(events.count == 4 && events[3] == .finish)
        #expect(
            String(decoding: endpoint.writer.takeOutput(), as: UTF8.self)
                == "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 505),
        ("GET /" + String(repeating: "a", count: 66_000), 414),
        ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 66_000), 431),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\nExpect: 100-continue\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 426),
        (
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: short\r\n\r\n", 400
        ),
    ])
    func badRequestsAreAnsweredAndTheConnectionEnds(text: String, status: Int) {
        let run = run([Array(text.utf8), Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)])
        #expect(run.text.hasPrefix("HTTP/1.1 \(status) \(statusText(status))\r\n"))
        #expect(run.text.contains("\r\nConnection: close\r\n") && run.text.contains("wiretape: "))
        #expect(run.events.last == .finish && run.targets == [])
    }

    @Test func chunkedBodiesOverTheLimit() {
        var endpoint = ServerEndpoint()
        var events: [ServerEvent] = []
        let head = Array("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        endpoint.received(head.span)
        while let event = endpoint.next() { events.append(event) }
        let piece = Array("100000\r\n".utf8) + [UInt8](repeating: 1, count: 1 << 20) + [13, 10]
        var sent = 0
        while events.isEmpty, sent < 100 {
            endpoint.received(piece.span)
            while let event = endpoint.next() { events.append(event) }
            sent += 1
        }
        #expect(sent == 65 && events.count == 2 && events.last == .finish)
        #expect(String(decoding: endpoint.writer.takeOutput(), as: UTF8.self).hasPrefix("HTTP/1.1 413 "))
    }

    static let opening = Array(
        """
        GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n
        """.utf8)
    static let accepted = Array(
        """
        HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX: y\r\n\r\n
        """.utf8)

    @Test func aWebSocketInEverySplit() {
        var bytes = Self.opening
        FrameWriter.append(opcode: 1, fin: false, payload: [65].span, mask: 7, into: &bytes)
        FrameWriter.append(opcode: 9, payload: [1, 2].span, mask: 7, into: &bytes)
        FrameWriter.append(opcode: 0, payload: [66].span, mask: 7, into: &bytes)
        FrameWriter.append(opcode: 10, payload: [3].span, mask: 7, into: &bytes)
        FrameWriter.appendClose(code: 4000, reason: "so", mask: 7, into: &bytes)
        FrameWriter.append(opcode: 2, payload: [9].span, mask: 7, into: &bytes)
        for way in pieces(of: bytes) {
            let run = run(way, fin: true)
            #expect(
                run.events.dropFirst() == [
                    .ping([1, 2]), .message(.text, [65, 66]), .pong([3]), .ended(.closeFrame(code: 4000, reason: "so")),
                    .finish,
                ])
            #expect(run.output == Self.accepted + [0x8a, 2, 1, 2] + [0x88, 10, 0x0f, 0xa0] + Array("good bye".utf8))
        }
    }

    @Test func aCloseFrameIsAnsweredByTheOwnerOrNotAtAll() {
        var bytes: [UInt8] = []
        FrameWriter.appendClose(code: 1001, reason: "bye", mask: 7, into: &bytes)
        let answers: [((inout ServerEndpoint) -> Void, [UInt8])] = [
            ({ $0.writer.close(code: nil, reason: "") }, [0x88, 0]), ({ $0.writer.finish() }, []),
        ]
        for (answer, sent) in answers {
            var endpoint = ServerEndpoint()
            var events: [ServerEvent] = []
            endpoint.received(Self.opening.span)
            while let event = endpoint.next() { events.append(event) }
            endpoint.writer.upgrade([], date: nil)
            _ = endpoint.writer.takeOutput()
            endpoint.received(bytes.span)
            endpoint.receivedEnd()
            while let event = endpoint.next() { events.append(event) }
            #expect(events.last == .ended(.closeFrame(code: 1001, reason: "bye")))
            #expect(endpoint.writer.owesClose && endpoint.writer.outputCount == 0)
            endpoint.writer.send(.text, [65].span)
            answer(&endpoint)
            #expect(endpoint.next() == .finish && endpoint.next() == nil && !endpoint.writer.owesClose)
            #expect(endpoint.writer.takeOutput() == sent)
        }
    }

    @Test func ourCloseIsAnsweredByTheClient() {
        var bytes: [UInt8] = []
        FrameWriter.append(opcode: 2, payload: [9].span, mask: 7, into: &bytes)
        FrameWriter.append(opcode: 9, payload: [9].span, mask: 7, into: &bytes)
        FrameWriter.appendClose(code: 1000, mask: 7, into: &bytes)
        let run = run([Self.opening + bytes]) { endpoint, event in
            guard case .request = event else { return }
            endpoint.writer.upgrade([HeaderField("X", "y")], date: nil)
            endpoint.writer.send(.text, Array("hi".utf8).span)
            endpoint.writer.close(code: 1000, reason: "")
            endpoint.writer.send(.text, [1].span)
        }
        #expect(run.output == Self.accepted + [0x81, 2, 0x68, 0x69, 0x88, 2, 0x03, 0xe8])
        #expect(
            run.events.dropFirst() == [
                .message(.binary, [9]), .ping([9]), .ended(.closeFrame(code: 1000, reason: "")), .finish,
            ])
    }

    @Test func violationsCloseTheWebSocket() {
        let run = run([Self.opening + hex("810100")])
        #expect(run.output.dropFirst(Self.accepted.count).prefix(4) == [0x88, 22, 0x03, 0xea])
        #expect(run.events.dropFirst() == [.ended(.rst("protocol violation: frame without a mask")), .finish])
    }

    @Test func aWebSocketWhereNoneWasAskedFor() {
        let run = run([Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)]) { endpoint, event in
            if case .request = event { endpoint.writer.upgrade([], date: nil) }
        }
        #expect(run.text.hasPrefix("HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n"))
    }

    @Test func pingsOfAClientThatDoesNotRead() {
        var endpoint = ServerEndpoint()
        var events: [ServerEvent] = []
        endpoint.received(Self.opening.span)
        while let event = endpoint.next() { events.append(event) }
        endpoint.writer.upgrade([], date: nil)
        _ = endpoint.writer.takeOutput()
        endpoint.writer.isCongested = true
        var pings: [UInt8] = []
        for i in 0..<100 { FrameWriter.append(opcode: 9, payload: [UInt8(i)].span, mask: 1, into: &pings) }
        endpoint.received(pings.span)
        while let event = endpoint.next() { events.append(event) }
        #expect(endpoint.writer.outputCount == 0)
        endpoint.writer.isCongested = false
        #expect(endpoint.writer.takeOutput() == [0x8a, 1, 99])
    }

    @Test func whatIsSaidOutOfTurnIsNotWritten() {
        var endpoint = ServerEndpoint()
        let text = Array("x".utf8)
        func sayAll(_ writer: inout ServerWriter, but mine: String) {
            if mine != "answer" {
                writer.answer(HTTPAnswer(status: 200), thenClose: true, date: nil)
                writer.beginStream(HTTPAnswer(status: 200), date: nil)
                let opened = writer.upgrade([], date: nil)
                #expect(opened == nil)
            }
            if mine != "stream" {
                writer.piece(text.span)
                writer.endStream()
            }
            if mine != "message" {
                let isDeflated = writer.send(.text, text.span, deflated: true).isDeflated
                #expect(!isDeflated)
                writer.close(code: 1000, reason: "")
            }
        }
        sayAll(&endpoint.writer, but: "nothing")
        endpoint.received(Array("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8).span)
        #expect(endpoint.next() != nil && endpoint.writer.owesAnswer)
        sayAll(&endpoint.writer, but: "answer")
        #expect(endpoint.writer.outputCount == 0)
        endpoint.writer.beginStream(HTTPAnswer(status: 200), date: nil)
        #expect(!endpoint.writer.takeOutput().isEmpty && endpoint.writer.isStreaming)
        sayAll(&endpoint.writer, but: "stream")
        #expect(endpoint.writer.outputCount == 0)
        endpoint.writer.endStream()
        #expect(endpoint.writer.takeOutput() == Array("0\r\n\r\n".utf8))
        endpoint.received(Self.opening.span)
        #expect(endpoint.next() != nil)
        endpoint.writer.upgrade([], date: nil)
        #expect(!endpoint.writer.takeOutput().isEmpty && endpoint.writer.isOpenWebSocket)
        sayAll(&endpoint.writer, but: "message")
        #expect(endpoint.writer.outputCount == 0)
        // FIN is asked for once, and nothing is said behind it.
        endpoint.writer.finish()
        endpoint.writer.finish()
        sayAll(&endpoint.writer, but: "nothing")
        endpoint.writer.raw(text)
        #expect(endpoint.next() == .finish && endpoint.next() == nil && endpoint.writer.outputCount == 0)
    }

    @Test func aConnectionThatIsLostOrHandedOnAsksForNoEnd() {
        let two = Array("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        var lost = ServerEndpoint()
        lost.received(two.span)
        #expect(lost.next() != nil)
        lost.lost(.rst("gone"))
        #expect(lost.pendingCount == 0 && lost.next() == .ended(.rst("gone")) && lost.next() == nil)
        var handedOn = ServerEndpoint()
        handedOn.received(two.span)
        #expect(handedOn.next() != nil)
        #expect(handedOn.handOn() == Array(two.suffix(two.count / 2)))
        handedOn.writer.answer(HTTPAnswer(status: 200), thenClose: false, date: nil)
        handedOn.received(two.span)
        #expect(handedOn.next() == nil && handedOn.heldCount == 0)
    }
}
