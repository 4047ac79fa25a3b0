internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeTapeTools

/// `wiretape canon FILE`.
package struct CanonCommand: Command {
    package static let spec = CommandSpec(
        name: "canon", abstract: "Bring a tape into canonical form, for version control",
        discussion: """
            Rewrites a tape so that recordings of the same conversation differ in their start and times only: times in whole \
            milliseconds, a line for every message with JSON spelled out, bodies inline, ids that were drawn at random named \
            id_1, id_2, …, and no ports, keepalives, empty polls, or headers that change from run to run. It replays as the \
            tape did. Comments stay. docs/tape-format.md has the whole list.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "Options",
                [
                    EditedTape.output, EditedTape.force,
                    OptionGroup.fileMemory,
                    OptionSpec(switch: "check", "Write nothing; exit with 2 when the tape is not in canonical form."),
                ])
        ],
        examples: [
            ExampleSpec("wiretape canon chat.tape.gz --output chat.tape", "Makes a tape that reads well in a diff."),
            ExampleSpec("wiretape canon --check recordings/chat.tape", "Asks, in a pipeline."),
        ], exitCodes: [.failure, .diverged, .badFile])

    private let path: String
    private let output: EditedTape
    private let isCheck: Bool
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        isCheck = arguments.has("check")
        longestLine = TapeCanon.longestLine(memory: arguments.memory)
        if isCheck, arguments.has("output") { throw arguments.error("--check writes nothing; leave --output out") }
    }

    package func run() throws -> Int32 {
        if isCheck { return try check() }
        let events = try TapeCanon.write(
            path, to: output.target, codecs: Codecs.all, longestLine: longestLine)
        return Verdict(.done, 0, "\(output.name): \(events) event\(events == 1 ? "" : "s") in canonical form").tell()
    }

    private func check() throws -> Int32 {
        guard let line = try TapeCanon.firstDifference(path, codecs: Codecs.all, longestLine: longestLine) else {
            return Verdict(.done, 0, "\(path) is in canonical form").tell()
        }
        return Verdict(.diverged, ExitCode.diverged.code, "\(path) is not in canonical form from line \(line) on")
            .tell()
    }
}
