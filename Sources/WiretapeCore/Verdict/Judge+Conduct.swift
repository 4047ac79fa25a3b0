/// Policies about what a client does, rather than when.
extension Judge {
    static func givesUp(_ session: JudgedSession, after count: Int) -> Finding? {
        // Retries in a row that came to nothing.
        var failed = 0
        var most = 0
        for attempt in session.attempts where attempt.retry > 0 {
            failed = attempt.outcome == .connected ? 0 : failed + 1
            most = max(most, failed)
        }
        guard let last = session.attempts.last, last.outcome != nil, last.outcome != .connected || most > count else {
            return nil
        }
        let what = "session \(session.session)"
        var problem: String?
        if most > count {
            problem = "\(what) made \(most) retries in a row"
        } else if failed < count {
            problem = "\(what) made only \(failed) \(failed == 1 ? "retry" : "retries") by the end of the run"
        }
        return Finding(problem: problem, expected: "\(count) retries", actual: "\(max(most, failed)) retries")
    }

    static func rate(_ session: JudgedSession, _ max: Int, _ per: UInt64) -> Finding? {
        let starts = session.attempts.map(\.start)
        guard !starts.isEmpty else { return nil }
        var first = 0
        var most = 0
        var at: UInt64 = 0
        for (i, start) in starts.enumerated() {
            while start - min(start, starts[first]) >= per { first += 1 }
            if i - first + 1 > most { (most, at) = (i - first + 1, starts[first]) }
        }
        let span = DurationText.describe(per)
        let problem =
            most > max
            ? "session \(session.session) began \(most) attempts within \(span), from \(milliseconds(at)) on" : nil
        return Finding(problem: problem, expected: "at most \(max) in \(span)", actual: "\(most) in \(span)")
    }

    static func honours(_ session: JudgedSession, _ tolerance: Expectation.Tolerance) -> Finding? {
        var waits: [(wanted: UInt64, actual: UInt64?)] = []
        var problem: String?
        for (i, attempt) in session.attempts.enumerated() {
            guard let step = attempt.steps.last, let wanted = step.retryAfter, attempt.outcome != .connected else {
                continue
            }
            let next = i + 1 < session.attempts.count ? session.attempts[i + 1] : nil
            let answered = attempt.ended?.time ?? step.time
            let actual = next.map { $0.start - min($0.start, answered) }
            waits.append((wanted, actual))
            if problem == nil, let next, let actual, actual < tolerance.earliest(wanted) {
                problem =
                    "attempt \(next.number) of session \(session.session) came \(milliseconds(actual)) after an answer "
                    + "that asked for \(DurationText.describe(wanted))"
            }
        }
        guard !waits.isEmpty else { return nil }
        return Finding(
            problem: problem,
            expected: waits.map { DurationText.describe($0.wanted) + " or more" }.joined(separator: ", "),
            actual: waits.map { $0.actual.map(milliseconds) ?? "no further attempt" }.joined(separator: ", "))
    }

    static func transports(_ session: JudgedSession, _ order: [Transport]) -> Finding? {
        var tried: [Transport] = []
        for step in session.attempts.flatMap(\.steps) {
            if let transport = step.transport, !tried.contains(transport) { tried.append(transport) }
        }
        guard !session.attempts.isEmpty else { return nil }
        let names = { (list: [Transport]) in list.map(\.rawValue).joined(separator: ", ") }
        var problem: String?
        if !order.starts(with: tried) {
            problem = "session \(session.session) tried \(names(tried))"
        } else if tried.count < order.count, !session.attempts.contains(where: { $0.outcome == .connected }) {
            problem =
                "session \(session.session) tried \(tried.isEmpty ? "none" : "only \(names(tried))") and never connected"
        }
        return Finding(problem: problem, expected: names(order), actual: tried.isEmpty ? "none" : names(tried))
    }

    static func detects(_ session: JudgedSession, _ within: UInt64, _ tolerance: Expectation.Tolerance) -> Finding? {
        guard !session.silences.isEmpty else { return nil }
        var actual: [String] = []
        var problem: String?
        for silence in session.silences {
            let attempt = session.attempts.first {
                $0.start <= silence.time && ($0.ended?.time ?? .max) >= silence.time
            }
            // A client that opens the next connection before it closes the silent one has noticed, too.
            let next = session.attempts.first { $0.start > silence.time }?.start
            let ended = attempt?.ended.flatMap { $0.by == "client" ? $0.time : nil }
            let noticed = [next, ended].compactMap { $0 }.min().map { $0 - min($0, silence.time) }
            actual.append(noticed.map(milliseconds) ?? "never")
            guard problem == nil else { continue }
            if let noticed, noticed > tolerance.latest(within) {
                problem = "session \(session.session) gave the silent connection up after \(milliseconds(noticed))"
            } else if noticed == nil, session.elapsed - min(session.elapsed, silence.time) > tolerance.latest(within) {
                problem = "session \(session.session) never gave the silent connection up"
            }
        }
        return Finding(
            problem: problem, expected: "within \(DurationText.describe(within))",
            actual: actual.joined(separator: ", "))
    }

    static func resubscribes(_ session: JudgedSession) -> Finding? {
        let connections = session.attempts.count { $0.outcome == .connected }
        guard connections > 1 else { return nil }
        let lost = session.abandoned
        let what = session.subscribed ? "subscription" : "server message"
        let those = "\(lost) \(what)\(lost == 1 ? "" : "s")"
        let problem =
            lost > 0
            ? "session \(session.session) came back without asking again for \(those)"
            : nil
        return Finding(
            problem: problem, expected: "everything asked for again",
            actual: lost == 0 ? "everything asked for again" : "\(those) not asked for")
    }
}
