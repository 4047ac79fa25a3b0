import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeIntercept
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// What live traffic tells policies of a client that comes back.
@Suite struct LiveConductTests {
    /// A SignalR client between a proxy's rules and its server, in virtual time.
    private final class Talk {
        let faults: LiveFaults
        private(set) var now = WireInstant(nanoseconds: 5_000_000_000)
        private var tokens = 0

        init(_ policies: [String], _ rules: [String] = []) throws {
            var plan = FaultPlan()
            for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
            faults = LiveFaults(plan, seed: 1, codecs: Codecs.all, observes: true, at: now)
            expectations = try policies.map { try Expectation.parse($0) }
            faults.subscribers = Subscribers(expectations)
            _ = faults.accepted(1, from: Address(host: "10.0.0.1", port: 5_000), listener: "main", at: now)
        }

        private let expectations: [WiretapeAttempts.Expectation]

        func pass(_ milliseconds: UInt64) { now = now.advanced(by: milliseconds * 1_000_000) }

        private func ask(_ method: String, _ target: String, _ fields: [HeaderField] = []) -> LiveExchange {
            let head = RequestHead(
                method: method, target: target, headers: [HeaderField("User-Agent", "test")] + fields)
            return faults.request(head, on: 1, at: now)
        }

        func negotiate(_ more: String = "") -> LiveExchange {
            tokens += 1
            let exchange = ask("POST", "/chat/negotiate?negotiateVersion=1")
            faults.answered(exchange, ResponseHead(status: 200), at: now)
            let body =
                #"{"negotiateVersion":1,"connectionId":"c\#(tokens)","connectionToken":"t\#(tokens)"\#(more),"availableTransports":[]}"#
            _ = faults.negotiated(exchange, body: Array(body.utf8), at: now)
            return exchange
        }

        /// A connection with its handshake.
        func connect() -> LiveExchange {
            _ = negotiate()
            let upgrade = ask(
                "GET", "/chat?id=t\(tokens)",
                [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
            faults.answered(upgrade, ResponseHead(status: 101), at: now)
            say(#"{"protocol":"json","version":1}"#, .toServer, upgrade)
            say("{}", .toClient, upgrade)
            return upgrade
        }

        func poll() -> LiveExchange { ask("GET", "/chat?id=t\(tokens)&_=1") }

        /// What the server, or a rule, answers a poll.
        func answer(_ poll: LiveExchange, _ status: Int, by: Attempt.End.Party? = nil) {
            faults.answered(poll, ResponseHead(status: status), by: by, at: now)
            if by == nil { faults.settled(poll, at: now) }
        }

        /// Records over HTTP with that token.
        func post(_ text: String, token: Int? = nil, status: Int = 200) {
            let send = ask("POST", "/chat?id=t\(token ?? tokens)")
            _ = faults.payload(Array((text + "\u{1e}").utf8), .text, .toServer, of: send, on: .lp, at: now)
            faults.answered(send, ResponseHead(status: status), at: now)
        }

        /// Long polling with its handshake; the poll that waits then.
        func startPolling() -> LiveExchange {
            _ = negotiate()
            answer(poll(), 200)
            let second = poll()
            post(#"{"protocol":"json","version":1}"#)
            faults.answered(second, ResponseHead(status: 200), at: now)
            _ = faults.payload(Array("{}\u{1e}".utf8), .text, .toClient, of: second, on: .lp, at: now)
            faults.settled(second, at: now)
            return poll()
        }

        func say(_ text: String, _ direction: Direction, _ upgrade: LiveExchange) {
            pass(10)
            _ = faults.payload(Array((text + "\u{1e}").utf8), .text, direction, of: upgrade, on: .ws, at: now)
        }

        func call(_ id: Int, _ target: String, on upgrade: LiveExchange, isAnswered: Bool = true) {
            say(#"{"type":1,"invocationId":"\#(id)","target":"\#(target)","arguments":[]}"#, .toServer, upgrade)
            if isAnswered { say(#"{"type":3,"invocationId":"\#(id)"}"#, .toClient, upgrade) }
        }

        /// A GET that is answered by an event stream, or another request that is answered otherwise.
        @discardableResult
        func get(_ target: String, _ method: String = "GET", type: String = "text/event-stream") -> LiveExchange {
            let exchange = ask(method, target)
            let head = ResponseHead(status: 200, headers: [HeaderField("Content-Type", type)])
            faults.answered(exchange, head, at: now)
            if type == "text/event-stream" {
                let event = Array("data: 1\n\n".utf8)
                _ = faults.payload(event, .text, .toClient, of: exchange, on: .sse, at: now)
            }
            return exchange
        }

        func lose(_ upgrade: LiveExchange, by: Attempt.End.Party = .fault("cut"), how: Attempt.End.Manner = .reset) {
            faults.ended(upgrade, by: by, how: how, at: now)
        }

        var report: ReplayReport {
            pass(2_000)
            return faults.report(expectations, at: now)
        }
    }

    @Test func negotiationsThatLeadNowhere() throws {
        let talk = try Talk(["rate(max=5/s)"])
        for _ in 0..<12 {
            _ = talk.negotiate()
            talk.pass(20)
        }
        let report = talk.report
        #expect(report.sessions.map(\.attempts.count) == [12])
        #expect(report.expectations.map(\.word) == ["not met"])
        #expect(report.expectations[0].reason.contains("began 12 attempts within 1s"))
    }

    /// The negotiation that an answer sends the client to goes on with the attempt.
    @Test func aRedirectIsNoFurtherAttempt() throws {
        let talk = try Talk(["rate(max=1/s)"])
        _ = talk.negotiate(#","url":"http://10.0.0.2/chat""#)
        talk.pass(20)
        _ = talk.connect()
        #expect(talk.report.sessions.map(\.attempts.count) == [1])
    }

    /// A poll that a rule answers ends the connection as in a replay: the client's reconnect is the second attempt.
    @Test(arguments: [204, 302, 401, 404, 503])
    func aPollThatARuleAnswers(_ status: Int) throws {
        let talk = try Talk(["delays(0s)"])
        talk.answer(talk.startPolling(), status, by: .fault("refused"))
        talk.pass(5)
        _ = talk.startPolling()
        let report = talk.report
        #expect(report.sessions.map(\.attempts.count) == [2])
        #expect(report.sessions[0].attempts[0].ended?.by == .fault("refused"))
        #expect(report.sessions[0].attempts[0].ended?.how == .status(status))
        #expect(report.expectations.map(\.word) == ["met"])
    }

    @Test func aPollThatARuleAnswersWellGoesOn() throws {
        let talk = try Talk(["delays(0s)"])
        talk.answer(talk.startPolling(), 200, by: .fault("empty"))
        talk.answer(talk.poll(), 200)
        #expect(talk.report.sessions.map(\.attempts.count) == [1])
    }

    @Test func aPollThatGetsNoHTTP() throws {
        let talk = try Talk(["delays(0s)"])
        talk.faults.malformed(talk.startPolling(), by: .fault("garbled"), at: talk.now)
        _ = talk.startPolling()
        let report = talk.report
        #expect(report.sessions.map(\.attempts.count) == [2])
        #expect(report.expectations.map(\.word) == ["met"])
    }

    /// A send of the connection before is on its way while the next one is negotiated: its answer says nothing of that.
    @Test(arguments: [200, 404])
    func aLateSend(_ status: Int) throws {
        let talk = try Talk(["delays(0s)"])
        talk.answer(talk.startPolling(), 401, by: .fault("refused"))
        talk.post(#"{"type":1,"target":"Send","arguments":[]}"#, status: status)
        _ = talk.negotiate()
        talk.post(#"{"type":1,"target":"Send","arguments":[]}"#, token: 1, status: status)
        talk.answer(talk.poll(), 200)
        let report = talk.report
        #expect(report.sessions.map(\.attempts.count) == [2], "\(report.text)")
    }

    @Test func aGroupThatIsForgotten() throws {
        for (rejoins, word) in [(false, "not met"), (true, "met")] {
            let talk = try Talk(["resubscribes", "resubscribes(JoinGroup)"])
            let first = talk.connect()
            talk.call(1, "JoinGroup", on: first)
            talk.lose(first)
            let second = talk.connect()
            if rejoins { talk.call(1, "JoinGroup", on: second) }
            let report = talk.report
            #expect(report.expectations.map(\.word) == ["not judged", word])
            #expect(report.exitCode == 5 && report.sessions[0].repeated == 0)
        }
    }

    @Test func whatWasAcknowledgedAndWhatWasNot() throws {
        for isAnswered in [true, false] {
            let talk = try Talk(["once(Send)", "keeps(Send)"])
            let first = talk.connect()
            talk.call(1, "Send", on: first, isAnswered: isAnswered)
            talk.lose(first)
            let second = talk.connect()
            talk.call(7, "Send", on: second)
            let report = talk.report
            #expect(
                report.expectations.map(\.word) == (isAnswered ? ["not met", "not judged"] : ["not judged", "met"]))
            #expect(report.sessions[0].repeated == (isAnswered ? 1 : 0))
        }
    }

    /// What comes behind a rule's cut does not reach the client, and acknowledges nothing.
    @Test func anAnswerBehindTheCut() throws {
        let talk = try Talk(["keeps(Send)"], ["reset after Tick[1]"])
        let first = talk.connect()
        talk.call(1, "Send", on: first, isAnswered: false)
        talk.say(#"{"type":1,"target":"Tick","arguments":[1]}"#, .toClient, first)
        talk.say(#"{"type":3,"invocationId":"1"}"#, .toClient, first)
        talk.lose(first)
        let second = talk.connect()
        talk.call(2, "Send", on: second)
        #expect(talk.report.expectations.map(\.word) == ["met"])
    }

    @Test func whatWasNotAcknowledgedIsDropped() throws {
        for (again, word) in [(true, "not met"), (false, "met")] {
            let talk = try Talk(["drops(Send)"])
            let first = talk.connect()
            talk.call(1, "Send", on: first, isAnswered: false)
            talk.lose(first)
            let second = talk.connect()
            if again { talk.call(7, "Send", on: second) }
            #expect(talk.report.expectations.map(\.word) == [word])
        }
    }

    /// The report names what the client left out, and the policy that judges it.
    @Test func whatAConnectionBeganWithIsNamed() throws {
        for (rejoins, notes) in [(false, 1), (true, 0)] {
            let talk = try Talk([])
            let first = talk.connect()
            talk.call(1, "JoinRoom", on: first)
            talk.say(#"{"type":1,"target":"Tick","arguments":[1]}"#, .toClient, first)
            talk.call(2, "Send", on: first)
            talk.lose(first)
            let second = talk.connect()
            if rejoins { talk.call(1, "JoinRoom", on: second) }
            let report = talk.report
            #expect(report.sessions.map(\.notes.count) == [notes] && report.exitCode == 0)
            #expect(report.text.contains("began with: JoinRoom; --expect 'resubscribes(JoinRoom)'") != rejoins)
        }
    }

    @Test func aPlainRequestIsMade() throws {
        let talk = try Talk([#"asks("POST /login")"#, #"asks("GET /login")"#])
        #expect(talk.report.expectations.map(\.word) == ["not judged", "not judged"])
        talk.get("/login?from=here", "POST", type: "application/json")
        #expect(talk.report.expectations.map(\.word) == ["met", "not met"])
    }

    @Test func twoEventStreamsAtATime() throws {
        let two = try Talk(["single"])
        two.get("/events")
        two.pass(300)
        two.get("/events")
        let report = two.report
        #expect(report.expectations.contains { $0.word == "not met" }, "\(report.text)")
        #expect(report.reasons.contains { $0.contains("asked for a second connection (stream)") })
        // One behind the other, on two routes, or answers to two POST requests, as models give them.
        let good = try Talk(["single"])
        good.lose(good.get("/events"), by: .server, how: .fin)
        good.get("/events")
        good.get("/other")
        good.get("/chat", "POST")
        good.get("/chat", "POST")
        let judged = good.report.expectations
        #expect(!judged.isEmpty && judged.allSatisfy { $0.word == "met" }, "\(good.report.text)")
        // Heard in the other order.
        let crossed = try Talk(["single"])
        let first = crossed.get("/events")
        crossed.get("/events")
        crossed.lose(first, by: .client, how: .fin)
        #expect(crossed.report.expectations.allSatisfy { $0.word == "met" })
    }

    @Test func twoConnectionsAtATime() throws {
        let two = try Talk(["single"])
        _ = two.connect()
        _ = two.connect()
        #expect(two.report.expectations[0].reason.contains("asked for a second connection (upgrade)"))
        // A close and the next request may be heard in either order.
        let crossed = try Talk(["single"])
        let first = crossed.connect()
        _ = crossed.connect()
        crossed.lose(first, by: .client, how: .close(1000))
        #expect(crossed.report.expectations.map(\.met) == [true, true])
    }
}
