import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Sessions of a protocol in which the server speaks first and channels are subscribed by name.
@Suite struct EventflitReplayTests {
    private static let script = """
        1 < hello 1.2
        10 > subscribe room
        12 < succeeded room {}
        20 > subscribe private-a KEY:00
        25 < succeeded private-a {}
        30 < order room {"id":1}
        40 < order private-a {"id":2}
        50 > client-typing private-a {"on":true}
        60 < order room {"id":3}
        70 < order private-a {"id":4}
        """

    private func hello(_ id: String = "1.2") -> String { EventflitTape.text("hello \(id)", .toClient) }
    private func said(_ short: String) -> String { EventflitTape.text(short, .toClient) }

    private func open(_ play: Playbook) -> ConnectionID {
        play.request(
            "GET", "/app/KEY?version=1&client=other&protocol=6",
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
    }

    private func say(_ play: Playbook, _ c: ConnectionID, _ short: String) {
        play.sendBytes(c, .text, Array(EventflitTape.text(short, .toServer).utf8))
    }

    // MARK: Release

    @Test func theServerSpeaksFirst() throws {
        let play = try Playbook([EventflitTape.session(Self.script)])
        let c = open(play)
        play.expect(c, "101")
        play.pass(ms: 1)
        play.expect(c, hello())
        play.pass(ms: 200)
        play.expect(c)
        say(play, c, "subscribe room")
        play.pass(ms: 2)
        play.expect(c, said("succeeded room {}"))
        say(play, c, "subscribe private-a OTHER:11")
        play.pass(ms: 100)
        play.expect(
            c, said("succeeded private-a {}"), said(#"order room {"id":1}"#), said(#"order private-a {"id":2}"#))
        say(play, c, #"client-typing private-a {"on":true}"#)
        play.pass(ms: 100)
        play.expect(c, said(#"order room {"id":3}"#), said(#"order private-a {"id":4}"#))
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.first?.finished == true)
    }

    /// Each channel's answer waits for its own subscription, in whatever order they come.
    @Test func channelsInAnotherOrder() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant)
        let c = open(play)
        say(play, c, "subscribe private-a KEY:00")
        play.expect(c, "101", hello(), said("succeeded private-a {}"))
        say(play, c, "subscribe room")
        play.expect(
            c, said("succeeded room {}"), said(#"order room {"id":1}"#), said(#"order private-a {"id":2}"#))
        #expect(play.finish().divergences.isEmpty)
    }

    @Test func unsubscribedChannelsMayComeAgain() throws {
        let script = """
            1 < hello 1.2
            2 > subscribe room
            3 < succeeded room {"n":1}
            4 > unsubscribe room
            5 > subscribe room
            6 < succeeded room {"n":2}
            7 < order room {}
            """
        let play = try Playbook([EventflitTape.session(script)], speed: .instant)
        let c = open(play)
        say(play, c, "subscribe room")
        play.expect(c, "101", hello(), said(#"succeeded room {"n":1}"#))
        say(play, c, "unsubscribe room")
        say(play, c, "subscribe room")
        play.expect(c, said(#"succeeded room {"n":2}"#), said("order room {}"))
        #expect(play.finish().sessions.first?.finished == true)
    }

    // MARK: Keepalives

    /// Pysher pings before it has read anything.
    @Test func pingsAreAnsweredAndMade() throws {
        let play = try Playbook([EventflitTape.session(Self.script)]) { $0.keepalive = .every(2_000_000_000) }
        let c = open(play)
        say(play, c, "ping")
        play.pass(ms: 1)
        play.expect(c, "101", #"{"event":"pusher:pong","data":"{}"}"#, hello().replacing("120", with: "2"))
        play.pass(ms: 2_000)
        play.expect(c, #"{"event":"pusher:ping","data":"{}"}"#)
        say(play, c, "pong")
        #expect(play.finish().divergences.isEmpty)
    }

    @Test func rulesReachPongs() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], faults: [#"drop on "pusher:pong"[2]"#])
        let c = open(play)
        play.pass(ms: 1)
        for _ in 1...3 { say(play, c, "ping") }
        let pong = #"{"event":"pusher:pong","data":"{}"}"#
        play.expect(c, "101", hello(), pong, pong)
        #expect(play.finish().faults.count == 1)
    }

    @Test func theServersOwnInterval() throws {
        let play = try Playbook([EventflitTape.session(Self.script, dialect: "eventflit")]) { $0.patience = 1 << 60 }
        let c = open(play)
        play.pass(ms: 120_000)
        play.expect(c, "101", EventflitTape.text("hello 1.2", .toClient, "eventflit"))
        play.pass(ms: 1)
        play.expect(c, #"{"event":"eventflit:ping","data":"{}"}"#)
    }

    /// Leaving a channel is as much part of the script as joining it, also when nothing follows.
    @Test func leavingAtTheEnd() throws {
        let script = "1 < hello 1.2\n2 > subscribe room\n3 < succeeded room {}\n4 > unsubscribe room"
        let play = try Playbook([EventflitTape.session(script)], speed: .instant)
        let c = open(play)
        say(play, c, "subscribe room")
        say(play, c, "unsubscribe room")
        play.expect(c, "101", hello(), said("succeeded room {}"))
        let report = play.finish()
        #expect(report.divergences.isEmpty && report.sessions.first?.finished == true)
    }

    // MARK: HTTP fallbacks

    private static let base = "/pusher/app/KEY/12/abcdefgh/"

    private func framed(_ short: String) -> String {
        "a[\(JSONValue.string(said(short)).text)]\n"
    }

    private func post(_ play: Playbook, _ short: String) {
        let text = JSONValue.array([.string(EventflitTape.text(short, .toServer))]).text
        let c = play.request("POST", Self.base + "xhr_send?t=3&n=4", body: Array(text.utf8))
        #expect(play.answers[c]?.status == 204)
    }

    /// A session that was recorded over a WebSocket.
    @Test func overAStream() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant)
        let c = play.request("POST", Self.base + "xhr_streaming?protocol=7&client=js&t=1&n=1")
        play.expect(c, "200 …", framed("hello 1.2"))
        #expect(play.answers[c]?.body == Array("o\n".utf8))
        post(play, "subscribe room")
        play.expect(c, framed("succeeded room {}"))
        post(play, "subscribe private-a KEY:00")
        play.expect(
            c, framed("succeeded private-a {}"), framed(#"order room {"id":1}"#), framed(#"order private-a {"id":2}"#))
        post(play, "ping")
        play.expect(c, "a[\(JSONValue.string(#"{"event":"pusher:pong","data":"{}"}"#).text)]\n")
        post(play, #"client-typing private-a {"on":true}"#)
        play.expect(c, framed(#"order room {"id":3}"#), framed(#"order private-a {"id":4}"#))
        let report = play.finish()
        #expect(report.divergences.isEmpty && report.sessions.first?.transports == [.stream])
    }

    @Test func overPolls() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant)
        func poll() -> ConnectionID { play.request("POST", Self.base + "xhr?protocol=7&client=js&t=1&n=1") }
        func lines(_ c: ConnectionID) -> String {
            play.take(c).first.map { String($0.dropFirst(4)) } ?? ""
        }
        #expect(lines(poll()) == "o\n")
        #expect(lines(poll()) == framed("hello 1.2"))
        let waiting = poll()
        play.expect(waiting)
        post(play, "subscribe room")
        #expect(lines(waiting) == framed("succeeded room {}"))
        post(play, "subscribe private-a KEY:00")
        post(play, "ping")
        let pong = "a[\(JSONValue.string(#"{"event":"pusher:pong","data":"{}"}"#).text)]\n"
        #expect(
            lines(poll()) == framed("succeeded private-a {}") + framed(#"order room {"id":1}"#)
                + framed(#"order private-a {"id":2}"#) + pong)
        #expect(play.finish().sessions.first?.transports == [.lp])
    }

    // MARK: Divergence

    @Test func anotherChannelIsRefused() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant)
        let c = open(play)
        say(play, c, "subscribe rooms")
        let got = play.take(c)
        #expect(got.count == 4 && got[2].hasPrefix(#"{"event":"pusher:subscription_error","channel":"rooms""#))
        #expect(got.last?.hasPrefix("close 1011") == true)
        #expect(play.finish().divergences.first?.contains("/data/channel") == true)
    }

    /// A rule may take the channel out of the comparison: its events carry the live name.
    @Test func anotherChannelUnderARule() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant) {
            $0.ignore = [IgnoreRule(label: "subscribe", pointer: "/data/channel")]
        }
        let c = open(play)
        say(play, c, "subscribe room-7")
        play.expect(c, "101", hello(), said("succeeded room-7 {}"))
    }

    // MARK: Reconnects

    /// Every channel is subscribed again; each goes on where it was.
    @Test func resume() throws {
        let play = try Playbook([EventflitTape.session(Self.script)], speed: .instant)
        let c = open(play)
        say(play, c, "subscribe room")
        say(play, c, "subscribe private-a KEY:00")
        play.expect(
            c, "101", hello(), said("succeeded room {}"), said("succeeded private-a {}"), said(#"order room {"id":1}"#),
            said(#"order private-a {"id":2}"#))
        play.close(c, .rst("reset"))
        let d = open(play)
        play.expect(d, "101", hello("2.2"))
        say(play, d, "subscribe private-a KEY:00")
        play.expect(d, said("succeeded private-a {}"))
        say(play, d, #"client-typing private-a {"on":true}"#)
        play.expect(d, said(#"order private-a {"id":4}"#))
        say(play, d, "subscribe room")
        play.expect(d, said("succeeded room {}"), said(#"order room {"id":3}"#))
        let report = play.finish()
        #expect(report.divergences.isEmpty && report.sessions.first?.finished == true)
    }

    /// What was published meanwhile is lost, as with a real server.
    @Test func live() throws {
        let script = Self.script.split(separator: "\n").filter { !$0.contains("typing") }.joined(separator: "\n")
        let play = try Playbook([EventflitTape.session(script)]) { $0.onReconnect = .live }
        let c = open(play)
        play.pass(ms: 10)
        say(play, c, "subscribe room")
        say(play, c, "subscribe private-a KEY:00")
        play.pass(ms: 25)
        play.expect(
            c, "101", hello(), said("succeeded room {}"), said("succeeded private-a {}"),
            said(#"order room {"id":1}"#))
        play.close(c, .rst("reset"))
        play.pass(ms: 20)
        let d = open(play)
        play.pass(ms: 1)
        say(play, d, "subscribe room")
        say(play, d, "subscribe private-a KEY:00")
        play.pass(ms: 100)
        play.expect(
            d, "101", hello("2.2"), said("succeeded room {}"), said("succeeded private-a {}"),
            said(#"order room {"id":3}"#),
            said(#"order private-a {"id":4}"#))
        #expect(play.finish().divergences.isEmpty)
    }

    // MARK: Socket ids

    private static let presence = """
        1 < hello 1.2
        2 > subscribe presence-a KEY:00 {"user_id":"1.2"}
        3 < succeeded presence-a {"presence":{"count":1,"ids":["1.2"],"hash":{"1.2":null}}}
        4 < added presence-a {"user_id":"7"}
        """

    @Test func recordedIdsAreKept() throws {
        let play = try Playbook([EventflitTape.session(Self.presence)], speed: .instant) { $0.clients = 2 }
        for host in ["10.0.0.1", "10.0.0.2"] {
            play.host = host
            let c = open(play)
            say(play, c, #"subscribe presence-a KEY:00 {"user_id":"1.2"}"#)
            play.expect(
                c, "101", hello(),
                said(#"succeeded presence-a {"presence":{"count":1,"ids":["1.2"],"hash":{"1.2":null}}}"#),
                said(#"added presence-a {"user_id":"7"}"#))
        }
        #expect(play.finish().divergences.isEmpty)
    }

    private static let auth = [
        RecordedExchange(
            event: 5, line: 6, time: 0, answered: 0, connection: 2,
            request: RequestHead(
                method: "POST", target: "/pusher/auth",
                headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")]),
            requestBody: Array("socket_id=1.2&channel_name=presence-a".utf8), response: ResponseHead(status: 200),
            responseBody: Array(#"{"auth":"KEY:00","channel_data":"{\"user_id\":\"1.2\"}"}"#.utf8))
    ]

    /// The application's signatures are made anew for the new id, and checked.
    @Test func freshIds() throws {
        let play = try Playbook([EventflitTape.session(Self.presence)], exchanges: Self.auth, speed: .instant) {
            $0.ids.areFresh = true
            $0.ids.secrets = ["KEY": "replay-secret"]
        }
        let c = open(play)
        play.expect(c, "101", hello("2.2"))
        let a = play.request(
            "POST", "/pusher/auth", [HeaderField("Content-Type", "application/json")],
            body: Array(#"{"channel_name":"presence-a","socket_id":"2.2"}"#.utf8))
        let data = #"{"user_id":"1.2"}"#
        let hex = EventflitCodec.signature(
            secret: "replay-secret", socketID: "2.2", channel: "presence-a", channelData: data)
        play.expect(a, #"200 {"auth":"KEY:\#(hex)","channel_data":"{\"user_id\":\"1.2\"}"}"#)
        let own = #"{"user_id":"2.2"}"#
        let signed = EventflitCodec.signature(
            secret: "replay-secret", socketID: "2.2", channel: "presence-a", channelData: own)
        say(play, c, "subscribe presence-a KEY:\(signed) \(own)")
        play.expect(
            c, said(#"succeeded presence-a {"presence":{"count":1,"ids":["2.2"],"hash":{"2.2":null}}}"#),
            said(#"added presence-a {"user_id":"7"}"#))
        #expect(play.finish().divergences.isEmpty)
    }

    @Test func wrongSignatures() throws {
        let play = try Playbook([EventflitTape.session(Self.presence)], speed: .instant) {
            $0.ids.secrets = ["KEY": "replay-secret"]
        }
        let c = open(play)
        say(play, c, #"subscribe presence-a KEY:00 {"user_id":"1.2"}"#)
        let got = play.take(c)
        #expect(
            got.count == 4 && got[2].hasPrefix(#"{"event":"pusher:error","data":{"code":null,"message":"Invalid sig"#))
        #expect(play.finish().divergences.first?.contains("/signature") == true)
    }

    /// The endpoint is asked again after each reconnect, for whatever socket, and in any form.
    @Test func theEndpointAnswersAgain() throws {
        let play = try Playbook([EventflitTape.session(Self.presence)], exchanges: Self.auth, speed: .instant)
        for body in ["socket_id=1.2&channel_name=presence-a", "channel_name=presence-a&socket_id=9.9"] {
            let a = play.request("POST", "/pusher/auth", body: Array(body.utf8))
            play.expect(a, #"200 {"auth":"KEY:00","channel_data":"{\"user_id\":\"1.2\"}"}"#)
        }
        let other = play.request("POST", "/pusher/auth", body: Array("socket_id=1.2&channel_name=private-b".utf8))
        #expect(play.answers[other]?.status == 409)
    }

    /// Two users of one channel, who come in another order: each gets the session of its user under its own id.
    @Test func usersInAnotherOrder() throws {
        let other = """
            1 < hello 3.4
            2 > subscribe presence-a KEY:00 {"user_id":"8"}
            3 < succeeded presence-a {"presence":{"count":1,"ids":["8"],"hash":{"8":null}}}
            """
        let first = """
            1 < hello 1.2
            2 > subscribe presence-a KEY:00 {"user_id":"7"}
            3 < succeeded presence-a {"presence":{"count":1,"ids":["7"],"hash":{"7":null}}}
            """
        let play = try Playbook(
            [EventflitTape.session(first), EventflitTape.session(other, number: 2)], speed: .instant)
        let c = open(play)
        say(play, c, #"subscribe presence-a KEY:00 {"user_id":"8"}"#)
        play.expect(
            c, "101", hello("1.2"),
            said(#"succeeded presence-a {"presence":{"count":1,"ids":["8"],"hash":{"8":null}}}"#))
        play.host = "10.0.0.2"
        let d = open(play)
        say(play, d, #"subscribe presence-a KEY:00 {"user_id":"7"}"#)
        play.expect(
            d, "101", hello("1.2"),
            said(#"succeeded presence-a {"presence":{"count":1,"ids":["7"],"hash":{"7":null}}}"#))
        #expect(play.finish().divergences.isEmpty)
    }
}
