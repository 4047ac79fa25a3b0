internal import WiretapeBytes

extension Judge {
    /// Judged only where the client owed a keepalive: when it had nothing else to say for long enough.
    static func pings(_ session: JudgedSession, _ every: UInt64, _ tolerance: Expectation.Tolerance) -> Finding {
        let most = tolerance.latest(every)
        guard session.signs.quiet > most, let longest = session.signs.longest else {
            return .unjudged("no client had nothing else to say for so long on a connection")
        }
        // A fallback is a step of the attempt before it.
        let attempt = session.attempts.last { $0.start <= longest.from }?.number ?? longest.attempt
        let problem =
            longest.length > most
            ? "attempt \(attempt) of session \(session.session) was silent for \(milliseconds(longest.length)), "
                + "from \(milliseconds(longest.from)) on" : nil
        return Finding(
            problem: problem, expected: "a sign of life every \(DurationText.describe(every))",
            actual: "silent for at most \(milliseconds(longest.length))")
    }
}
