import Testing
import WiretapeAttempts
import WiretapeCodecs
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Clients that name their session in every request: openings, reconnects over any transport, ends.
@Suite struct TrackingIDTests {
    private static let id = AtmosphereTape.id
    private static let chat = """
        10 > hi
        20 < hi
        30 < A
        40 < B
        50 < C
        2000 < late
        """

    private func play(
        _ script: String = chat, faults: [String] = [], _ change: (inout ReplayOptions) -> Void = { _ in }
    )
        throws -> Playbook
    {
        try Playbook(AtmosphereTape.sessions(script), faults: faults, change)
    }

    @Test func pollsInTwoSteps() throws {
        let play = try play()
        let c = play.atmosphere("long-polling")
        let first = play.take(c)
        #expect(first.count == 4 && first[0] == "200 …" && first[2] == "" || first.last == "end", "\(first)")
        #expect(play.answers[c]?.body.count == 2_049)
        #expect(first.contains(AtmosphereTape.handshake))
        #expect(play.answers[c]?.headers.first("X-Atmosphere-tracking-id") == Self.id)
        // The next one waits: its head and padding are out.
        play.pollAgain(c, id: Self.id)
        play.expect(c, "200 …")
        #expect(play.push("hi", id: Self.id) == ["200 "])
        play.pass(ms: 15)
        play.expect(c, "2|hi", "end")
        // What falls due between two polls waits, glued.
        play.pass(ms: 100)
        play.pollAgain(c, id: Self.id)
        play.expect(c, "200 …", "1|A1|B1|C", "end")
        play.pollAgain(c, id: Self.id)
        play.pass(ms: 2_000)
        play.expect(c, "200 …", "4|late", "end")
        let end = play.request("GET", AtmosphereTape.target("close", id: Self.id))
        play.expect(end, "200 ")
        // A message that was on its way when its client left begins nothing.
        #expect(play.push("on its way", id: Self.id) == ["200 "])
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].transports == [.lp], "\(report.reasons)")
        #expect(report.sessions[0].attempts[0].steps.map(\.request) == ["poll"])
    }

    /// Of a burst the poll that waits gets the first; without lengths every one needs its own.
    @Test func bursts() throws {
        for lengths in [true, false] {
            let play = try play { $0.speed = .instant }
            let c = play.atmosphere("long-polling", lengths: lengths)
            _ = play.take(c)
            play.pollAgain(c, id: Self.id, lengths: lengths)
            _ = play.push("hi", id: Self.id)
            play.expect(c, "200 …", lengths ? "2|hi" : "hi", "end")
            for body in lengths ? ["1|A1|B1|C4|late"] : ["A", "B", "C", "late"] {
                play.pollAgain(c, id: Self.id, lengths: lengths)
                play.expect(c, "200 …", body, "end")
            }
        }
    }

    @Test func aSecondPollEndsTheFirst() throws {
        let play = try play()
        let c = play.atmosphere("long-polling")
        _ = play.take(c)
        play.pollAgain(c, id: Self.id)
        _ = play.take(c)
        let second = play.atmosphere("long-polling", id: Self.id)
        play.expect(c, "end")
        _ = play.push("hi", id: Self.id)
        play.pass(ms: 15)
        play.expect(second, "200 …", "2|hi", "end")
    }

    @Test func everyTransportGreets() throws {
        for (transport, greeting) in [
            ("websocket", AtmosphereTape.handshake), ("streaming", AtmosphereTape.handshake),
            ("sse", "data:\(AtmosphereTape.handshake)\r\n\r\n"),
        ] {
            let play = try play()
            let c = play.atmosphere(transport)
            let opened = play.take(c)
            #expect(opened.last == greeting && opened.count == 2, "\(opened)")
            _ = play.push("hi", id: Self.id)
            play.pass(ms: 15)
            play.expect(c, transport == "sse" ? "data:2|hi\r\n\r\n" : "2|hi")
        }
    }

    /// Another client gets an id of the same shape; one that brings an id of its own keeps it.
    @Test func idsAreVariedOrTaken() throws {
        let play = try play { $0.whenExhausted = .repeat }
        _ = play.atmosphere("sse")
        play.host = "10.0.0.2"
        let second = play.atmosphere("sse")
        let id = try #require(play.answers[second]?.headers.first("X-Atmosphere-tracking-id"))
        #expect(id != Self.id && id.utf8.count == 36)
        #expect(play.take(second).last == "data:41|\(id)|0|X|\r\n\r\n")
        play.host = "10.0.0.3"
        let own = play.atmosphere("long-polling", id: "mine")
        play.expect(own, "200 …")
        #expect(play.answers[own]?.headers.first("X-Atmosphere-tracking-id") == "mine")
        _ = play.push("hi", id: "mine")
        play.pass(ms: 15)
        play.expect(own, "2|hi", "end")
    }

    /// Nothing is lost with a connection: the server's cache hands out what was missed, over whatever transport.
    @Test(
        arguments: ["websocket", "sse", "streaming", "long-polling"], ["websocket", "sse", "streaming", "long-polling"])
    func aClientIsBackWithItsId(_ first: String, _ second: String) throws {
        for policy in [ReplayOptions.OnReconnect.resume, .live] {
            let play = try play { $0.onReconnect = policy }
            var c = play.atmosphere(first)
            _ = play.take(c)
            if first == "long-polling" { play.pollAgain(c, id: Self.id) }
            _ = play.push("hi", id: Self.id)
            play.pass(ms: 15)
            #expect(play.said(c).contains { $0.contains("2|hi") })
            play.close(c, .rst("cut"))
            play.pass(ms: 1_000)
            c = play.atmosphere(second, id: Self.id)
            var heard = play.said(c)
            for _ in 0..<5 {
                play.pass(ms: 1_000)
                heard += play.said(c)
                if second == "long-polling" { play.pollAgain(c, id: Self.id) }
            }
            heard += play.said(c)
            let text = heard.joined()
            for message in ["1|A", "1|B", "1|C", "4|late"] {
                #expect(text.components(message) == 1, "\(first) \(second) \(policy): \(heard)")
            }
            #expect(!text.contains("0|X|"))
            let report = play.finish()
            #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
        }
    }

    @Test func aNewerConnectionTakesTheOldOnesPlace() throws {
        let play = try play()
        let socket = play.atmosphere("websocket")
        _ = play.take(socket)
        let second = play.atmosphere("websocket", id: Self.id)
        play.expect(socket, "close 1000")
        #expect(play.take(second).map(\.utf8.count) == [3])
        let stream = play.atmosphere("sse", id: Self.id)
        play.expect(second, "close 1000")
        let again = play.atmosphere("streaming", id: Self.id)
        #expect(play.take(stream).last == "end")
        _ = play.take(again)
        _ = play.push("hi", id: Self.id)
        play.pass(ms: 15)
        play.expect(again, "2|hi")
    }

    @Test func aGoodbyeEndsAStreamAndNoWebSocket() throws {
        let play = try play()
        let stream = play.atmosphere("sse")
        _ = play.take(stream)
        let end = play.request("POST", AtmosphereTape.target("close", id: Self.id))
        play.expect(end, "200 ")
        play.expect(stream, "end")
        // The cache outlives it.
        let back = play.atmosphere("websocket", id: Self.id)
        _ = play.take(back)
        let farewell = play.request("GET", AtmosphereTape.target("close", id: Self.id))
        play.expect(farewell, "200 ")
        play.send(back, "x")
        #expect(play.take(back).first?.hasPrefix("close 1011") == true)
    }

    /// The server's own ending in the middle is played, and the client goes on behind it.
    @Test func endingsOfTheTape() throws {
        let play = try play(
            """
            10 < one
            20 < close
            """)
        let c = play.atmosphere("long-polling")
        _ = play.take(c)
        play.pollAgain(c, id: Self.id)
        play.pass(ms: 10)
        play.expect(c, "200 …", "3|one", "end")
        play.pollAgain(c, id: Self.id)
        play.pass(ms: 50)
        play.expect(c, "200 …", "end")
        play.pollAgain(c, id: Self.id)
        play.pass(ms: 50)
        play.expect(c, "200 …")
        #expect(play.finish().verdict == .pass)
    }

    @Test func faultsMeetPollsAndStreams() throws {
        let polled = try play(faults: ["respond(503) on poll[2]"])
        let c = polled.atmosphere("long-polling")
        _ = polled.take(c)
        polled.pollAgain(c, id: Self.id)
        polled.expect(c, "503 ")
        polled.pollAgain(c, id: Self.id)
        polled.expect(c, "200 …")
        for transport in ["websocket", "sse", "streaming", "long-polling"] {
            let play = try play(faults: ["reset after message[2, direction=toClient]"])
            let first = play.atmosphere(transport)
            _ = play.push("hi", id: Self.id)
            for _ in 0..<4 {
                play.pass(ms: 50)
                if transport == "long-polling" { play.pollAgain(first, id: Self.id) }
            }
            play.pass(ms: 50)
            let heard = play.said(first)
            #expect(
                heard.last == "RST" && heard.joined().contains("1|A") && !heard.joined().contains("1|B"), "\(heard)")
            let second = play.atmosphere(transport, id: Self.id)
            play.pass(ms: 3_000)
            #expect(play.said(second).joined().contains("1|B"))
        }
    }

    /// The handshake is made by replay; rules find it all the same.
    @Test(arguments: ["websocket", "sse", "streaming", "long-polling"]) func faultsAtTheHandshake(_ transport: String)
        throws
    {
        let after = try play(faults: ["reset after handshake"])
        let c = after.atmosphere(transport)
        after.pass(ms: 50)
        if transport == "long-polling" { after.pollAgain(c, id: Self.id) }
        after.pass(ms: 50)
        let heard = after.said(c)
        #expect(heard.joined().contains("0|X|") && heard.last == "RST", "\(heard)")
        let before = try play(faults: ["reset before handshake"])
        let d = before.atmosphere(transport)
        before.pass(ms: 50)
        let nothing = before.said(d)
        #expect(!nothing.joined().contains("0|X|") && nothing.last == "RST", "\(nothing)")
    }

    @Test func aTransportThatIsNotServed() throws {
        let play = try play { $0.transports = [.lp] }
        let c = play.atmosphere("websocket")
        play.expect(c, "501 ")
        #expect(play.answers[c]?.headers.first("X-Atmosphere-error") != nil)
        let poll = play.atmosphere("long-polling")
        #expect(play.take(poll).first == "200 …")
    }
}

extension String {
    /// How often it has that part.
    fileprivate func components(_ part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.firstRange(of: part) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
