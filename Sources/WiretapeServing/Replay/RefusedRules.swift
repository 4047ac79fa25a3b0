package import WiretapeCommandLine
internal import WiretapeFaults
package import WiretapeReplay
package import WiretapeReport

/// Rules that cannot fire on the tape that is to be played. Nobody is answered.
package struct RefusedRules: Error {
    package let rules: [ReplayReport.Unfired]

    /// Exit 5, with the first of them.
    package var failure: Failure {
        var report = ReplayReport.empty(seed: 0)
        report.unfired = rules
        return Failure(report.summary, .expectation)
    }
}

extension FaultPlan {
    /// Holds the rules against a tape before it is played. What is optional, and what only a client could say that was not
    /// recorded, is warned of.
    /// - Throws: ``RefusedRules``; where there are several, each of them has been told.
    package func check(against tape: LoadedTape, _ options: ReplayOptions, _ log: Log) throws(RefusedRules) {
        let hopeless = hopeless(in: tape.sessions, tapeName: tape.name, options: options)
        let refused = hopeless.filter { !$0.optional }
        if refused.count > 1 { for one in refused { log.error(one.text) } }
        guard refused.isEmpty else { throw RefusedRules(rules: refused) }
        for one in hopeless { log.warning(one.text) }
        for error in unknownNames(in: tape.sessions, tapeName: tape.name) { log.warning(error.description) }
    }
}
