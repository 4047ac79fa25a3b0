import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A client that subscribes again receives the current state, and not the recorded one.
@Suite struct EventflitSnapshotTests {
    private static let presence = """
        1 < hello 1.2
        10 > subscribe presence-a KEY:00 {"user_id":"7"}
        12 < succeeded presence-a {"presence":{"count":2,"ids":["7","8"],"hash":{"7":{"name":"ada"},"8":null}}}
        20 < added presence-a {"user_id":"9","user_info":{"name":"eve"}}
        30 < removed presence-a {"user_id":"8"}
        40 < news presence-a {"n":1}
        """
    private static let cache = """
        1 < hello 1.2
        10 > subscribe cache-a
        12 < succeeded cache-a {}
        13 < pusher:cache_miss cache-a {}
        30 < news cache-a {"n":1}
        40 < news cache-a {"n":2}
        60 < news cache-a {"n":3}
        """

    private func text(_ short: String, _ direction: Direction = .toClient) -> String {
        EventflitTape.text(short, direction)
    }

    /// The messages that a client receives on its second connection, after the opening. Its first connection ends `length` milliseconds after the
    /// subscription.
    private func again(_ script: String, _ subscription: String, after length: UInt64) throws -> [String] {
        let play = try Playbook([EventflitTape.session(script)])
        var received: [String] = []
        for time in [length, 1_000] {
            let c = play.request(
                "GET", "/app/KEY?version=1&client=other&protocol=6",
                [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
            play.pass(ms: 1)
            play.sendBytes(c, .text, Array(text(subscription, .toServer).utf8))
            play.pass(ms: time)
            received = Array(play.take(c).dropFirst(2))
            if time == length { play.close(c, .rst("reset")) }
        }
        #expect(play.finish().divergences.isEmpty)
        return received
    }

    @Test func presenceListsAreUpToDate() throws {
        func list(_ members: String) -> String { text(#"succeeded presence-a {"presence":{\#(members)}}"#) }
        let received = try again(Self.presence, #"subscribe presence-a KEY:11 {"user_id":"7"}"#, after: 22)
        #expect(
            received == [
                list(#""count":2,"ids":["7","9"],"hash":{"7":{"name":"ada"},"9":{"name":"eve"}}"#),
                text(#"news presence-a {"n":1}"#),
            ])
        let early = try again(Self.presence, #"subscribe presence-a KEY:11 {"user_id":"7"}"#, after: 5)
        #expect(early.first == list(#""count":2,"ids":["7","8"],"hash":{"7":{"name":"ada"},"8":null}"#))
    }

    @Test func cacheChannelsSendTheirLastEventAgain() throws {
        let subscribed = text("succeeded cache-a {}")
        func news(_ n: Int) -> String { text(#"news cache-a {"n":\#(n)}"#) }
        #expect(try again(Self.cache, "subscribe cache-a", after: 35) == [subscribed, news(2), news(3)])
        let missed = text("pusher:cache_miss cache-a {}")
        #expect(
            try again(Self.cache, "subscribe cache-a", after: 10) == [subscribed, missed, news(1), news(2), news(3)])
    }
}
