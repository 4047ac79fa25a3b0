import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReport
import WiretapeWire

/// A session of `pusher:` for a client of `eventflit:`, and the other way round.
@Suite struct EventflitDialectTests {
    private static let script = """
        1 < hello 1.2
        10 > subscribe presence-a KEY:00 {"user_id":"ada"}
        12 < succeeded presence-a {"presence":{"ids":["ada"],"count":1}}
        20 > client-typing presence-a {"on":true}
        30 < order presence-a {"text":"pusher:no event"}
        40 < added presence-a {"user_id":"bob"}
        """

    static let clients = [
        ("client=js&version=8.6.0&flash=false", "pusher"), ("client=pusher-websocket-swift&version=10.1.10", "pusher"),
        ("client=Pysher&version=1.0.7", "pusher"), ("client=js&version=1.0.2&flash=false", "eventflit"),
        ("client=eventflit-websocket-swift&version=0.1.0", "eventflit"),
    ]

    @Test(arguments: ["pusher", "eventflit"], clients)
    func whoeverAsksIsAnsweredInTheClientsDialect(_ recorded: String, _ client: (String, String)) throws {
        let (query, dialect) = client
        let play = try Playbook([EventflitTape.session(Self.script, dialect: recorded)])
        let c = play.request(
            "GET", "/app/KEY?protocol=7&\(query)",
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
        // The session of EventflitTape was recorded with a client that is called as Pusher's.
        let live = query == "client=js&version=8.0&flash=false" ? recorded : dialect
        func text(_ short: String, _ direction: Direction = .toClient) -> String {
            EventflitTape.text(short, direction, live)
        }
        play.pass(ms: 5)
        play.expect(c, "101", text("hello 1.2"))
        play.sendBytes(c, .text, Array(text("ping", .toServer).utf8))
        play.expect(c, "{\"event\":\"\(live):pong\",\"data\":\"{}\"}")
        play.sendBytes(c, .text, Array(text(#"subscribe presence-a KEY:11 {"user_id":"ada"}"#, .toServer).utf8))
        play.pass(ms: 5)
        play.expect(c, text(#"succeeded presence-a {"presence":{"ids":["ada"],"count":1}}"#))
        play.sendBytes(c, .text, Array(text(#"client-typing presence-a {"on":true}"#, .toServer).utf8))
        play.pass(ms: 50)
        // What an application says stays as it is.
        play.expect(
            c, text(#"order presence-a {"text":"pusher:no event"}"#), text(#"added presence-a {"user_id":"bob"}"#))
        play.pass(ms: 120_000)
        play.expect(c, "{\"event\":\"\(live):ping\",\"data\":\"{}\"}")
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
        #expect(play.logs.contains { $0.contains("the session is translated") } == (live != recorded))
    }

    /// A client of which nothing tells its dialect is taken for the recorded one.
    @Test func anUnknownClientGetsWhatWasRecorded() throws {
        let play = try Playbook([EventflitTape.session(Self.script, dialect: "eventflit")])
        let c = play.request("GET", "/app/KEY?protocol=7&client=mine&version=3", [HeaderField("Upgrade", "websocket")])
        play.pass(ms: 5)
        play.expect(c, "101", EventflitTape.text("hello 1.2", .toClient, "eventflit"))
    }

    /// The recorded client itself may be called as it likes.
    @Test func theRecordedClientGetsWhatWasRecorded() throws {
        let play = try Playbook([EventflitTape.session(Self.script, dialect: "eventflit")])
        let c = play.request(
            "GET", "/app/KEY?protocol=7&client=js&version=8.0&flash=false", [HeaderField("Upgrade", "websocket")])
        play.pass(ms: 5)
        play.expect(c, "101", EventflitTape.text("hello 1.2", .toClient, "eventflit"))
    }

    /// The clients' own default paths for authorisations have the prefix, too.
    @Test func anAuthorisationAtTheOtherDefaultPath() throws {
        func asked(_ path: String) -> RequestHead {
            RequestHead(
                method: "POST", target: path,
                headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")])
        }
        let body = Array("socket_id=1.2&channel_name=private-a".utf8)
        let recorded = RecordedExchange(
            event: 1, line: 2, time: 1_000_000, answered: 1_000_000, connection: 1, request: asked("/eventflit/auth"),
            requestBody: body, response: ResponseHead(status: 200), responseBody: Array(#"{"auth":"KEY:00"}"#.utf8),
            isCut: false)
        let play = try Playbook([EventflitTape.session(Self.script, dialect: "eventflit")], exchanges: [recorded])
        let c = play.request("POST", "/pusher/auth", asked("").headers, body: body)
        play.pass(ms: 10)
        play.expect(c, #"200 {"auth":"KEY:00"}"#)
    }
}
