internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeWire

extension ReplayReport {
    /// The report for people: a timeline of attempts and delays for each session, then what speaks against a pass.
    ///
    /// ```
    /// session 1 (signalr over ws), 14 client messages matched, finished
    ///   1     0.0 ms    first  connected  negotiate 200, upgrade 101  ended at 812.4 ms by fault:cut: reset
    ///   2   815.0 ms  +2.6 ms  status     negotiate 503               ended at 815.4 ms by fault:503 once: 503
    ///   1 ━━━━━━━━━━━━━━━╳
    ///   2                ╳
    /// ```
    package var text: String {
        var lines: [String] = []
        for group in groups {
            lines += group.count == 1 ? group[0].lines(of: runs(of: group[0])) : self.lines(of: group)
        }
        if !unclaimed.isEmpty {
            lines.append("not asked for: session \(unclaimed.map(String.init).joined(separator: ", "))")
        }
        if Set(sessions.filter { $0.assigned == .order }.map(\.session)).count > 1 {
            lines.append(
                "which client got which session was decided by the order of arrival; names (?wt=NAME, --session) fix it"
            )
        }
        if exchanges.recorded > 0 {
            let unexpected =
                exchanges.unexpected.isEmpty
                ? "" : ", \(exchanges.unexpected.count + exchanges.unexpectedBeyond) unexpected"
            lines.append(
                "\(exchanges.answered); \(exchanges.unplayed.count) of the \(exchanges.recorded) on the tape not asked for"
                    + unexpected)
            lines += exchanges.givenUp.prefix(ReplayReport.givenUpShown).map {
                "left by its client before the answer: \($0)"
            }
            let more = exchanges.givenUp.count + exchanges.givenUpBeyond - ReplayReport.givenUpShown
            if more > 0 { lines.append("\(more) more left before the answer") }
        }
        lines += firingLines
        for judgement in expectations {
            let session = judgement.session == 0 ? "" : ", session \(judgement.session)"
            lines.append("expected \(judgement.policy)\(session): \(judgement.word), got \(judgement.actual)")
        }
        if let commandExit, commandExit != 0 {
            lines.append("the command ended with \(commandExit), the run by itself with \(exitCode)")
        }
        lines += reasons
        if onDivergence == .ignore, !divergences.isEmpty {
            let count = divergences.count + divergencesBeyond
            lines.append("\(count) \(count == 1 ? "divergence" : "divergences") ignored")
        }
        lines.append(isLive ? "seed \(seed)" : "digest \(digest), seed \(seed)")
        if !outsideDigest.isEmpty { lines.append("not in the digest: \(outsideDigest.joined(separator: "; "))") }
        return lines.map(TerminalText.block).joined(separator: "\n") + "\n"
    }

    /// Everything that speaks against a pass in one line, or what the run was.
    package var summary: String {
        if let first = reasons.first {
            let text = first.hasPrefix("wiretape: ") ? String(first.dropFirst(10)) : first
            return reasons.count > 1 ? "\(text) (and \(reasons.count - 1) more)" : text
        }
        if isLive { return passed }
        if sessions.isEmpty, exchanges.played > 0 { return exchanges.answered }
        let finished = sessions.count { $0.finished }
        let matched = sessions.reduce(0) { $0 + $1.matched }
        return "\(finished) of \(sessions.count) sessions played to the end, \(matched) client messages matched"
    }
}

extension ReplayReport {
    /// The first firings of every rule by themselves, and how many more there were.
    private var firingLines: [String] {
        var lines: [String] = []
        var seen: [String: Int] = [:]
        var last: [String: Firing] = [:]
        for firing in faults {
            seen[firing.rule, default: 0] += 1
            if seen[firing.rule, default: 0] <= ReplayReport.firingsShown { lines.append(firing.line) }
            last[firing.rule] = firing
        }
        for (rule, count) in seen.sorted(by: { $0.key < $1.key }) where count > ReplayReport.firingsShown {
            guard let last = last[rule] else { continue }
            lines.append(
                "fault '\(rule)' fired \(count - ReplayReport.firingsShown) more times, the last \(last.place)")
        }
        if faultsLeftOut > 0 { lines.append("\(faultsLeftOut) further firings were only counted") }
        return lines
    }

    private static let firingsShown = 5
    fileprivate static let givenUpShown = 5
}

extension ReplayReport.Firing {
    fileprivate var line: String {
        let cut = cut ? ", cut: what it followed was not acknowledged" : ""
        return "fault '\(rule)' fired \(place)\(cut)"
    }

    fileprivate var place: String {
        let message = counted.map { " at \($0)" } ?? ""
        return "after \(short(time)), session \(session), attempt \(attempt)\(message)"
    }
}

extension ReplayReport {
    /// What passed on live traffic: `2 sessions in 5 attempts, 14 client messages, 30 server messages`.
    private var passed: String {
        let attempts = sessions.reduce(0) { $0 + $1.attempts.count }
        let traffic = sessions.compactMap(\.traffic).reduce(into: Traffic(toServer: 0, toClient: 0)) { sum, one in
            sum.toServer += one.toServer
            sum.toClient += one.toClient
        }
        let sessions = sessions.count == 1 ? "1 session" : "\(sessions.count) sessions"
        return "\(sessions) in \(attempts) \(attempts == 1 ? "attempt" : "attempts"), \(traffic.text)"
    }
}

extension ReplayReport.Traffic {
    /// `14 client messages, 1 server message`.
    fileprivate var text: String {
        "\(toServer) client \(toServer == 1 ? "message" : "messages"), "
            + "\(toClient) server \(toClient == 1 ? "message" : "messages")"
    }
}

extension ReplayReport.Exchanges {
    fileprivate var answered: String { "\(played) plain \(played == 1 ? "request" : "requests") answered" }
}

extension ReplayReport.Session {
    /// - Parameter runs: how many runs of the recorded session the report has.
    fileprivate func lines(of runs: Int) -> [String] {
        let head = "\(title)\(runs > 1 ? " run \(run)" : "") (\(carried)), \(state)"
        return [head] + remarks + rows(of: attempts, \.columns) + AttemptTimeline(attempts).lines
    }

    /// What it was greeted with, and notes.
    var remarks: [String] {
        (greeting.map { ["  greeting: \($0.text)"] } ?? []) + notes.map { "  note: \($0)" }
    }

    /// `session 3`, `session 3 operation 2`, `session 3 with 4, 5`.
    package var title: String {
        let with = others.isEmpty ? "" : " with \(others.map(String.init).joined(separator: ", "))"
        return "session \(session)\(operation.map { " operation \($0)" } ?? "")\(with)"
    }

    package var carried: String {
        let over = transports.isEmpty ? "" : " over \(transports.map(\.rawValue).joined(separator: ", "))"
        return "\(protocolID)\(over)\(upstream.map { " at \($0)" } ?? "")"
    }

    /// `14 client messages matched, finished`.
    package var state: String {
        if let traffic { return traffic.text + saidAgain }
        var state = "\(matched) client messages matched, \(finished ? "finished" : "not finished")"
        if abandoned > 0 { state += ", \(abandoned) server messages abandoned" }
        if !missing.isEmpty { state += ", \(missing.count) client messages missing" }
        if unreached > 0 { state += ", \(unreached) not reached" }
        if !unexpected.isEmpty { state += ", \(unexpected.count + unexpectedBeyond) unexpected" }
        if !late.isEmpty { state += ", \(late.count) late" }
        if reordered > 0 { state += ", \(reordered) reordered" }
        return state + saidAgain
    }

    private var saidAgain: String {
        repeated == 0
            ? "" : ", \(repeated) acknowledged \(repeated == 1 ? "message" : "messages") said again after a reconnect"
    }
}

/// A row for each attempt, and one for those that came to the same in a row:
/// `attempts 3–12: status, negotiate 503, ended by fault:busy: 503, every 1.00–1.20 s`.
func rows(of attempts: [Attempt], areTimed: Bool = true, _ columns: (Attempt) -> [String]) -> [String] {
    let folds = AttemptFolds(attempts).ranges
    let alone = attempts.indices.filter { i in !folds.contains { $0.contains(i) } }
    var told = zip(alone, table(alone.map { columns(attempts[$0]) })).map { (place: $0, line: $1) }
    for fold in folds {
        let first = attempts[fold.lowerBound]
        let waits = areTimed ? attempts[fold].compactMap(\.delay) : []
        let ended = first.ended.map { "ended by \($0.text)" } ?? ""
        let parts = [first.outcome?.rawValue ?? "", first.stepsText, ended, interval(waits)].filter { !$0.isEmpty }
        let numbers = "\(first.number)–\(attempts[fold.upperBound - 1].number)"
        told.append((fold.lowerBound, "  attempts \(numbers): \(parts.joined(separator: ", "))"))
    }
    return told.sorted { $0.place < $1.place }.map(\.line)
}

/// `every 1.00–1.20 s`.
private func interval(_ waits: [UInt64]) -> String {
    guard let least = waits.min().map(short), let most = waits.max().map(short) else { return "" }
    guard least != most else { return "every \(least)" }
    let unit = most.split(separator: " ").last ?? ""
    return least.hasSuffix(" \(unit)")
        ? "every \(least.dropLast(unit.utf8.count + 1))–\(most)" : "every \(least)–\(most)"
}

/// Rows with columns of equal width; the first three are set to the right.
package func table(_ rows: [[String]]) -> [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<max(0, columns - 1)).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        var line = " "
        for (i, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: max(0, (i < widths.count ? widths[i] : 0) - cell.count))
            line += i < 3 ? " \(padding)\(cell) " : " \(cell)\(padding) "
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension Attempt {
    /// Number, start, delay, outcome, steps, end.
    fileprivate var columns: [String] {
        [
            "\(number)", short(start), delay.map { "+\(short($0))" } ?? (number == 1 ? "first" : "wait unknown"),
            outcome?.rawValue ?? "", stepsText,
            ended.map { "ended at \(short($0.time)) by \($0.text)" } ?? "",
        ]
    }
}

/// Milliseconds with one decimal below a second, seconds with two above.
func short(_ nanoseconds: UInt64) -> String {
    if nanoseconds < 1_000_000_000 {
        let tenths = (nanoseconds + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
    let hundredths = (nanoseconds + 5_000_000) / 10_000_000
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
}
