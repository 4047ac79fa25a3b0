import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Ordinary requests beside the sessions.
@Suite struct ExchangeTests {
    private static func exchange(
        _ line: Int, _ method: String, _ target: String, _ body: String = "", type: String = "application/json",
        status: Int = 200, answer: String, _ headers: [HeaderField] = [], after ms: UInt64 = 0
    ) -> RecordedExchange {
        RecordedExchange(
            event: UInt64(line - 1), line: line, time: 1_000_000_000, answered: 1_000_000_000 + ms * 1_000_000,
            connection: 1,
            request: RequestHead(
                method: method, target: target,
                headers: [HeaderField("Host", "api.example.com"), HeaderField("Content-Type", type)]),
            requestBody: Array(body.utf8), response: ResponseHead(status: status, headers: headers),
            responseBody: Array(answer.utf8))
    }

    private func ask(
        _ play: Playbook, _ method: String, _ target: String, _ body: String = "", type: String = "application/json"
    ) -> ConnectionID {
        play.request(
            method, target, [HeaderField("Content-Type", type), HeaderField("Host", "127.0.0.1:80")],
            body: Array(body.utf8))
    }

    @Test func equalRequestsAreAnsweredInRecordedOrder() throws {
        let play = try Playbook([
            Self.exchange(2, "GET", "/api/n?b=2&a=1", answer: "one"),
            Self.exchange(3, "GET", "/api/n?a=1&b=2&_=77", answer: "two"),
        ])
        for wanted in ["one", "two", "two"] {
            play.expect(ask(play, "GET", "/api/n?a=1&b=2&_=5"), "200 \(wanted)")
        }
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(report.exchanges.played == 3 && report.exchanges.recorded == 2 && report.exchanges.unplayed == [])
    }

    /// A response to HEAD keeps its recorded `Content-Length`.
    @Test(arguments: ["1234", "many", nil]) func aHeadKeepsItsLength(_ length: String?) throws {
        let fields = length.map { [HeaderField("Content-Length", $0)] } ?? []
        let play = try Playbook([Self.exchange(2, "HEAD", "/file", answer: "", fields)])
        let c = ask(play, "HEAD", "/file")
        #expect(play.answers[c]?.headers.first("Content-Length") == (length == "1234" ? length : nil))
    }

    /// The replay hangs up, cuts a response short or stays silent where the recorded server did.
    @Test func recordedFailuresArePlayed() throws {
        func failed(
            _ line: Int, _ target: String, _ failure: RecordedExchange.Failure, _ headers: [HeaderField] = []
        ) -> RecordedExchange {
            var exchange = Self.exchange(line, "GET", target, answer: "half", headers, after: 50)
            exchange.failure = failure
            return exchange
        }
        let play = try Playbook([
            failed(2, "/flaky", .hungUp(isReset: false)), Self.exchange(3, "GET", "/flaky", answer: "fine"),
            failed(4, "/rst", .hungUp(isReset: true)),
            failed(5, "/big", .cut(isReset: true), [HeaderField("Content-Length", "100")]),
            failed(6, "/pieces", .cut(isReset: false), [HeaderField("Transfer-Encoding", "chunked")]),
            failed(7, "/slow", .unanswered),
        ])
        let flaky = ask(play, "GET", "/flaky")
        play.pass(ms: 49)
        play.expect(flaky)
        play.pass(ms: 1)
        play.expect(flaky, "FIN")
        play.expect(ask(play, "GET", "/flaky"), "200 fine")
        for (target, end, head, body) in [
            ("/rst", "RST", nil, ""), ("/big", "RST", "Content-Length: 100", "half"),
            ("/pieces", "FIN", "Transfer-Encoding: chunked", "4\r\nhalf\r\n"),
        ] as [(String, String, String?, String)] {
            let c = ask(play, "GET", target)
            play.pass(ms: 100)
            var wanted = [end]
            if let head {
                wanted.insert("raw \(hexText(Array("HTTP/1.1 200 \r\n\(head)\r\n\r\n\(body)".utf8)))", at: 0)
            }
            #expect(play.take(c) == wanted, "\(target)")
        }
        let slow = ask(play, "GET", "/slow")
        play.pass(ms: 60_000)
        play.expect(slow)
        play.close(slow)
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(report.exchanges.played == 6 && report.exchanges.unplayed == [])
    }

    @Test func bodiesAreComparedByMeaning() throws {
        let form = "application/x-www-form-urlencoded"
        let play = try Playbook([
            Self.exchange(2, "POST", "/a", #"{"x":1,"y":[2.0]}"#, answer: "json"),
            Self.exchange(3, "POST", "/f", "b=2&a=1", type: form, answer: "form"),
            Self.exchange(
                4, "POST", "/m", "--XX\r\nhi\r\n--XX--", type: "multipart/form-data; boundary=XX", answer: "multipart"),
            Self.exchange(5, "POST", "/t", "b=2&a=1", type: "text/plain", answer: "text"),
        ])
        play.expect(ask(play, "POST", "/a", #"{ "y": [2], "x": 1 }"#), "200 json")
        play.expect(ask(play, "POST", "/f", "a=1&b=2", type: form), "200 form")
        play.expect(
            ask(play, "POST", "/m", "--Y-Y\r\nhi\r\n--Y-Y--", type: "multipart/form-data; boundary=\"Y-Y\""),
            "200 multipart")
        let c = ask(play, "POST", "/t", "a=1&b=2", type: "text/plain")
        #expect(play.answers[c]?.status == 409)
    }

    @Test func anotherBodyIsADivergenceWithItsPlace() throws {
        let recorded = Self.exchange(31, "POST", "/api/orders", #"{"item":1,"at":5}"#, answer: "ok")
        let play = try Playbook([recorded])
        let c = ask(play, "POST", "/api/orders", #"{"item":2,"at":5}"#)
        #expect(play.answers[c]?.status == 409)
        #expect(play.logs == [try Golden.text("exchange-differs")])
        let report = play.finish()
        #expect(report.exitCode == 2)
        #expect(report.exchanges.unexpected == ["POST /api/orders"])
        #expect(report.exchanges.unplayed == ["POST /api/orders (chat.tape:31)"])

        for rule in ["POST /api/orders:/item", "/api/orders:/item"] {
            let accepted = try Playbook([recorded]) { $0.ignore = [try! IgnoreRule(parsing: rule)] }
            accepted.expect(ask(accepted, "POST", "/api/orders", #"{"item":2,"at":5}"#), "200 ok")
        }
    }

    @Test func anotherQueryIsADivergenceWithItsItem() throws {
        let recorded = Self.exchange(7, "GET", "/api/list?page=1&size=10", answer: "ok")
        let play = try Playbook([recorded])
        _ = ask(play, "GET", "/api/list?size=10&page=2")
        #expect(
            play.logs[0].contains(
                "recorded  page=1\n    received  page=2\n    accept:   --ignore 'GET /api/list:?page'"))
        let accepted = try Playbook([recorded]) { $0.ignore = [try! IgnoreRule(parsing: "GET /api/list:?page")] }
        accepted.expect(ask(accepted, "GET", "/api/list?size=10&page=2"), "200 ok")
    }

    @Test(arguments: [
        (ReplayOptions.WhenExhausted.refuse, 409, "wiretape:"), (.repeat, 200, "200 one"), (.last, 200, "200 two"),
    ])
    func beyondTheRecordedOnes(_ how: ReplayOptions.WhenExhausted, _ status: Int, _ text: String) throws {
        let play = try Playbook([
            Self.exchange(2, "POST", "/x", answer: "one"), Self.exchange(3, "POST", "/x", answer: "two"),
        ]) { $0.whenExhausted = how }
        play.expect(ask(play, "POST", "/x"), "200 one")
        play.expect(ask(play, "POST", "/x"), "200 two")
        let c = ask(play, "POST", "/x")
        #expect(play.answers[c]?.status == status)
        #expect((play.logs + play.take(c)).contains { $0.hasPrefix(text) })
        #expect(play.finish().verdict == (how == .refuse ? .diverged : .pass))
    }

    @Test func theRecordedTimeIsTaken() throws {
        let slow = [Self.exchange(2, "GET", "/slow", answer: "ok", after: 400)]
        let play = try Playbook(slow) { $0.speed = .factor(2) }
        let c = ask(play, "GET", "/slow")
        play.pass(ms: 199)
        play.expect(c)
        #expect(!play.engine.isFinished)
        play.pass(ms: 1)
        play.expect(c, "200 ok")
        play.pass(ms: 250)
        #expect(play.engine.isFinished)
        let capped = try Playbook(slow) { $0.clock.idleCap = 100_000_000 }
        let d = ask(capped, "GET", "/slow")
        capped.pass(ms: 100)
        capped.expect(d, "200 ok")
    }

    @Test func headersAreMadeAnew() throws {
        let play = try Playbook([
            Self.exchange(
                2, "GET", "/h", answer: "ok",
                [
                    HeaderField("Content-Type", "text/plain"),
                    HeaderField("Date", "Fri, 20 Nov 2026 00:00:00 GMT"), HeaderField("Content-Length", "99"),
                    HeaderField("Set-Cookie", "sid=td_1; Domain=example.com; Path=/; Secure; HttpOnly; SameSite=None"),
                    HeaderField("Location", "https://api.example.com/next?x=1"), HeaderField("ETag", "\"1\""),
                    HeaderField("Access-Control-Allow-Origin", "https://example.com"),
                    HeaderField("Strict-Transport-Security", "max-age=1"),
                ])
        ])
        let c = play.request(
            "GET", "/h", [HeaderField("Host", "127.0.0.1:4000"), HeaderField("Origin", "http://localhost:3000")])
        let headers = play.answers[c]?.headers ?? []
        #expect(
            headers.map { "\($0.name): \($0.value)" } == [
                "Content-Type: text/plain",
                "Set-Cookie: sid=td_1; Domain=example.com; Path=/; Secure; HttpOnly; SameSite=None",
                "Location: https://api.example.com/next?x=1", "ETag: \"1\"",
                "Access-Control-Allow-Origin: http://localhost:3000", "Access-Control-Allow-Credentials: true",
                "Vary: Origin",
            ])
    }

    @Test func aClientWithoutACopyGetsTheWholeAnswer() throws {
        let play = try Playbook([
            Self.exchange(2, "GET", "/c", status: 304, answer: ""), Self.exchange(3, "GET", "/c", answer: "whole"),
        ])
        play.expect(ask(play, "GET", "/c"), "200 whole")
        let head = ask(play, "HEAD", "/c")
        #expect(play.answers[head]?.status == 200)
    }

    @Test func rulesActOnThem() throws {
        let play = try Playbook([Self.exchange(2, "POST", "/x", answer: "ok")], faults: ["respond(503) on request[1]"])
        let c = ask(play, "POST", "/x")
        #expect(play.answers[c]?.status == 503)
        play.expect(ask(play, "POST", "/x"), "200 ok")
        let report = play.finish()
        #expect(report.faults.map(\.action) == ["respond(503)"])
        #expect(report.verdict == .pass)
    }

    @Test func theyAreInTheDigestWhateverTheirOrder() throws {
        let tape = [Self.exchange(2, "GET", "/a", answer: "a"), Self.exchange(3, "GET", "/b", answer: "b")]
        let digests = try [["/a", "/b"], ["/b", "/a"], ["/a"]].map { paths in
            let play = try Playbook(tape)
            for path in paths { _ = ask(play, "GET", path) }
            return play.finish().digest
        }
        #expect(digests[0] == digests[1] && digests[0] != digests[2])
    }

    @Test func everyClientGetsThemAnew() throws {
        let play = try Playbook([Self.exchange(2, "POST", "/x", answer: "ok")]) { $0.clients = 2 }
        play.expect(ask(play, "POST", "/x"), "200 ok")
        play.host = "10.0.0.2"
        play.expect(ask(play, "POST", "/x"), "200 ok")
        let c = ask(play, "POST", "/x")
        #expect(play.answers[c]?.status == 409)
    }

    @Test func whatIsElsewhereIsAMiss() throws {
        let play = try Playbook([Self.exchange(2, "GET", "/api/users", answer: "ok")])
        let c = ask(play, "GET", "/api/user")
        #expect(play.answers[c]?.status == 404)
        #expect(
            play.logs == ["wiretape: no session or exchange on chat.tape for GET /api/user. It has: GET /api/users."])
    }

    @Test func strictTakesThemInTheirOrder() throws {
        let tape = [
            Self.exchange(2, "POST", "/x", #"{"n":1}"#, answer: "one"),
            Self.exchange(3, "POST", "/x", #"{"n":2}"#, answer: "two"),
        ]
        let relaxed = try Playbook(tape)
        relaxed.expect(ask(relaxed, "POST", "/x", #"{"n":2}"#), "200 two")
        let strict = try Playbook(tape) { $0.match = .strict }
        let c = ask(strict, "POST", "/x", #"{"n":2}"#)
        #expect(strict.answers[c]?.status == 409)
        let off = try Playbook(tape) { $0.match = .off }
        off.expect(ask(off, "POST", "/x", #"{"n":7}"#), "200 one")
    }
}
