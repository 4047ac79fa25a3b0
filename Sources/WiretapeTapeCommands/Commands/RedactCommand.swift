package import WiretapeCommandLine
internal import WiretapeRedaction
internal import WiretapeTapeTools

/// `wiretape redact FILE`.
package struct RedactCommand: Command {
    package static let spec = CommandSpec(
        name: "redact", abstract: "Take the secrets out of a tape",
        discussion: """
            Puts numbered pseudonyms in the place of credentials, as 'wiretape record' does by default: the same secret becomes \
            the same pseudonym, and the tape replays as it did. What has no secrets is copied byte for byte; a tape that is \
            redacted already stays as it is. docs/redaction.md has the list of places.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "Options",
                [
                    EditedTape.output, EditedTape.force,
                    OptionGroup.redact, OptionGroup.keep, OptionGroup.config, OptionGroup.fileMemory,
                ])
        ],
        examples: [
            ExampleSpec("wiretape redact old.tape.gz", "Makes a tape fit for version control."),
            ExampleSpec(
                "wiretape redact chat.tape --redact json:/arguments/0/iban -o clean.tape",
                "Has a secret of its own, too."),
        ], exitCodes: [.failure, .badFile])

    private let path: String
    private let output: EditedTape
    private let rules: RedactionRules
    private let choice: RedactionChoice
    private let longestLine: Int
    private let log: Log

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        choice = try RedactionChoice(arguments)
        guard let rules = choice.rules else { throw arguments.error("--redact off leaves nothing to do") }
        self.rules = rules
        longestLine = TapeCanon.longestLine(memory: arguments.memory)
        log = Log(arguments)
    }

    package func run() throws -> Int32 {
        choice.warn(log, output.name)
        let secrets = try TapeRedactor.write(
            path, to: output.target, rules, name: choice.name, longestLine: longestLine, tell: { log.warning($0) })
        return Verdict(.done, 0, "\(output.name): \(secrets) secret\(secrets == 1 ? "" : "s") replaced").tell()
    }
}
