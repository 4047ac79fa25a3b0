import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeIntercept
import WiretapeRedaction
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// Reports of live traffic speak of no tape.
@Suite struct LiveReportTests {
    private static let rs = "\u{1e}"
    private static let negotiation = #"{"negotiateVersion":1,"connectionToken":"t1","availableTransports":[]}"#

    /// A client whose connection is reset after its third message, and which finds no server then.
    private func report() throws -> ReplayReport {
        var plan = FaultPlan()
        for (name, text) in [("cut", "reset after Tick[3]"), ("x", "drop on Tack")] {
            plan.append(try FaultRule(parsing: text, from: RuleSource(file: "--fault"), name: name))
        }
        let start = WireInstant(nanoseconds: 5_000_000_000)
        func at(_ milliseconds: UInt64) -> WireInstant { start.advanced(by: milliseconds * 1_000_000) }
        let faults = LiveFaults(plan, seed: 42, codecs: Codecs.all, at: start)
        _ = faults.accepted(1, from: Address(host: "10.0.0.1", port: 5_000), listener: "main", at: start)
        func ask(_ method: String, _ target: String, _ time: UInt64, _ fields: [HeaderField] = []) -> LiveExchange {
            let head = RequestHead(
                method: method, target: target, headers: [HeaderField("User-Agent", "test")] + fields)
            return faults.request(head, on: 1, at: at(time))
        }
        let negotiate = ask("POST", "/chat/negotiate?negotiateVersion=1", 0)
        faults.answered(negotiate, ResponseHead(status: 200), at: at(1))
        _ = faults.negotiated(negotiate, body: Array(Self.negotiation.utf8), at: at(1))
        let upgrade = ask(
            "GET", "/chat?id=t1", 2, [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
        faults.answered(upgrade, ResponseHead(status: 101), at: at(3))
        let said: [(String, Direction)] =
            [(#"{"protocol":"json","version":1}"#, .toServer), ("{}", .toClient)]
            + (1...3).map { (#"{"type":1,"target":"Tick","arguments":[\#($0)]}"#, .toClient) }
        for (i, (text, direction)) in said.enumerated() {
            let time = at(100 * UInt64(i + 1))
            let payload = Array((text + Self.rs).utf8)
            let plan = faults.payload(payload, .text, direction, of: upgrade, on: .ws, at: time)
            for fate in plan.fates {
                for hit in fate.hits { faults.record(hit, on: upgrade, at: time) }
            }
        }
        faults.ended(upgrade, by: .fault("cut"), how: .reset, at: at(520))
        faults.answered(ask("POST", "/chat/negotiate?negotiateVersion=1", 522), ResponseHead(status: 503), at: at(523))
        return faults.report(at: at(1_000))
    }

    @Test func text() throws {
        let report = try report()
        #expect(report.text == (try Golden.text("live-report")) + "\n", "\(report.text)")
        #expect(report.exitCode == 5)
        var passed = report
        passed.unfired = []
        #expect(passed.summary == "1 session in 2 attempts, 1 client message, 4 server messages")
    }

    @Test func json() throws {
        let json = try report().json
        #expect(json.text == (try Golden.text("live-report-json")), "\(json.text)")
    }

    @Test func junit() throws {
        let text = try report().junit(suite: "live")
        #expect(!text.contains("digest") && text.contains("<property name=\"seed\" value=\"42\"/>"))
        #expect(text.contains("name=\"session 1 (signalr over ws)\""))
    }

    /// Secrets are taken out before XML writes quotes in its own way, which hides the names that they stand under.
    @Test func junitWithoutSecrets() throws {
        var report = try report()
        report.failure = ReplayReport.Failure(exitCode: 2, reason: #"received Login({"password":"pw12"})"#)
        var redactor = Redactor()
        let text = report.junit(suite: "live") { redactor.text($0) }
        #expect(!text.contains("pw12") && text.contains("&quot;password&quot;:&quot;td_1&quot;"))
    }

    /// Words that only a tape has.
    @Test func nothingOfATape() throws {
        let report = try report()
        let all =
            report.text + report.json.text + report.junit(suite: "live") + report.html(of: "live") + report.summary
        for word in [" tape", "replay", "played", "matched", "recorded", "unclaimed", "digest", "finished"] {
            #expect(!all.lowercased().contains(word), "\(word)")
        }
    }
}
