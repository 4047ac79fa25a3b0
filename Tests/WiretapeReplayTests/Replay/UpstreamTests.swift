import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Tapes of several upstreams: a client of one's listener is served what was recorded there and nothing else.
@Suite struct UpstreamTests {
    /// The same route twice: `one` was recorded at `api`, `two` at `hub`.
    private static func sessions(names: [String?] = [nil, nil]) -> [RecordedSession] {
        ["one", "two"].enumerated().map { i, word in
            var session = TestTape.session(
                TestTape.handshake + """
                    5 < {"type":1,"target":"Tick","arguments":["\(word)"]}
                    """, number: i + 1)
            session.opening.upstream = ["api", "hub"][i]
            session.negotiate?.upstream = session.opening.upstream
            session.name = names[i]
            return session
        }
    }

    private static func exchange(_ upstream: String, _ path: String, _ answer: String) -> RecordedExchange {
        RecordedExchange(
            event: 1, line: 2, time: 0, answered: 0, connection: 1, request: RequestHead(method: "GET", target: path),
            response: ResponseHead(status: 200), responseBody: Array(answer.utf8), upstream: upstream)
    }

    private static let exchanges = [
        exchange("api", "/who", "I am api"), exchange("hub", "/who", "I am hub"), exchange("api", "/only", "api"),
    ]

    private func play(
        names: [String?] = [nil, nil], upstreams: [String] = ["api", "hub"],
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws -> Playbook {
        try Playbook(Self.sessions(names: names), exchanges: Self.exchanges, upstreams: upstreams, change)
    }

    private func ticks(_ play: Playbook, at upstream: String?) throws -> [String] {
        play.upstream = upstream
        let c = try play.start()
        play.pass(ms: 100)
        return play.take(c)
    }

    private func tick(_ word: String) -> String { #"{"type":1,"target":"Tick","arguments":["\#(word)"]}"# }

    @Test func theSecondIsAskedFirst() throws {
        let play = try play()
        #expect(try ticks(play, at: "hub") == [tick("two")])
        #expect(try ticks(play, at: "api") == [tick("one")])
        let report = play.finish()
        #expect(report.exitCode == 0, "\(report.reasons)")
        #expect(report.sessions.map(\.upstream) == ["api", "hub"] && report.unclaimed == [])
        #expect(report.text.contains("session 2 (signalr over ws at hub), "))
        #expect(report.json["sessions"]?.array?.map { $0["upstream"]?.string } == ["api", "hub"])
    }

    /// Clients of a forward proxy: `http` and `https` of one host are two servers if the tape has both. If it has only one, that one serves both.
    @Test func theOriginsOfAHost() throws {
        let both = [
            Self.exchange("main", "/", "http"), Self.exchange("server2", "/", "https"),
            Self.exchange("b.example", "/", "b"), Self.exchange("c.example:80", "/", "c"),
        ]
        let hosts = Upstreams(forward: ["main": "a.example:80", "server2": "a.example"])
        let play = try Playbook([], exchanges: both, upstreams: hosts)
        for (host, body) in [
            ("a.example", "https"), ("a.example:80", "http"), ("b.example:80", "b"), ("b.example", "b"),
            ("c.example", "c"),
        ] {
            play.upstream = host
            play.expect(play.request("GET", "/"), "200 \(body)")
        }
        play.upstream = "b.example:81"
        #expect(play.take(play.request("GET", "/")).first?.hasPrefix("404 ") == true)
    }

    @Test func whatTheOtherHasIsNotLeft() throws {
        let play = try play()
        _ = try ticks(play, at: "hub")
        // Its only one is taken, though the other upstream's is not.
        #expect(play.negotiate() == nil)
        #expect(play.finish().unclaimed == [1])
    }

    @Test func tokensOfTheOtherAreUnknown() throws {
        let play = try play()
        play.upstream = "api"
        let token = try #require(play.negotiate())
        play.upstream = "hub"
        #expect(play.take(play.upgrade(token)).first?.hasPrefix("404 ") == true)
        let poll = play.request("GET", "/chat?id=\(token)")
        #expect(play.take(poll).first?.hasPrefix("404 ") == true)
        play.upstream = "api"
        #expect(play.take(play.upgrade(token)).first == "101")
    }

    @Test func exchangesAndMisses() throws {
        let play = try play()
        play.upstream = "hub"
        play.expect(play.request("GET", "/who"), "200 I am hub")
        let missed = try #require(play.take(play.request("GET", "/only")).first)
        #expect(
            missed.hasPrefix("404 ")
                && missed.contains("no session or exchange on chat.tape at upstream 'hub' for GET /only."))
        #expect(
            missed.contains("It has: POST /chat/negotiate, GET /chat, GET /who. Accept with --route '/only=/chat'."))
        play.upstream = "api"
        play.expect(play.request("GET", "/only"), "200 api")
        #expect(play.finish().exchanges.unplayed == ["GET /who at api (chat.tape:2)"])
    }

    @Test func namesAreThoseOfTheUpstream() throws {
        let play = try play(names: ["ada", nil])
        play.listener = "ada"
        // Nobody has a name there: it only tells clients apart.
        #expect(try ticks(play, at: "hub") == [tick("two")])
        play.listener = "bob"
        play.upstream = "api"
        let miss = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.take(miss).first?.contains("of chat.tape at upstream 'api' is named 'bob'. It has: ada") == true)
        play.listener = "ada"
        #expect(try ticks(play, at: "api") == [tick("one")])
    }

    /// Of a tape with one upstream every listener serves all, in recorded order, and nothing is said of it.
    @Test func oneUpstreamIsNone() throws {
        let play = try play(upstreams: ["hub"])
        #expect(try ticks(play, at: nil) == [tick("one")])
        #expect(try ticks(play, at: nil) == [tick("two")])
        let report = play.finish()
        #expect(report.sessions.map(\.upstream) == [nil, nil] && !report.text.contains(" at hub"))
        #expect(report.exchanges.unplayed.first == "GET /who (chat.tape:2)")
    }

    /// What the header does not name belongs to the first.
    @Test func anUpstreamOfALaterTake() throws {
        let play = try play(upstreams: ["hub", "other"])
        #expect(try ticks(play, at: "hub") == [tick("one")])
        #expect(try ticks(play, at: "hub") == [tick("two")])
        play.upstream = "other"
        #expect(play.negotiate() == nil)
    }
}
