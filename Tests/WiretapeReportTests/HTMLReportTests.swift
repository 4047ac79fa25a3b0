import Testing
import WiretapeAttempts
import WiretapeReport
import WiretapeWire

/// The report as a page that opens from a disk.
@Suite struct HTMLReportTests {
    private static let hostile =
        "<script>alert('x')</script>\"\u{202e}'><img src=http://evil.example/x onerror=alert(1)>&amp;"

    private static let second: UInt64 = 1_000_000_000

    /// A client that was cut, was refused once, came back, and said something else.
    private static func report(_ text: String = "hi") -> ReplayReport {
        var first = Attempt(number: 1, retry: 0, start: 0, delay: nil)
        first.outcome = .connected
        first.steps = [
            .init(request: "negotiate", status: 200, time: 1_000_000),
            .init(request: "upgrade", status: 101, transport: .ws, time: 4_000_000),
        ]
        first.ended = Attempt.End(time: second, by: .fault(text), how: .reset)
        var refused = Attempt(number: 2, retry: 1, start: second, delay: 0)
        refused.outcome = .status
        refused.steps = [.init(request: "negotiate", status: 503, time: second + 500_000)]
        refused.ended = Attempt.End(time: second + 500_000, by: .fault("busy"), how: .status(503))
        var last = Attempt(number: 3, retry: 2, start: 3 * second, delay: 2 * second - 500_000)
        last.outcome = .connected
        last.steps = [.init(request: "upgrade", status: 101, transport: .ws, time: 3 * second + 2_000_000)]
        last.ended = Attempt.End(time: 4 * second, by: .client, how: .close(1000))
        let session = ReplayReport.Session(
            session: 1, run: 1, client: "127.0.0.1", assigned: .order, protocolID: "signalr", transports: [.ws],
            finished: false, attempts: [first, refused, last], matched: 2,
            missing: ["client message 3 (chat.tape:31, Invocation Send(\"\(text)\"))"],
            unexpected: ["Invocation Send(\"\(text) unexpected\")"], late: ["Invocation Late"], reordered: 0,
            abandoned: 0)
        return ReplayReport(
            digest: "0123456789abcdef", seed: 42, sessions: [session], unclaimed: [7],
            faults: [
                .init(
                    rule: text, time: second, session: 1, run: 1, attempt: 1, message: 3,
                    counted: "Tick[3] (server message 5)", action: "reset", cut: true)
            ],
            unfired: [.init(rule: "x", text: "wiretape: rule 'x' never fired: \(text)", optional: false)],
            expectations: [
                Judgement(
                    policy: "delays(0s, 1s)", session: 1, run: 1, met: false, expected: "0s, 1s",
                    actual: "0 ms, \(text)",
                    reason: "wiretape: delays(0s, 1s) is not met")
            ],
            divergences: [
                "wiretape: diverged at client message 4 of session 1 (chat.tape:31), after 812 ms\n"
                    + "    recorded  Invocation Send(\"ada\", \"\(text)\")\n"
                    + "    received  Invocation Send(\"ada\", \"\(text)!\")            /arguments/1\n"
                    + "    accept:   --ignore 'Send:/arguments/1'   or   wiretape edit chat.tape"
            ])
    }

    @Test func allOfItIsThere() {
        let page = Self.report().html(of: "chat.tape", command: "wiretape replay chat.tape --seed 42")
        for text in [
            "<p class=\"word\">diverged</p>", "<h1>chat.tape</h1>", "0123456789abcdef", "<code>42</code>",
            "wiretape replay chat.tape --seed 42", "<dt>recorded</dt>", "<dt>received</dt>", "<dt>accept</dt>",
            "--ignore 'Send:/arguments/1'", "delays(0s, 1s)", "not met", "0 ms, hi", "never fired",
            "Tick[3] (server message 5)", "not acknowledged", "Missing", "Unexpected", "Late", "Invocation Late",
            "negotiate 200, upgrade 101", "negotiate 503", "+2.00 s", "session 7", "not finished", "client: close 1000",
            "client message 3 (chat.tape:31",
        ] { #expect(page.contains(text.replacing("'", with: "'")), "\(text)") }
        // A drawing for each attempt: the first is connected from 4 ms to a second of four.
        #expect(page.split(separator: "<svg").count - 1 == 4)
        #expect(page.contains("<rect class=\"on\" x=\"0.10%\" width=\"24.53%\""), "\(page)")
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    }

    @Test func equalRunsAreEqualBytes() {
        #expect(Self.report().html(of: "a", command: "b") == Self.report().html(of: "a", command: "b"))
        #expect(Self.report().html(of: "a", command: "b") != Self.report().html(of: "a", command: "c"))
    }

    @Test func textStaysText() {
        let report = Self.report(Self.hostile)
        let page = report.html(of: Self.hostile, command: Self.hostile)
        for word in ["<script", "<img", "\u{202e}", "alert('x')</script>"] { #expect(!page.contains(word), "\(word)") }
        #expect(page.contains("&lt;script&gt;alert") && page.contains("\\u{202e}"))
        // Nothing is asked of anybody, and nothing runs, whatever a text says.
        #expect(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""))
        #expect(
            !page.contains("<link") && !page.contains(" src=\"") && !page.contains(" href=") && !page.contains("url("))
    }

    @Test func secretsAreTakenOutBeforeQuotesAreHidden() {
        let page = Self.report("\"pw12\"").html(of: "x", command: "--header \"pw12\"") {
            $0.replacing("\"pw12\"", with: "td_1")
        }
        #expect(!page.contains("pw12") && page.contains("td_1"))
    }

    @Test func itIsOfBoundedSize() {
        var report = Self.report()
        report.divergences = Array(repeating: "wiretape: " + String(repeating: "x", count: 1 << 20), count: 3)
        report.unclaimed = Array(1...100_000)
        report.sessions = (1...2_000).map { n in
            var one = report.sessions[0]
            one.session = n
            return one
        }
        let page = report.html(of: "large")
        #expect(page.utf8.count < 4 << 20, "\(page.utf8.count)")
        #expect(page.contains("and 1800 more"))
    }

    @Test func aPassSaysSo() {
        var report = Self.report()
        report.divergences = []
        report.unfired = []
        report.expectations = []
        report.sessions[0] = ReplayReport.Session(
            session: 1, run: 1, client: "", assigned: .order, protocolID: "signalr", transports: [.ws], finished: true,
            attempts: [], matched: 2, missing: [], unexpected: [], late: [], reordered: 0, abandoned: 0)
        let page = report.html(of: "chat.tape")
        #expect(page.contains("<header class=\"good\"><p class=\"word\">pass</p>"))
        #expect(!page.contains("What speaks against") && !page.contains("Run it again"))
    }
}
