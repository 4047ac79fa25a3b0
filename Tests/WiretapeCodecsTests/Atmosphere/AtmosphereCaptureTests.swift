import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Sessions of real servers: Atmosphere 2.7.16 and 2.0.5, captured and put together independently of Wiretape.
@Suite struct AtmosphereCaptureTests {
    private func read(_ name: String) throws -> Reading {
        try Reading(Codecs.all, FixtureTape("atmosphere/\(name)").events)
    }

    private func texts(_ session: RecordedSession, _ direction: Direction) -> [String] {
        session.entries.compactMap { entry in
            guard case .message(let message) = entry.what, message.direction == direction else { return nil }
            return message.content["text"]?.string ?? message.content.text
        }
    }

    @Test func longPolling() throws {
        let reading = try read("atmosphere-longpolling")
        let sessions = reading.sessions
        #expect(reading.messages.allSatisfy { $0.codec == "atmosphere" && $0.message.role != .opaque })
        #expect(sessions.map(\.route) == ["/chat", "/fast/chat", "/timeout/chat", "/fast/chat"])
        #expect(sessions.map(\.transport) == [.lp, .lp, .lp, .lp] && reading.reader.exchanges.isEmpty)
        #expect(
            sessions.map { $0.serverIDs?.token.prefix(8) ?? "" } == ["37efadac", "3dbc7b52", "2c06fc97", "8ceb697d"])
        #expect(texts(sessions[0], .toClient) == ["untracked one", "untracked two", "untracked three"])
        #expect(texts(sessions[2], .toClient) == ["after a timeout"])
        // What a server lost is not there, and the cut poll did not end the session.
        let fast = texts(sessions[1], .toClient)
        #expect(
            fast.dropLast() == [
                #"{"author":"a","message":"hello"}"#, #"{"author":"a","message":"pipe | and 5|x"}"#,
                "second client says hi", "burst-0", "burst-1", "burst-2", "missed 1", "missed 2",
            ])
        #expect(fast.last?.utf16.count == 3_000)
        #expect(sessions[1].entries.allSatisfy { if case .message = $0.what { true } else { false } })
        let heartbeats = reading.messages.filter { $0.message.type == "Heartbeat" && $0.session == 2 }
        #expect(heartbeats.map(\.message.direction) == [.toClient, .toServer, .toClient])
    }

    @Test func theSeed() throws {
        let reading = try read("atmosphere-seed-objc")
        let sessions = reading.sessions
        #expect(sessions.map(\.route) == ["/nopad/chat", "/chat"])
        #expect(
            texts(sessions[0], .toClient) == [
                #"{"hello":0}"#, #"{"hello":1}"#, #"{"hello":2}"#, "one", "two", "plain text",
            ])
        #expect(texts(sessions[1], .toClient) == [#"{"hello":"padded"}"#, #"{"hello":"again"}"#])
        // The pusher has no id: its requests are nobody's.
        #expect(reading.reader.exchanges.count == 8)
        #expect(
            reading.messages.filter { $0.message.type == "Padding" }.map(\.message.bytes.count) == [
                8_193, 8_193, 8_193,
            ])
    }

    /// The same conversation, recorded over every transport: decoded alike, and each over its own.
    @Test(arguments: [("ws", Transport.ws), ("sse", .sse), ("stream", .stream), ("lp", .lp), ("jsonp", .lp)])
    func recordings(_ name: String, _ transport: Transport) throws {
        let reading = try Reading(Codecs.all, FixtureTape(recording: "atmosphere-\(name)").events)
        let session = try #require(reading.sessions.first)
        #expect(reading.sessions.count == 1 && session.transport == transport)
        #expect(reading.messages.filter { $0.message.role == .handshake }.count == 1)
        #expect(
            texts(session, .toClient) == [
                "hello", "héllo € 😀", "pipe|5|x", #"{"author":"a","message":"hi"}"#, "later-0", "later-1", "burst-0",
                "burst-1", "burst-2", "héllo € 😀 again",
            ])
        #expect(texts(session, .toServer).count == 7)
        #expect(session.entries.allSatisfy { if case .message = $0.what { true } else { false } })
    }

    /// A response's head is held back until its body is known: what the client did meanwhile may stand before it.
    @Test func aPushBeforeTheHeadThatCausedIt() throws {
        let push = Atmosphere.request("polling", id: Atmosphere.id, method: "POST")
        let answer = ResponseHead(status: 200, headers: [HeaderField("X-Atmosphere-tracking-id", Atmosphere.id)])
        var reading = Reading(Codecs.all)
        let events: [(UInt32, TapeEvent.Kind)] = [
            (1, .request(x: 1, Atmosphere.request("streaming"), .none)),
            (2, .request(x: 1, push, .whole(Array("hi".utf8)))),
            (1, .response(x: 1, answer, .streamed, interim: false, coding: nil, proxy: false)),
            (1, .chunk(x: 1, .toClient, Array("  \n41|\(Atmosphere.id)|0|X|2|hi".utf8))),
        ]
        for (c, kind) in events { reading.read(TapeEvent(time: 0, connection: c, kind)) }
        #expect(reading.sessions.map(\.transport) == [.stream] && reading.sessions.map(\.entries.count) == [2])
        #expect(reading.sessions[0].opening.request.method == "GET")
    }
}
