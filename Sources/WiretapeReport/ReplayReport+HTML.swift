internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeWire

extension ReplayReport {
    /// The report as one page that opens from a disk: its styles are in it, it has no script, and asks for nothing. Equal runs are
    /// equal bytes. Of very long lists the beginning is shown; the text report at its end and JSON have more.
    /// - Parameters:
    ///   - suite: what was played, for instance the tape's name.
    ///   - command: what runs it again, as one would type it; nil where nobody knows.
    ///   - masked: takes the secrets out of a text, before its quotes are hidden.
    ///
    /// It would not have to escape. But a check that it does not has the length of this file's path in it, so that two builds in different
    /// folders were different programs.
    package func html(
        of suite: String, command: String? = nil, masked: @escaping (String) -> String = { $0 }
    ) -> String {
        HTMLReport(self, of: suite, command: command, masked: masked).text
    }
}

/// Writes the parts of the page, one behind the other.
private struct HTMLReport {
    private let report: ReplayReport
    private let masked: (String) -> String
    private(set) var text = ""

    /// Entries of a list that are shown.
    private static let most = 200
    /// Characters of a text that are shown.
    private static let longest = 20_000

    init(_ report: ReplayReport, of suite: String, command: String?, masked: @escaping (String) -> String) {
        self.report = report
        self.masked = masked
        head(suite)
        summary(suite, command)
        reasons()
        divergences()
        sessions()
        expectations()
        faults()
        requests()
        text +=
            "<section><details><summary>The report as text</summary><pre>\(safe(report.text))</pre></details></section>\n"
        text += "</main></body></html>\n"
    }

    // MARK: Text

    /// Text from outside, fit to stand between tags and in quotes: characters that hide or turn what is written are numbers.
    private func safe(_ text: String) -> String {
        let shown = masked(text)
        let cut = shown.count > Self.longest ? shown.prefix(Self.longest) + " …" : shown[...]
        return ReplayReport.escaped(TerminalText.lines(String(cut)))
    }

    private func pill(_ kind: String, _ word: String) -> String { "<span class=\"pill \(kind)\">\(safe(word))</span>" }

    private func row(_ cells: [String]) -> String { "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>\n" }

    private mutating func table(_ names: [String], _ rows: [[String]]) {
        text +=
            "<div class=\"wide\"><table><thead><tr>" + names.map { "<th>\($0)</th>" }.joined()
            + "</tr></thead><tbody>\n"
        for cells in rows { text += row(cells) }
        text += "</tbody></table></div>\n"
    }

    private mutating func section(_ title: String, _ count: Int? = nil) {
        text += "<section><h2>\(title)\(count.map { " <small>\($0)</small>" } ?? "")</h2>\n"
    }

    private mutating func list(_ title: String, _ texts: [String], beyond: Int = 0) {
        guard !texts.isEmpty || beyond > 0 else { return }
        text += "<h4>\(title) <small>\(texts.count + beyond)</small></h4><ul class=\"texts\">\n"
        for one in texts.prefix(Self.most) { text += "<li>\(safe(one))</li>\n" }
        let left = max(0, texts.count - Self.most) + beyond
        if left > 0 { text += "<li class=\"faint\">and \(left) more</li>\n" }
        text += "</ul>\n"
    }

    // MARK: Parts

    private mutating func head(_ suite: String) {
        text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        text +=
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        text +=
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\n"
        text +=
            "<title>\(report.verdict.rawValue): \(safe(suite))</title>\n<style>\(ReportStyle.text)</style></head><body><main>\n"
    }

    private mutating func summary(_ suite: String, _ command: String?) {
        let kind = report.verdict == .pass ? "good" : "bad"
        text += "<header class=\"\(kind)\"><p class=\"word\">\(report.verdict.rawValue)</p><div><h1>\(safe(suite))</h1>"
        text += "<p>\(safe(report.summary))</p></div></header>\n<section><dl class=\"facts\">\n"
        var facts: [(String, String)] = []
        if !report.isLive { facts.append(("digest", "<code>\(report.digest)</code>")) }
        facts.append(("seed", "<code>\(report.seed)</code>"))
        facts.append(("exit code", "\(report.exitCode)"))
        facts.append(("sessions", "\(report.sessions.count)"))
        facts.append(("attempts", "\(report.sessions.reduce(0) { $0 + $1.attempts.count })"))
        facts.append(("faults fired", "\(report.faults.count + report.faultsLeftOut)"))
        for (name, value) in facts { text += "<div><dt>\(name)</dt><dd>\(value)</dd></div>\n" }
        text += "</dl>\n"
        if let command { text += "<h4>Run it again</h4><pre class=\"command\">\(safe(command))</pre>\n" }
        if !report.outsideDigest.isEmpty {
            text += "<p class=\"faint\">Not in the digest: \(safe(report.outsideDigest.joined(separator: "; ")))</p>\n"
        }
        text += "</section>\n"
    }

    private mutating func reasons() {
        let reasons = report.reasons
        guard !reasons.isEmpty else { return }
        section("What speaks against a pass", reasons.count)
        text += "<ul class=\"reasons\">\n"
        for reason in reasons.prefix(Self.most) { text += "<li>\(safe(Self.unprefixed(reason)))</li>\n" }
        if reasons.count > Self.most { text += "<li class=\"faint\">and \(reasons.count - Self.most) more</li>\n" }
        text += "</ul></section>\n"
    }

    private static func unprefixed(_ text: String) -> String {
        text.hasPrefix("wiretape: ") ? String(text.dropFirst(10)) : text
    }

    /// What the tape has and what came, one above the other, and how to accept it.
    private mutating func divergences() {
        guard !report.divergences.isEmpty else { return }
        section("Divergences", report.divergences.count + report.divergencesBeyond)
        for one in report.divergences.prefix(Self.most) {
            let lines = Self.unprefixed(one).split(separator: "\n", omittingEmptySubsequences: true)
            text += "<article class=\"divergence\"><h3>\(safe(String(lines.first ?? "")))</h3>\n"
            let rest = lines.dropFirst().map(Self.named)
            if !rest.isEmpty {
                text += "<dl>\n"
                for (name, value) in rest {
                    text += "<dt>\(safe(name))</dt><dd class=\"\(Self.kind(name))\">\(safe(value))</dd>\n"
                }
                text += "</dl>\n"
            }
            text += "</article>\n"
        }
        let left = max(0, report.divergences.count - Self.most) + report.divergencesBeyond
        if left > 0 { text += "<p class=\"faint\">and \(left) more</p>\n" }
        text += "</section>\n"
    }

    /// `    recorded  Send("ada")` is a line called `recorded`.
    private static func named(_ line: Substring) -> (name: String, value: String) {
        let words = line.drop { $0 == " " }
        guard let gap = words.firstRange(of: "  ") else { return ("", String(words)) }
        let name = words[..<gap.lowerBound].prefix { $0 != ":" }
        return (String(name), String(words[gap.upperBound...].drop { $0 == " " }))
    }

    private static func kind(_ name: String) -> String {
        switch name {
        case "recorded": "was"
        case "received": "came"
        case "accept": "accept"
        default: "other"
        }
    }

    private mutating func expectations() {
        guard !report.expectations.isEmpty else { return }
        section("Expectations", report.expectations.count)
        table(
            ["policy", "session", "verdict", "expected", "seen", "why"],
            report.expectations.prefix(Self.most).map { one in
                [
                    "<code>\(safe(one.policy))</code>",
                    one.session == 0 ? "" : "\(one.session)\(one.run > 1 ? ".\(one.run)" : "")",
                    pill(one.met ? "good" : one.isJudged ? "bad" : "warn", one.word), safe(one.expected),
                    safe(one.actual),
                    safe(Self.unprefixed(one.reason)),
                ]
            })
        text += "</section>\n"
    }

    private mutating func faults() {
        guard !report.faults.isEmpty || !report.unfired.isEmpty else { return }
        section("Faults", report.faults.count + report.faultsLeftOut)
        if !report.faults.isEmpty {
            table(
                ["rule", "at", "session", "attempt", "message", "what it did"],
                report.faults.prefix(Self.most).map { one in
                    [
                        "<code>\(safe(one.rule))</code>", short(one.time),
                        one.session == 0 ? "" : "\(one.session)\(one.run > 1 ? ".\(one.run)" : "")",
                        one.attempt == 0 ? "" : "\(one.attempt)",
                        safe(one.counted ?? one.message.map { "\($0)" } ?? ""),
                        safe(one.action) + (one.cut ? " <em>(what it followed was not acknowledged)</em>" : ""),
                    ]
                })
            let left = max(0, report.faults.count - Self.most) + report.faultsLeftOut
            if left > 0 { text += "<p class=\"faint\">and \(left) more</p>\n" }
        }
        if !report.unfired.isEmpty {
            text += "<h4>Never fired <small>\(report.unfired.count)</small></h4><ul class=\"texts\">\n"
            for one in report.unfired.prefix(Self.most) {
                let mark = one.optional ? pill("warn", "optional") : pill("bad", "never fired")
                text += "<li>\(mark) \(safe(Self.unprefixed(one.text)))</li>\n"
            }
            text += "</ul>\n"
        }
        text += "</section>\n"
    }

    private mutating func requests() {
        let exchanges = report.exchanges
        guard exchanges.recorded > 0 || !exchanges.unexpected.isEmpty else { return }
        section("Plain requests", exchanges.played)
        list("On the tape, and not asked for", exchanges.unplayed)
        list("Left by their clients before the answer", exchanges.givenUp, beyond: exchanges.givenUpBeyond)
        list("Not on the tape", exchanges.unexpected, beyond: exchanges.unexpectedBeyond)
        text += "</section>\n"
    }

    // MARK: Sessions

    private mutating func sessions() {
        guard !report.sessions.isEmpty || !report.unclaimed.isEmpty else { return }
        section("Sessions", report.sessions.count)
        let groups = report.groups
        for group in groups.prefix(Self.most) {
            guard let first = group.first else { continue }
            session(first, alike: group.count)
        }
        if groups.count > Self.most { text += "<p class=\"faint\">and \(groups.count - Self.most) more</p>\n" }
        list("Not asked for", report.unclaimed.map { "session \($0)" })
        text += "</section>\n"
    }

    private mutating func session(_ session: ReplayReport.Session, alike: Int) {
        let run = report.runs(of: session) > 1 && alike == 1 ? " run \(session.run)" : ""
        let many = alike > 1 ? ", \(alike) runs that came to the same; of the first:" : ""
        text += "<article class=\"session\"><h3>\(safe(session.title))\(run)\(many) "
        text += "<small>\(safe(session.carried))</small> "
        if !report.isLive {
            text += pill(session.finished ? "good" : "warn", session.finished ? "finished" : "not finished")
        }
        text += "</h3>\n<p>\(safe(session.state))</p>\n"
        for remark in session.remarks { text += "<p class=\"faint\">\(safe(remark))</p>\n" }
        timeline(session)
        list("Missing", session.missing)
        list("Unexpected", session.unexpected, beyond: session.unexpectedBeyond)
        list("Late", session.late)
        text += "</article>\n"
    }

    /// Attempts on one scale, with what is said of each beside it.
    private mutating func timeline(_ session: ReplayReport.Session) {
        let attempts = session.attempts.prefix(Self.most)
        guard let origin = attempts.first?.start else { return }
        let fired = report.faults.filter { $0.session == session.session && $0.run == session.run }
        let last = attempts.map { max($0.start, $0.ended?.time ?? 0, $0.steps.last?.time ?? 0) }.max() ?? origin
        let lane = AttemptLane(from: origin, to: max(last, fired.map(\.time).max() ?? 0))
        text += "<div class=\"lanes\"><div class=\"lane scale\"><span></span>\(lane.scale)<span></span></div>\n"
        for attempt in attempts {
            let own = fired.filter { $0.attempt == attempt.number }
            let delay = attempt.delay.map { "<b>+\(short($0))</b> " } ?? ""
            text += "<div class=\"lane\"><span class=\"n\">\(attempt.number)</span>\(lane.drawing(attempt, own))"
            text +=
                "<span class=\"says\">\(delay)\(pill(attempt.outcome == .connected ? "good" : "bad", attempt.outcome?.rawValue ?? "open"))"
            text += " at \(short(attempt.start)): \(safe(attempt.stepsText))"
            if let ended = attempt.ended { text += "; ended at \(short(ended.time)) by \(safe(ended.text))" }
            text += own.map { "<br><span class=\"fault\">▼ \(short($0.time)) \(safe($0.rule))</span>" }.joined()
            text += "</span></div>\n"
        }
        if session.attempts.count > Self.most {
            text += "<p class=\"faint\">and \(session.attempts.count - Self.most) more attempts</p>\n"
        }
        text += "</div>\n"
    }
}
