extension ReplayEngine {
    /// Holds every session to every policy.
    func judgements(_ reports: [ReplayReport.Session], _ runs: [SessionRun]) -> [Judgement] {
        let sessions = zip(reports, runs).map { report, run in
            JudgedSession(
                session: report.session, run: report.run, attempts: report.attempts, finished: report.finished,
                abandoned: report.abandoned, silences: silences(of: report), signs: run.signs(at: now), elapsed: elapsed
            )
        }
        return Judge.judge(sessions, by: options.expectations)
    }

    /// When rules made the session's connection go silent.
    private func silences(of report: ReplayReport.Session) -> [JudgedSession.Silence] {
        firings.filter {
            $0.session == report.session && $0.run == report.run
                && ($0.action.hasPrefix("stall") || $0.action.hasPrefix("mute"))
        }.map { .init(time: $0.time, attempt: $0.attempt) }
    }
}
