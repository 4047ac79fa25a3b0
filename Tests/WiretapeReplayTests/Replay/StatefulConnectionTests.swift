import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A lost connection that SignalR's stateful reconnect takes up again: the same token, no handshake, message by message.
@Suite struct StatefulConnectionTests {
    private static let ticks =
        TestTape.handshake + (1...6).map { "\($0 * 10) < \(push("Tick", "\($0)"))\n" }.joined()

    private func tick(_ n: Int) -> String { push("Tick", "\(n)") }
    private func sequence(_ n: Int) -> String { #"{"type":9,"sequenceId":\#(n)}"# }
    private func ack(_ n: Int) -> String { #"{"type":8,"sequenceId":\#(n)}"# }

    /// Negotiates, upgrades and shakes hands in version 2.
    private func start(_ play: Playbook) throws -> (ConnectionID, token: String) {
        let token = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 1)
        play.expect(c, "101", "{}")
        return (c, token)
    }

    @Test func whatWasNotAcknowledgedIsSentAgain() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let (c, token) = try start(play)
        play.pass(ms: 20)
        play.expect(c, tick(1), tick(2))
        play.send(c, ack(1))
        play.close(c, .rst("reset"))
        play.pass(ms: 5_000)
        let d = play.upgrade(token)
        play.expect(d, "101", sequence(2), tick(2))
        play.send(d, sequence(1))
        play.pass(ms: 100)
        play.expect(d, tick(3), tick(4), tick(5), tick(6))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
        #expect(report.sessions[0].attempts.count == 2)
    }

    /// What goes out again may be lost again. A client that then begins anew gets what the kernel never took.
    @Test func whatWasLostAgainComesOnANewConnection() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let (c, token) = try start(play)
        play.pass(ms: 20)
        play.expect(c, tick(1), tick(2))
        play.kernelTakes = false
        play.pass(ms: 10)
        play.expect(c, tick(3))
        play.close(c, .rst("reset"))
        let d = play.upgrade(token)
        play.expect(d, "101", sequence(1), tick(1), tick(2), tick(3))
        play.close(d, .rst("reset"))
        play.kernelTakes = true
        let e = play.upgrade(play.negotiate())
        play.send(e, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 100)
        play.expect(e, "101", "{}", tick(3), tick(4), tick(5), tick(6))
        #expect(play.finish().sessions[0].finished)
    }

    /// The last end stands behind what the protocol has sent again: it is lost with that, although the tape's own message had
    /// been taken before. The client is back with a token that the server has forgotten, and begins anew.
    @Test func anEndBehindWhatIsSentAgain() throws {
        let script = TestTape.handshake + "10 < \(tick(1))\n20 > \(push("Say"))\n30 < close 1001 bye\n"
        let play = try Playbook([TestTape.session(script)])
        let (c, token) = try start(play)
        play.pass(ms: 10)
        play.expect(c, tick(1))
        play.close(c, .rst("reset"))
        play.kernelTakes = false
        let d = play.upgrade(token)
        play.send(d, sequence(1))
        play.send(d, push("Say"))
        play.pass(ms: 50)
        play.expect(d, "101", sequence(1), tick(1), "close 1001 bye")
        play.close(d)
        play.kernelTakes = true
        play.takeAll()
        let e = play.upgrade(play.negotiate())
        play.send(e, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 600)
        #expect(play.take(e) == ["101", "{}", "close 1001 bye"])
        #expect(play.finish().sessions.map(\.finished) == [true])
    }

    /// The server's Close has no number: no protocol brings it again, so the script does.
    @Test func aCloseThatWasLostIsSaidAgain() throws {
        let close = #"{"type":7,"allowReconnect":true}"#
        let script = TestTape.handshake + "10 < \(tick(1))\n20 < \(close)\n40 < close 1000\n"
        let play = try Playbook([TestTape.session(script)])
        let (c, token) = try start(play)
        play.pass(ms: 10)
        play.kernelTakes = false
        play.pass(ms: 10)
        play.expect(c, tick(1), close)
        play.close(c, .rst("reset"))
        play.kernelTakes = true
        let d = play.upgrade(token)
        play.send(d, sequence(1))
        play.pass(ms: 100)
        play.expect(d, "101", sequence(1), tick(1), close, "close 1000")
        #expect(play.finish().sessions[0].finished)
    }

    /// Under every policy: the protocol itself loses nothing, so neither do those that leave pushes out by time.
    @Test(arguments: [ReplayOptions.OnReconnect.resume, .live])
    func nothingIsLostOrDoubled(_ policy: ReplayOptions.OnReconnect) throws {
        let play = try Playbook([TestTape.session(Self.ticks)]) { $0.onReconnect = policy }
        let (c, token) = try start(play)
        play.pass(ms: 30)
        play.expect(c, tick(1), tick(2), tick(3))
        play.close(c)
        let d = play.upgrade(token)
        play.expect(d, "101", sequence(1), tick(1), tick(2), tick(3))
        play.send(d, sequence(1) + " | " + ack(3))
        play.pass(ms: 15)
        play.close(d)
        play.pass(ms: 10)
        let e = play.upgrade(token)
        play.send(e, sequence(1))
        play.pass(ms: 100)
        #expect(play.take(e) == ["101", sequence(4)] + (4...6).map(tick))
        #expect(play.finish().verdict == .pass)
    }

    /// The client cannot know that its call arrived and sends it again: it is answered once.
    @Test func repeatedCallsAreAnsweredOnce() throws {
        let tape =
            TestTape.handshake
            + "10 > \(call("1", "Add", "1,2"))\n60 < \(done("1", "3"))\n70 > \(call("2", "Add", "3,4"))\n80 < \(done("2", "7"))"
        let play = try Playbook([TestTape.session(tape)])
        let (c, token) = try start(play)
        play.send(c, call("x", "Add", "1,2"))
        play.pass(ms: 5)
        play.close(c, .rst("reset"))
        let d = play.upgrade(token)
        play.expect(d, "101", sequence(1))
        // Nothing counts before the client's Sequence.
        play.send(d, call("y", "Add", "3,4"))
        play.send(d, sequence(1) + " | " + call("x", "Add", "1,2"))
        play.pass(ms: 100)
        play.expect(d, done("x", "3"))
        play.send(d, call("y", "Add", "3,4"))
        play.pass(ms: 20)
        play.expect(d, done("y", "7"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.divergences)")
    }

    /// A fault that takes a call away with its connection: sent again, it is the first time.
    @Test func lostCallsAreSentAgain() throws {
        let tape = TestTape.handshake + "10 > \(call("1", "Add", "1,2"))\n20 < \(done("1", "3"))"
        let play = try Playbook([TestTape.session(tape)], faults: ["reset on Add[1]"])
        let (c, token) = try start(play)
        play.send(c, call("7", "Add", "1,2"))
        play.pass(ms: 30)
        play.expect(c, "RST")
        let d = play.upgrade(token)
        play.send(d, sequence(1) + " | " + call("7", "Add", "1,2"))
        play.pass(ms: 100)
        play.expect(d, "101", sequence(1), done("7", "3"))
        #expect(play.finish().verdict == .pass)
    }

    @Test func aFaultCutsAndTheClientGoesOn() throws {
        let play = try Playbook(
            [TestTape.session(Self.ticks)], faults: ["reset after Tick[2]", "disconnect on Tick[4]"])
        let (c, token) = try start(play)
        play.pass(ms: 60)
        play.expect(c, tick(1), tick(2), "RST")
        let d = play.upgrade(token)
        play.expect(d, "101", sequence(1), tick(1), tick(2))
        play.send(d, sequence(1) + " | " + ack(2))
        play.pass(ms: 60)
        play.expect(d, tick(3), "FIN")
        let e = play.upgrade(token)
        play.send(e, sequence(1))
        play.pass(ms: 100)
        play.expect(e, "101", sequence(3), tick(3), tick(4), tick(5), tick(6))
        #expect(play.finish().verdict == .pass)
    }

    /// At most once a second, and only when there is something new.
    @Test func receivedMessagesAreAcknowledged() throws {
        let tape =
            TestTape.handshake + (1...3).map { "\($0 * 10) > \(push("Note", "\($0)"))\n" }.joined()
            + "5000 < \(push("Tick"))"
        let play = try Playbook([TestTape.session(tape)]) { $0.keepalive = .off }
        let (c, _) = try start(play)
        play.send(c, push("Note", "1"))
        play.pass(ms: 500)
        play.send(c, push("Note", "2") + " | " + #"{"type":6}"#)
        play.pass(ms: 499)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, ack(2))
        play.pass(ms: 2_000)
        play.send(c, push("Note", "3"))
        play.pass(ms: 1_000)
        play.expect(c, ack(3))
    }

    @Test func aSequenceBeyondTheCountEndsIt() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let (c, token) = try start(play)
        play.close(c)
        let d = play.upgrade(token)
        play.send(d, sequence(3))
        play.expect(d, "101", sequence(1), "close 1011 Sequence 3 is greater than the 0 messages received")
        let e = play.upgrade(token)
        play.expect(e, "404 No Connection with that ID")
    }

    /// The server forgets after 15 s: the token is dead, and a new negotiation begins a new connection of the session.
    @Test func afterFifteenSecondsTheTokenIsDead() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let (c, token) = try start(play)
        play.pass(ms: 20)
        play.expect(c, tick(1), tick(2))
        play.close(c)
        play.pass(ms: 15_100)
        let d = play.upgrade(token)
        play.expect(d, "404 No Connection with that ID")
        let (e, _) = try start(play)
        play.pass(ms: 100)
        play.expect(e, tick(3), tick(4), tick(5), tick(6))
        #expect(play.finish().sessions[0].finished)
    }

    /// A second WebSocket with the token takes the place of one that the server still holds open.
    @Test func anOpenConnectionIsReplaced() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let (c, token) = try start(play)
        play.pass(ms: 10)
        let d = play.upgrade(token)
        play.expect(c, tick(1), "FIN")
        play.expect(d, "101", sequence(1), tick(1))
    }

    /// A handshake of version 1 keeps nothing: the second WebSocket is refused as ever.
    @Test func versionOneRemembersNothing() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let token = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 1)
        let d = play.upgrade(token)
        play.expect(d, "409 ")
        play.close(c)
    }

    // MARK: MessagePack

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).compactMap(hexDigit)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// What the playbook shows of a binary payload.
    private func shown(_ hex: String) -> String { String(decoding: bytes(hex), as: UTF8.self) }

    /// Tick(n) as ASP.NET Core writes it.
    private func packedTick(_ n: Int) -> String { "0c960180c0a45469636b91\(["00", "01", "02", "03", "04"][n])90" }

    @Test func inMessagePack() throws {
        let lines: [(UInt64, Direction, String)] = [
            (1, .toServer, hexText(Array("{\"protocol\":\"messagepack\",\"version\":2}\u{1e}".utf8))),
            (2, .toClient, "7b7d1e"), (10, .toClient, packedTick(1)), (20, .toServer, "0c950180a130a3416464920102"),
            (30, .toClient, "07950380a1300303"), (40, .toClient, packedTick(2)),
        ]
        let upgrade = RequestHead(method: "GET", target: "/chat?id=t", headers: [HeaderField("Upgrade", "websocket")])
        var codec = SignalRCodec(StreamOpening(request: upgrade))
        var entries: [RecordedSession.Entry] = []
        for (i, line) in lines.enumerated() {
            var messages: [Message] = []
            codec.decode(bytes(line.2).span, .binary, line.1, into: &messages)
            for message in messages {
                entries.append(
                    .init(event: UInt64(i + 1), time: line.0 * 1_000_000, connection: 1, frame: i, .message(message)))
            }
        }
        let session = RecordedSession(
            number: 1, codec: CodecEntry(SignalRCodec.self), writer: codec, transport: .ws, route: "/chat",
            opening: StreamOpening(request: upgrade, response: ResponseHead(status: 101)),
            serverIDs: ServerIDs(connectionID: "p", token: "t"), connections: [1], entries: entries, opened: 0)
        let play = try Playbook([session])
        let token = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.sendBytes(c, .text, Array("{\"protocol\":\"messagepack\",\"version\":2}\u{1e}".utf8))
        play.pass(ms: 10)
        play.expect(c, "101", "{}", shown(packedTick(1)))
        // Add(1, 2) under another id, its numbers in longer spellings.
        play.sendBytes(c, .binary, bytes("10960180a26237a341646492cc01d0029000").dropLast())
        play.pass(ms: 1)
        play.close(c, .rst("reset"))
        let d = play.upgrade(token)
        play.expect(d, "101", shown("03920901" + packedTick(1)))
        play.sendBytes(d, .binary, bytes("03920901" + "10960180a26237a341646492cc01d00290" + "03920801"))
        play.pass(ms: 100)
        play.expect(d, shown("08950380a262370303"), shown(packedTick(2)))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.divergences)")
        play.pass(ms: 1_000)
        play.expect(d, shown("03920801"))
    }
}
