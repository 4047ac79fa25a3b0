import Testing
import WiretapeAttempts
import WiretapeFaults
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeSettings
import WiretapeWire

/// Every number of rules, plans, policies and options at its limits: it is refused with a sentence, or played.
@Suite struct RuleNumbersTests {
    static let rules: [String] =
        Faults.all.flatMap(\.examples)
        .filter { !LimitNumbers.digits(in: $0).isEmpty } + [
            "drop on message[every 3]", "drop on message[2..5]", "drop on message[1|4]", "reset after message[2] max=3",
            "drop on message[size=100..200]", "drop on message[size=>100]", "drop on message[size=<100]",
            "drop on message p=0.5", "drop on message[size=0..200]",
            "reset since connect=5s", "drop on close[code=1000]", "drop on message in session=2",
            "refuse on connect[attempt=2, retry=1]", "drop on message[regex=\"a{2,5}\"]", "outage(3s) since run=5s",
        ]

    static let policies: [String] =
        Expectation.forms.map(\.example).filter { !LimitNumbers.digits(in: $0).isEmpty } + [
            "exponential(1s, factor=2, cap=30s, jitter=20%)",
            "polynomial(1s, power=2, cap=120s, from=1, jitter=1s..2s)",
            "delays(0s, 2s, early=50ms, late=1s)", "rate(max=5/30s)", "stays-away(after=close(4000..4099|4400))",
        ]

    private static let numbers = LimitNumbers.all + ["999999999999", "9223372036", "0.0000001", "nan", "inf"]

    /// The text with each of its numbers replaced by each of the others.
    private static func changed(_ text: String) -> [String] {
        LimitNumbers.digits(in: text).flatMap { range in
            numbers.map { number in
                var text = text
                text.replaceSubrange(range, with: number)
                return text
            }
        }
    }

    private static let chat = Result { try Recordings.sessions("chat") }

    @Test(arguments: rules) func ofRules(_ example: String) throws {
        let sessions = try Self.chat.get()
        _ = try FaultRule(parsing: example, from: RuleSource(file: "--fault"))
        for text in Self.changed(example) {
            guard let rule = try? FaultRule(parsing: text, from: RuleSource(file: "--fault")) else { continue }
            #expect(try FaultRule(parsing: rule.inline, from: rule.source).inline == rule.inline, "\(text)")
            var plan = FaultPlan()
            plan.append(rule)
            _ = plan.hopeless(in: sessions, tapeName: "chat.tape", options: ReplayOptions())
            let play = try Playbook(sessions, plan: plan) { $0.onDivergence = .warn }
            for _ in 0..<2 {
                guard let token = play.negotiate(sessions[0].route) else { continue }
                let c = play.upgrade(token, sessions[0].route)
                play.send(c, #"{"protocol":"json","version":1}"#)
                play.pass(ms: 2_000)
                play.close(c)
            }
            play.pass(ms: 1_000)
            #expect(!play.engine.finish(at: play.now).text.isEmpty)
        }
    }

    /// The same in plans of YAML and JSON.
    @Test func ofPlans() throws {
        let forms = [
            "{ when: { at: message, direction: toClient, probability: 0.2, max: 3, occurrence: 2 }, do: drop }",
            "{ when: { since: { run: 5s }, session: 2, attempt: 1, retry: 3 }, do: outage(3s) }",
            "{ when: { at: message, size: 100, /item/id: 7 }, do: [truncate(2), reset] }",
        ]
        for form in forms {
            let yaml = { (text: String) in
                try PlanFile.load("p") { _ throws(PlanError) in Array("seed: 5\nrules:\n  - \(text)\n".utf8) }
            }
            #expect(try yaml(form).rules.count == 1, "\(form)")
            for text in Self.changed(form) { _ = try? yaml(text) }
        }
        let json = #"{"seed":5,"rules":[{"when":{"at":"message","max":3,"probability":0.5,"/a":1},"do":"drop"}]}"#
        #expect(try FaultPlan(json: Array(json.utf8), file: "p").rules.count == 1)
        for text in Self.changed(json) { _ = try? FaultPlan(json: Array(text.utf8), file: "p") }
    }

    @Test(arguments: policies) func ofPolicies(_ example: String) throws {
        _ = try Expectation.parse(example)
        let sessions = try Self.chat.get()
        for text in Self.changed(example) {
            guard let expectation = try? Expectation.parse(text) else { continue }
            let play = try Playbook(sessions, faults: ["reset after message[3]"]) {
                $0.expectations = [expectation]
                $0.onDivergence = .warn
            }
            for wait in [0, 1_000, 30_000] as [UInt64] {
                play.pass(ms: wait)
                guard let token = play.negotiate(sessions[0].route) else { continue }
                let c = play.upgrade(token, sessions[0].route)
                play.send(c, #"{"protocol":"json","version":1}"#)
                play.pass(ms: 100)
                play.close(c, .rst("reset"))
            }
            #expect(!play.finish().text.isEmpty)
        }
    }

    /// Options that are numbers or durations, as far from their defaults as they may be.
    @Test func ofOptions() throws {
        let sessions = try Self.chat.get()
        let factors = ["1e308", "5e-324", "1", "2.2250738585072014e-308"]
        let times: [UInt64] = [0, 1, 9_199_999_999_999_999_999, .max]
        var changes: [(inout ReplayOptions) -> Void] = []
        for text in factors {
            let factor = try #require(Double(text))
            changes.append { $0.clock.scale = factor }
            changes.append { $0.speed = .factor(factor) }
            changes.append {
                $0.speed = .factor(factor)
                $0.clock.scale = 1 / factor
                if !$0.clock.scale.isFinite { $0.clock.scale = .greatestFiniteMagnitude }
            }
        }
        for time in times {
            changes.append { $0.patience = time }
            changes.append { $0.grace = time }
            changes.append { $0.clock.idleCap = time }
            if time > 0 { changes.append { $0.keepalive = .every(time) } }
            if time > 0 { changes.append { $0.ending.until = .idle(time) } }
        }
        for text in [
            "silence=2555555h", "handshake=1ns", "pong=2555555h, silence=2555555h", "message=8796093022207MiB",
        ] {
            let limits = try ServerLimitsOption(parsing: text)
            changes.append { $0.serverLimits = limits }
        }
        for count in [1, 100_000] { changes.append { $0.clients = count } }
        for count in [1, Int.max] { changes.append { $0.onReconnect = .lose(count) } }
        for count in [1, Int.max] { changes.append { $0.onReconnect = .rewind(count) } }
        for change in changes {
            let reading = CodedTape.Reading(sessions: sessions)
            try NumbersPlay(reading, change).playAll(sessions)
            let faults = ["throttle(1B/s) on accept", "slice(1, 24h) on accept"]
            try NumbersPlay(reading, faults: faults, change).playAll(sessions)
        }
    }
}
