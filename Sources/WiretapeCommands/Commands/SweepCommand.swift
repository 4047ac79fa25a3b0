internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeWire

/// `wiretape sweep`.
package struct SweepCommand: Command {
    private let arguments: ParsedArguments
    private let path: String
    private let faults: [String]
    private let points: SweepPoints
    private let shard: (index: Int, of: Int)
    private let base: [String]
    private let plan: FaultPlan
    private let options: ReplayOptions
    private let command: [String]
    private let log: Log

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.positionals[0] == "-" {
            throw arguments.error("FILE -: a sweep plays the tape in many processes; name a file")
        }
        self.arguments = arguments
        path = arguments.positionals[0]
        log = Log(arguments)
        points = arguments.value("at").flatMap(SweepPoints.init(rawValue:)) ?? .messages
        guard let command = arguments.tail, !command.isEmpty else {
            throw arguments.error("a sweep needs the client to run: wiretape sweep \(path) -- COMMAND")
        }
        self.command = command
        plan = try FaultOptions(arguments, plans: []).plan
        base = arguments.all("fault")
        do throws(OptionError) {
            faults = try SweepFaults.expanded(try SweepFaults.parse(arguments.value("faults") ?? ""))
            shard = try arguments.value("shard").map(Self.shard) ?? (1, 1)
            options = try ReplayOptions(arguments)
        } catch {
            throw arguments.error(error.message)
        }
    }

    package func run() throws -> Int32 {
        try CommandCheck.check(command)
        try LoadedTape.require(path)
        let tape = try LoadedTape(path: path, ignore: [], memory: arguments.memory, log: log)
        do throws(RefusedRules) {
            try plan.check(against: tape, options, log)
        } catch {
            throw error.failure
        }
        let all = cases(tape.sessions)
        guard !all.isEmpty else {
            throw Failure("\(tape.name) has no point at which \(faults.joined(separator: ", ")) could stand", .missing)
        }
        let known = try arguments.value("known").map { try KnownFailures(path: $0) } ?? KnownFailures()
        let seed = arguments.count("seed") ?? ThisProcess.randomSeed >> 11
        let folder = try folder()
        let job = SweepJob(
            folder: folder, tape: path, options: passedOn, seed: seed, timeout: arguments.value("timeout") ?? "30s",
            command: command)
        let runner = try SweepRunner(
            job, jobs: Int(clamping: arguments.count("jobs") ?? 2), budget: arguments.duration("budget"))
        defer { runner.close() }
        try mustPass(runner, job)
        let chosen = all.filter { ($0.number - 1) % shard.of == shard.index - 1 }
        let results = try sweep(Self.shuffled(chosen, seed: seed), runner)
        var findings = SweepFindings(
            tape: tape.name, seed: seed, cases: all.count, chosen: chosen.count, survived: 0, notReached: [],
            notRun: chosen.count - results.count, known: [], fixed: [], failures: [], broken: 0)
        try judge(chosen, results, known, &findings, runner, job)
        return try tell(findings, runner.interrupted)
    }

    // MARK: Cases

    private func cases(_ sessions: [RecordedSession]) -> [SweepCase] {
        var cases: [SweepCase] = []
        for session in sessions {
            let number = sessions.count > 1 ? session.number : nil
            for place in points.places(of: session) {
                for (fault, asked) in points.faults(faults, at: place) {
                    let found = [place.text, place.text.replacingPlace(with: "on")].first {
                        SweepFaults.isRule("\(fault) \($0)")
                    }
                    guard let found else { continue }
                    cases.append(
                        SweepCase(
                            number: cases.count + 1, fault: fault, asked: asked, place: found, session: number))
                }
            }
        }
        return cases
    }

    /// So that a budget that runs out has seen something of everything.
    private static func shuffled(_ cases: [SweepCase], seed: UInt64) -> [SweepCase] {
        var cases = cases
        var generator = SplitMix64(seed: seed)
        for i in cases.indices.reversed() where i > 0 { cases.swapAt(i, generator.below(i + 1)) }
        return cases
    }

    private var passedOn: [String] {
        let memory = arguments.has("memory") ? ["--memory", "\(arguments.memory)"] : []
        return memory
            + Self.passedOn.flatMap { option -> [String] in
                guard arguments.has(option.name) else { return [] }
                if option.valueName == nil { return ["--\(option.name)"] }
                return arguments.all(option.name).flatMap { ["--\(option.name)", $0] }
            }
    }

    private func folder() throws -> String {
        guard let path = arguments.value("output") else { return try File.makeTemporaryFolder("wiretape-sweep") + "/" }
        try File.makeFolder(path)
        return path.hasSuffix("/") ? path : path + "/"
    }

    // MARK: Running

    /// A client that breaks by itself proves nothing.
    private func mustPass(_ runner: SweepRunner, _ job: SweepJob) throws {
        let outcome = try runner.run([.init(name: "without", rules: base)])["without"]
        guard let outcome, outcome != .survived else { return }
        throw Failure(
            "the client does not pass without a fault: \(outcome.text). Its output: \(job.output("without"))",
            outcome == .hang ? .expectation : .failure)
    }

    private func sweep(_ cases: [SweepCase], _ runner: SweepRunner) throws -> [String: SweepOutcome] {
        var bar = ProgressBar("sweep", isWanted: log.level == .info)
        runner.progress = { done, total in bar.show(UInt64(done), of: UInt64(total)) }
        defer {
            bar.clear()
            runner.progress = { _, _ in }
        }
        return try runner.run(cases.map { .init(name: "\($0.number)", rules: base + [$0.rule]) })
    }

    private func judge(
        _ cases: [SweepCase], _ results: [String: SweepOutcome], _ known: KnownFailures,
        _ findings: inout SweepFindings, _ runner: SweepRunner, _ job: SweepJob
    ) throws {
        var ways: [[String]: Int] = [:]
        for one in cases {
            guard let outcome = results["\(one.number)"] else { continue }
            if case .unusable(let code, let line) = outcome {
                throw Failure("the replay with '\(one.rule)' ended with \(code): \(line)")
            }
            guard outcome.isBroken else {
                findings.add(unbroken: outcome, of: one, isKnown: known.rules.contains(one.rule))
                continue
            }
            if known.rules.contains(one.rule) {
                findings.known.append(one)
                continue
            }
            findings.broken += 1
            if let way = ways[[one.asked, outcome.kind]] {
                findings.failures[way].alike.append(one)
                continue
            }
            ways[[one.asked, outcome.kind]] = findings.failures.count
            let name = "\(one.number)"
            findings.failures.append(
                .init(
                    found: one, outcome: outcome, alike: [one], plan: base + [one.rule],
                    command: job.line(base + [one.rule], hangs: outcome.kind == SweepOutcome.hang.kind),
                    output: job.output(name)))
        }
        for i in findings.failures.indices { try shrink(&findings.failures[i], runner, job) }
    }

    private func shrink(_ failure: inout SweepFindings.Failure, _ runner: SweepRunner, _ job: SweepJob) throws {
        var runs = 0
        let number = failure.found.number
        let shrink = SweepShrink { rules in
            guard runner.mayGoOn else { return nil }
            runs += 1
            let name = "\(number)-\(runs)"
            let outcome = try runner.run([.init(name: name, rules: rules)])[name]
            if outcome?.isBroken == true { try? File.remove(job.output(name)) }
            return outcome
        }
        failure.plan = try shrink.shrink(failure.alike, base: base, kind: failure.outcome.kind)
        failure.command = job.line(failure.plan, hangs: failure.outcome.kind == SweepOutcome.hang.kind)
    }

    // MARK: Telling

    private func tell(_ findings: SweepFindings, _ interrupted: Int32?) throws -> Int32 {
        if let target = arguments.value("report") {
            let text = findings.json.text + "\n"
            if target == "-" {
                Console.output.writeJSON(text)
            } else {
                let bytes = Array(text.utf8)
                try File.creating(target, overwrite: true).write(bytes.span)
            }
        }
        if log.level == .info { Console.error.write(findings.text) }
        if let interrupted { return Verdict(.stopped, 128 + interrupted, findings.summary).tell() }
        if findings.broken > 0 || findings.isVoid {
            return Verdict(.failed, ExitCode.expectation.code, findings.summary).tell()
        }
        return Verdict(.pass, 0, findings.summary).tell()
    }
}

extension String {
    /// `after X` as `on X`.
    fileprivate func replacingPlace(with word: String) -> String {
        guard let space = firstIndex(of: " ") else { return self }
        return word + self[space...]
    }
}
