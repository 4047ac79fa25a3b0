internal import WiretapeBytes

/// The policy about requests that are part of no session. They belong to no session's client, so the run as a whole is judged.
extension Judge {
    static func asks(
        _ asked: [Expectation.Asked], _ times: Expectation.Times, _ requests: RequestCounts
    ) -> Finding {
        let findings = asked.map { asks($0, times, requests) }
        if let vague = findings.first(where: { $0.isUnjudged }) { return vague }
        return Finding.joined(findings) ?? .unjudged("no request is named")
    }

    private static func asks(
        _ asked: Expectation.Asked, _ times: Expectation.Times, _ requests: RequestCounts
    ) -> Finding {
        guard requests.total > 0 else { return .unjudged("no client came") }
        let count = requests.count(of: asked)
        let tooMany = times.most.map { count > $0 } ?? false
        // A request beyond those that are counted may have been this one.
        if requests.isCutShort, !tooMany, count < times.least || times.most != nil {
            return .unjudged("more different requests came than are counted")
        }
        var problem: String?
        if count == 0, times.least > 0 {
            let hint = NearestName.hint(asked.text, among: requests.names)
            problem = "no client sent \(asked.text)\(hint)"
        } else if tooMany || count < times.least {
            problem = "\(asked.text) came \(Expectation.Times.count(count)) instead of \(times.text)"
        }
        return Finding(
            problem: problem, expected: "\(asked.text) \(times.text)",
            actual: count == 0 ? "none" : Expectation.Times.count(count))
    }
}
