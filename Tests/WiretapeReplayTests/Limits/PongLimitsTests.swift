import Testing
import WiretapeAttempts
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Servers that ask a quiet client for a sign of life: Pusher's and Eventflit's.
@Suite struct PongLimitsTests {
    private static let script = """
        1 < hello 1.2
        10 > subscribe room
        12 < succeeded room {}
        900000 < order room {"id":1}
        """
    private static let ping = #"{"event":"pusher:ping","data":"{}"}"#
    private static let closed =
        "close 4201 Pong reply not received: ping was sent to the client, but no reply was received"

    /// A client that has subscribed, 11 ms after its connection was opened.
    private func start(_ play: Playbook) -> ConnectionID {
        let c = play.request(
            "GET", "/app/KEY?version=1&client=other&protocol=7",
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
        play.pass(ms: 11)
        say(play, c, "subscribe room")
        play.pass(ms: 4)
        _ = play.take(c)
        return c
    }

    private func say(_ play: Playbook, _ c: ConnectionID, _ short: String) {
        play.sendBytes(c, .text, Array(EventflitTape.text(short, .toServer).utf8))
    }

    /// The tape announces 120 s; the server waits 30 s more for a pong.
    @Test func aPingThatIsNotAnswered() throws {
        let play = try Playbook([EventflitTape.session(Self.script)])
        let c = start(play)
        play.pass(ms: 150_011 - 15 - 1)
        play.expect(c, Self.ping)
        play.pass(ms: 1)
        play.expect(c, Self.closed)
        let ended = play.finish().sessions.first?.attempts.first?.ended
        #expect(ended?.by == .server && ended?.how == .close(4201) && ended?.reason == "no pong within 30s")
    }

    @Test(arguments: ["pong", "ping", "frame"])
    func aSignOfLife(_ sign: String) throws {
        let play = try Playbook([EventflitTape.session(Self.script)])
        let c = start(play)
        for _ in 1...4 {
            play.pass(ms: 140_000)
            if sign == "frame" {
                play.act { engine, now, _ in engine.controlFrame(c, isPing: true, at: now) }
            } else {
                say(play, c, sign)
            }
        }
        #expect(!play.take(c).contains { $0.hasPrefix("close") })
    }

    /// A server that does not ask, by option or by a rule, cannot miss the answer.
    @Test func noPingNoPong() throws {
        let off = try Playbook([EventflitTape.session(Self.script)]) { $0.keepalive = .off }
        let c = start(off)
        off.pass(ms: 600_000)
        off.expect(c)

        let muted = try Playbook(
            [EventflitTape.session(Self.script)], faults: ["mute(protocol) after subscription_succeeded"])
        let d = start(muted)
        muted.pass(ms: 600_000)
        #expect(!muted.take(d).contains { $0.hasPrefix("close") })
    }

    /// `--keepalive 15s` announces that interval, and so it is the one that counts.
    @Test func theAnnouncedInterval() throws {
        let play = try Playbook([EventflitTape.session(Self.script)]) { $0.keepalive = .every(15_000_000_000) }
        let c = start(play)
        play.pass(ms: 45_011 - 15 - 1)
        #expect(play.take(c) == [Self.ping, Self.ping, Self.ping])
        play.pass(ms: 1)
        #expect(play.take(c).last == Self.closed)
    }

    /// The recorded client never answered, and its server did not mind.
    @Test func aServerThatDoesNotMind() throws {
        var session = EventflitTape.session(Self.script)
        let hello = Array(EventflitTape.text("hello 1.2", .toClient).utf8)
        let order = Array(EventflitTape.text(#"order room {"id":1}"#, .toClient).utf8)
        session.habits.conduct = conduct("/app/KEY?protocol=7", [(0, .toClient, hello), (400, .toClient, order)])
        let play = try Playbook([session])
        let c = start(play)
        play.pass(ms: 499_000)
        #expect(!play.take(c).contains { $0.hasPrefix("close") })
        play.pass(ms: 2_000)
        #expect(play.take(c).last == Self.closed)
    }
}
