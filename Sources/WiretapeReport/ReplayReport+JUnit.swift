internal import WiretapeAttempts

extension ReplayReport {
    /// The report as JUnit XML, as test runners' dashboards read it: a test case for each session, rule and policy; what
    /// speaks against a pass is its failure.
    /// - Parameters:
    ///   - suite: the name of the suite, for instance the tape's.
    ///   - masked: takes the secrets out of a text, before XML hides its quotes.
    package func junit(suite: String, masked: (String) -> String = { $0 }) -> String {
        var cases = failure.map { [Case(group: "run", name: "the run", failure: $0.reason)] } ?? []
        if let code = commandExit, code != 0 {
            cases.append(Case(group: "run", name: "the command", failure: "the command ended with \(code)"))
        }
        cases += nobody.map { [Case(group: "run", name: "somebody plays the tape", failure: $0)] } ?? []
        cases += sessions.map(Self.testCase)
        cases += divergences.enumerated().map { n, text in
            Case(group: "divergence", name: "divergence \(n + 1)", failure: onDivergence == .ignore ? nil : text)
        }
        let fired = Set(faults.map(\.rule))
        cases += fired.sorted().map { Case(group: "faults", name: "rule '\($0)' fires") }
        cases += unfired.map { rule in
            Case(
                group: "faults", name: "rule '\(rule.rule)' fires", failure: rule.optional ? nil : rule.text,
                isSkipped: rule.optional)
        }
        cases += expectations.map { judgement in
            let session = judgement.session == 0 ? "" : " session \(judgement.session)\(Self.suffix(judgement.run))"
            return Case(
                group: "expectations", name: judgement.policy + session,
                failure: judgement.met
                    ? nil
                    : !judgement.isJudged
                        ? judgement.reason
                        : "\(judgement.reason)\nexpected \(judgement.expected)\nactual   \(judgement.actual)")
        }
        let time = Self.seconds(sessions.flatMap(\.attempts).map { $0.ended?.time ?? $0.start }.max() ?? 0)
        let failures = cases.count { $0.failure != nil }
        let skipped = cases.count { $0.isSkipped }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuites tests=\"\(cases.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\" time=\"\(time)\">\n"
        text +=
            "  <testsuite name=\"\(Self.escaped(suite))\" tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" "
        text += "skipped=\"\(skipped)\" time=\"\(time)\">\n"
        text += "    <properties>\n"
        if !isLive { text += "      <property name=\"digest\" value=\"\(digest)\"/>\n" }
        text += "      <property name=\"seed\" value=\"\(seed)\"/>\n"
        text += "    </properties>\n"
        for one in cases { text += one.xml(masked) }
        text += "    <system-out>\(Self.escaped(masked(self.text)))</system-out>\n"
        return text + "  </testsuite>\n</testsuites>\n"
    }

    private static func testCase(_ session: Session) -> Case {
        var problems: [String] = []
        if !session.missing.isEmpty { problems += ["missing:"] + session.missing }
        if !session.unexpected.isEmpty { problems += ["unexpected:"] + session.unexpected }
        if session.unexpectedBeyond > 0 { problems.append("and \(session.unexpectedBeyond) more") }
        if !session.late.isEmpty { problems += ["late:"] + session.late }
        return Case(
            group: "sessions", name: "session \(session.session)\(suffix(session.run)) (\(session.carried))",
            failure: problems.isEmpty ? nil : problems.joined(separator: "\n"))
    }

    private static func suffix(_ run: Int) -> String { run > 1 ? " run \(run)" : "" }

    private static func seconds(_ nanoseconds: UInt64) -> String {
        let thousandths = nanoseconds / 1_000_000 % 1_000
        let digits = "\(thousandths)"
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }

    private struct Case {
        var group: String
        var name: String
        var failure: String?
        var isSkipped = false

        func xml(_ masked: (String) -> String) -> String {
            let head = "    <testcase classname=\"wiretape.\(group)\" name=\"\(ReplayReport.escaped(masked(name)))\""
            if isSkipped { return head + "><skipped/></testcase>\n" }
            guard let failure = failure.map(masked) else { return head + "/>\n" }
            let first = failure.prefix { $0 != "\n" }
            return head + ">\n      <failure message=\"\(ReplayReport.escaped(String(first)))\">"
                + ReplayReport.escaped(failure) + "</failure>\n    </testcase>\n"
        }
    }

    /// XML 1.0 has no way to write most control characters: they become U+FFFD.
    package static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out.append(contentsOf: "&amp;".unicodeScalars)
            case "<": out.append(contentsOf: "&lt;".unicodeScalars)
            case ">": out.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": out.append(contentsOf: "&quot;".unicodeScalars)
            case "\n", "\t", "\r": out.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: out.append("\u{fffd}")
            default: out.append(scalar)
            }
        }
        return String(out)
    }
}
