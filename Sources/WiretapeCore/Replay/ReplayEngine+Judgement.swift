extension ReplayEngine {
    /// Holds every session that had retries to every policy. A policy that nothing could be held to is not met.
    func judgements(_ reports: [ReplayReport.Session]) -> [ReplayReport.Judgement] {
        options.expectations.flatMap { expectation -> [ReplayReport.Judgement] in
            let judged = reports.compactMap { judge($0, expectation) }
            guard judged.isEmpty else { return judged }
            return [
                ReplayReport.Judgement(
                    policy: expectation.text, session: 0, run: 0, met: false, expected: expectation.text,
                    actual: "no session lost its connection",
                    reason: "wiretape: \(expectation.text) could not be judged: no session lost its connection")
            ]
        }
    }

    private func judge(_ report: ReplayReport.Session, _ expectation: Expectation) -> ReplayReport.Judgement? {
        guard case .delays(let delays, let early, let late) = expectation.policy else { return nil }
        let retries = report.attempts.filter { $0.retry > 0 }
        var problem: String?
        for attempt in retries where problem == nil {
            guard let actual = attempt.delay else { continue }
            let what = "retry \(attempt.retry) (attempt \(attempt.number)) of session \(report.session)"
            guard attempt.retry <= delays.count else {
                problem = "\(what) is one more than the \(delays.count) of the policy"
                continue
            }
            let wanted = delays[attempt.retry - 1]
            let earliest = wanted - min(wanted, early)
            let latest = wanted + late.allowance(for: wanted)
            guard actual < earliest || actual > latest else { continue }
            problem =
                "\(what) came after \(DurationText.milliseconds(actual)) ms instead of \(DurationText.describe(wanted)) "
                + "(\(DurationText.milliseconds(earliest)) to \(DurationText.milliseconds(latest)) ms)"
        }
        if problem == nil { problem = missingRetry(report, delays, late) }
        guard problem != nil || !retries.isEmpty else { return nil }
        return ReplayReport.Judgement(
            policy: expectation.text, session: report.session, run: report.run, met: problem == nil,
            expected: delays.prefix(max(retries.map(\.retry).max() ?? 0, 1)).map(DurationText.describe)
                .joined(separator: ", "),
            actual: retries.map { DurationText.milliseconds($0.delay ?? 0) + " ms" }.joined(separator: ", "),
            reason: problem.map { "wiretape: \(expectation.text) is not met: \($0)" } ?? "")
    }

    /// The retry that should have come by now and did not. A client that ended the connection itself owes none, nor does
    /// one whose session had come to its end.
    private func missingRetry(_ report: ReplayReport.Session, _ delays: [UInt64], _ late: Expectation.Late) -> String? {
        guard !report.finished, let last = report.attempts.last, let end = last.ended, end.by != "client" else {
            return nil
        }
        let next = last.outcome == .connected ? 1 : last.retry + 1
        guard next <= delays.count else { return nil }
        let latest = delays[next - 1] + late.allowance(for: delays[next - 1])
        guard elapsed > end.time.addingReportingOverflow(latest).partialValue else { return nil }
        return "retry \(next) of session \(report.session) never came"
    }
}
