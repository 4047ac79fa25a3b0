internal import WiretapeCommandLine
internal import WiretapeWire

/// What a sweep found.
struct SweepFindings {
    struct Failure {
        var found: SweepCase
        var outcome: SweepOutcome
        /// Cases of the same fault that broke the client in the same way, this one first.
        var alike: [SweepCase]
        var count: Int { alike.count }
        /// The smallest plan that was found, and the command that repeats it.
        var plan: [String]
        var command: String
        /// Where the output of the run is.
        var output: String
    }

    var tape: String
    var seed: UInt64
    /// Cases of the whole sweep, and of this shard.
    var cases: Int
    var chosen: Int
    var survived: Int
    var notReached: [SweepCase]
    /// In which the replay itself refused the client, and why.
    var unjudged: [(found: SweepCase, outcome: SweepOutcome)] = []
    var notRun: Int
    /// That the file of known failures has, and of them those that did not fail.
    var known: [SweepCase]
    var fixed: [String]
    var failures: [Failure]
    var broken: Int

    /// Nothing was found out, good or bad.
    var isVoid: Bool { survived == 0 && broken == 0 && known.isEmpty && !unjudged.isEmpty }

    var summary: String {
        var parts = ["\(survived) of \(chosen) survived"]
        if broken > 0 {
            parts.append("\(broken) broke the client in \(failures.count) \(failures.count == 1 ? "way" : "ways")")
        }
        if !known.isEmpty { parts.append("\(known.count) known") }
        if !notReached.isEmpty { parts.append("\(notReached.count) not reached") }
        if !unjudged.isEmpty { parts.append("\(unjudged.count) could not be judged") }
        if notRun > 0 { parts.append("\(notRun) not run") }
        return parts.joined(separator: ", ")
    }

    mutating func add(unbroken outcome: SweepOutcome, of one: SweepCase, isKnown: Bool) {
        switch outcome {
        case .survived:
            survived += 1
            if isKnown { fixed.append(one.rule) }
        case .notReached: notReached.append(one)
        case .unjudged: unjudged.append((one, outcome))
        case .hang, .diverged, .expectation, .exit, .unusable: break
        }
    }

    /// For people.
    var text: String {
        var lines: [String] = []
        for failure in failures {
            let more = failure.count > 1 ? ", and \(failure.count - 1) more like it" : ""
            lines.append("broken by \(failure.found.rule)\(more)")
            lines.append("    \(failure.outcome.text)")
            for rule in failure.plan { lines.append("    --fault \(SweepJob.quoted(rule))") }
            lines.append("    repeat: \(failure.command)")
            lines.append("    output: \(failure.output)")
        }
        for rule in fixed { lines.append("known, but survived now: \(rule)") }
        if !notReached.isEmpty {
            let names = notReached.prefix(5).map(\.rule).joined(separator: "; ")
            lines.append("not reached by the client: \(names)\(notReached.count > 5 ? "; …" : "")")
        }
        for one in unjudged.prefix(5) { lines.append("\(one.outcome.text) (\(one.found.rule))") }
        if unjudged.count > 5 { lines.append("…, and \(unjudged.count - 5) more that could not be judged") }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }

    var json: JSONValue {
        .object([
            .init("tape", .string(tape)), .init("seed", .number(seed)), .init("cases", .number(cases)),
            .init("chosen", .number(chosen)), .init("survived", .number(survived)), .init("broken", .number(broken)),
            .init("not_run", .number(notRun)), .init("not_reached", strings(notReached.map(\.rule))),
            .init("unjudged", .array(unjudged.map(json))),
            .init("known", strings(known.map(\.rule))), .init("fixed", strings(fixed)),
            .init(
                "failures",
                .array(
                    failures.map { failure in
                        .object([
                            .init("rule", .string(failure.found.rule)), .init("outcome", .string(failure.outcome.kind)),
                            .init("reason", .string(failure.outcome.text)), .init("like", .number(failure.count)),
                            .init("plan", strings(failure.plan)), .init("command", .string(failure.command)),
                            .init("output", .string(failure.output)),
                        ])
                    })),
        ])
    }

    private func json(_ one: (found: SweepCase, outcome: SweepOutcome)) -> JSONValue {
        .object([.init("rule", .string(one.found.rule)), .init("reason", .string(one.outcome.text))])
    }

    private func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}
