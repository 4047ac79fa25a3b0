internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape validate FILE…`.
package struct ValidateCommand: Command {
    package static let spec = CommandSpec(
        name: "validate", abstract: "Check tapes, line by line",
        discussion: """
            Reads every line of the tapes and says what is wrong, with line and column, and what was probably meant; then \
            what is on them: events, sessions, and whether each session can be replayed. Kinds and keys of a later version \
            are allowed and counted. Findings go to standard output, FILE:LINE:COLUMN first, as editors read them.

            An error is what cannot be read, and makes the exit code 4. A warning is what can be read and may not be what \
            was meant: messages that the protocol's codec does not understand, a tape that was cut off, times that go back.
            """,
        positionals: [PositionalSpec("FILE", .file, repeatable: true, "The tapes; - is standard input.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(switch: "strict", "Take warnings for errors."),
                    OptionGroup.fileMemory,
                    OptionSpec(switch: "json", "Print an object a finding, a session and a tape instead."),
                ])
        ],
        examples: [
            ExampleSpec("wiretape validate recordings/*.tape", "Checks all tapes of a folder."),
            ExampleSpec("wiretape validate --json chat.tape | jq 'select(.event==\"session\")'", "Lists its sessions."),
        ], exitCodes: [.failure, .badFile])

    private let paths: [String]
    private let report: ValidateReport
    private let isStrict: Bool
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        paths = arguments.positionals
        report = ValidateReport(isJSON: arguments.has("json"))
        isStrict = arguments.has("strict")
        longestLine = TapeLineReader.longestLine(memory: arguments.memory)
    }

    package func run() throws -> Int32 {
        var errors = 0
        var warnings = 0
        for path in paths {
            let (found, doubts) = try check(path)
            errors += found
            warnings += doubts
        }
        let isBad = errors > 0 || (isStrict && warnings > 0)
        var parts = [Self.count(paths.count, "tape")]
        if errors > 0 { parts.append(Self.count(errors, "error")) }
        if warnings > 0 { parts.append(Self.count(warnings, "warning")) }
        if errors + warnings == 0 { parts.append("nothing wrong") }
        let code = isBad ? ExitCode.badFile.code : 0
        return Verdict(isBad ? .failed : .done, code, parts.joined(separator: ", ")).tell()
    }

    private func check(_ path: String) throws -> (errors: Int, warnings: Int) {
        var validator = TapeValidator(codecs: Codecs.all)
        var findings: [TapeFinding] = []
        do throws(TapeError) {
            var reader = try TapeLineReader(path: path == "-" ? "/dev/stdin" : path, longestLine: longestLine)
            while let line = try reader.next() {
                validator.check(line, into: &findings)
                report.tell(&findings, path)
            }
            let summary = validator.finish(isTruncated: reader.isTruncated, into: &findings)
            report.tell(&findings, path)
            report.tell(summary, path)
            return (summary.errors, summary.warnings)
        } catch {
            guard error.exitCode == ExitCode.badFile.code else { throw error }
            let summary = validator.finish(isTruncated: false, into: &findings)
            findings.append(TapeFinding(.error, line: 0, error.message))
            report.tell(&findings, path)
            return (summary.errors + 1, summary.warnings)
        }
    }

    private static func count(_ n: Int, _ noun: String) -> String { "\(n) \(noun)\(n == 1 ? "" : "s")" }
}
