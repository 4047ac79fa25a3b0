internal import WiretapeBytes
internal import WiretapeWire

/// Policies about what a client does, rather than when.
extension Judge {
    static func givesUp(
        _ session: JudgedSession, after count: Int, _ tolerance: Expectation.Tolerance
    ) -> Finding {
        // Retries in a row that came to nothing.
        var failed = 0
        var most = 0
        for attempt in session.attempts where attempt.retry > 0 {
            failed = attempt.outcome == .connected ? 0 : failed + 1
            most = max(most, failed)
        }
        guard let last = session.attempts.last, last.outcome != nil, last.outcome != .connected || most > count else {
            return .unjudged("no session was without a connection at its end")
        }
        let what = "session \(session.session)"
        guard most > count || !last.isOwnRefusal else {
            return .unjudged("attempt \(last.number) of \(what) was refused by the replay itself")
        }
        var problem: String?
        if most > count {
            problem = "\(what) made \(most) retries in a row"
        } else if failed < count {
            problem = "\(what) made only \(failed) \(failed == 1 ? "retry" : "retries") by the end of the run"
        } else if let end = last.ended?.time, !session.isGone {
            // Twice its longest wait without another one: it has given up.
            let longest = session.attempts.compactMap(\.delay).max() ?? 0
            let (twice, overflow) = longest.multipliedReportingOverflow(by: 2)
            guard session.watched(since: end, for: tolerance.latest(overflow ? longest : twice)) else {
                return .unjudged(
                    "the run ended before another retry of \(what) could have come", advice: "let the run last longer")
            }
        }
        return Finding(problem: problem, expected: "\(count) retries", actual: "\(max(most, failed)) retries")
    }

    static func rate(_ session: JudgedSession, _ max: Int, _ per: UInt64) -> Finding {
        let starts = session.attempts.map(\.start)
        guard starts.count > 1 else { return .unjudged("no session made a second attempt") }
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

    static func honours(_ session: JudgedSession, _ tolerance: Expectation.Tolerance) -> Finding {
        var waits: [(wanted: UInt64, actual: String)] = []
        var problem: String?
        var why = "no answer had a Retry-After"
        for (i, attempt) in session.attempts.enumerated() {
            guard let step = attempt.steps.last, let wanted = step.retryAfter, attempt.outcome != .connected else {
                continue
            }
            let answered = attempt.ended?.time ?? step.time
            guard i + 1 < session.attempts.count else {
                // Who has stayed away for so long has honoured it, too.
                if session.watched(since: answered, for: wanted) {
                    waits.append((wanted, "no further attempt"))
                } else {
                    why =
                        "session \(session.session) made no attempt behind its Retry-After, and the run ended before it was over"
                }
                continue
            }
            let next = session.attempts[i + 1]
            let actual = next.start - min(next.start, answered)
            waits.append((wanted, milliseconds(actual)))
            if problem == nil, actual < tolerance.earliest(wanted) {
                problem =
                    "attempt \(next.number) of session \(session.session) came \(milliseconds(actual)) after an answer "
                    + "that asked for \(DurationText.describe(wanted))"
            }
        }
        guard !waits.isEmpty else { return .unjudged(why) }
        return Finding(
            problem: problem,
            expected: waits.map { DurationText.describe($0.wanted) + " or more" }.joined(separator: ", "),
            actual: waits.map(\.actual).joined(separator: ", "))
    }

    static func transports(_ session: JudgedSession, _ order: [Transport]) -> Finding {
        var tried: [Transport] = []
        for step in session.attempts.flatMap(\.steps) {
            if let transport = step.transport, !tried.contains(transport) { tried.append(transport) }
        }
        guard !session.attempts.isEmpty else { return .unjudged("no client came") }
        let names = { (list: [Transport]) in list.map(\.rawValue).joined(separator: ", ") }
        let hasConnected = session.attempts.contains { $0.outcome == .connected }
        var problem: String?
        if !order.starts(with: tried) {
            problem = "session \(session.session) tried \(names(tried))"
        } else if tried.count < order.count, !hasConnected {
            problem =
                "session \(session.session) tried \(tried.isEmpty ? "none" : "only \(names(tried))") and never connected"
        } else if tried.isEmpty {
            return .unjudged("session \(session.session) was not carried by any of them")
        } else if tried.count == 1, order.count > 1 {
            return .unjudged(
                "session \(session.session) connected over \(names(tried)), and what it does without that was not seen")
        }
        return Finding(problem: problem, expected: names(order), actual: tried.isEmpty ? "none" : names(tried))
    }

    static func detects(_ session: JudgedSession, _ within: UInt64, _ tolerance: Expectation.Tolerance) -> Finding {
        guard !session.silences.isEmpty else { return .unjudged("no connection went silent by a stall or mute") }
        var actual: [String] = []
        var problem: String?
        var why = ""
        for silence in session.silences {
            let attempt = session.attempts.first {
                $0.start <= silence.time && ($0.ended?.time ?? .max) >= silence.time
            }
            let ended = attempt?.ended
            // What ends it in the client's place tells the client, which may never have noticed.
            let told = ended.flatMap { $0.by == .client ? nil : $0.time } ?? .max
            // A client that opens the next connection before it closes the silent one has noticed, too.
            let next = session.attempts.first { $0.start > silence.time && $0.start < told }?.start
            let left = ended.flatMap { $0.by == .client ? $0.time : nil }
            let noticed = [next, left].compactMap { $0 }.min().map { $0 - min($0, silence.time) }
            if let noticed, noticed > tolerance.latest(within), ended?.isDated == false {
                why =
                    "the client reconnected \(milliseconds(noticed)) after the connection of session \(session.session) went silent, "
                    + "and it is not known when the client gave the connection up"
                continue
            }
            if let noticed {
                actual.append(milliseconds(noticed))
                if noticed > tolerance.latest(within) {
                    problem =
                        problem
                        ?? "session \(session.session) gave the silent connection up after \(milliseconds(noticed))"
                }
                continue
            }
            let lasted = min(told, session.elapsed) - min(silence.time, told, session.elapsed)
            guard lasted > tolerance.latest(within) else {
                let ender = told == .max ? "the run" : "a rule or the server"
                why = "\(ender) ended the silent connection of session \(session.session) after \(milliseconds(lasted))"
                continue
            }
            actual.append("never")
            problem = problem ?? "session \(session.session) never gave the silent connection up"
        }
        guard !actual.isEmpty else { return .unjudged(why) }
        return Finding(
            problem: problem, expected: "within \(DurationText.describe(within))",
            actual: actual.joined(separator: ", "))
    }
}
