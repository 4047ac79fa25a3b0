package import WiretapeCommandLine
internal import WiretapeSystem
internal import WiretapeTapeTools

/// `wiretape repair`.
package struct RepairCommand: Command {
    package static let spec = CommandSpec(
        name: "repair", abstract: "Save what can be saved of a damaged tape",
        discussion: """
            Keeps every whole event of every readable part, in order and as it was, and marks what is known to be missing. \
            A tape that was cut off, as a recorder that was killed leaves it, becomes one that zcat and other tools read \
            without complaint. Nothing is made up.
            Without --output the tape is replaced by its repaired form; one without damage is left alone.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape; - is standard input.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(
                        "output", short: "o", "FILE", .file, "Write the repaired tape there and leave FILE alone."),
                    OptionSpec(switch: "force", "Write over an output that is there."),
                    OptionGroup.fileMemory,
                ])
        ],
        examples: [
            ExampleSpec("wiretape repair chat.tape.gz", "Repairs the tape in its place."),
            ExampleSpec("wiretape repair chat.tape.gz --output saved.tape.gz", "Keeps the damaged one."),
        ], exitCodes: [.failure, .badFile])

    private let path: String
    private let output: String?
    private let force: Bool
    private let memory: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        output = arguments.value("output")
        if arguments.positionals[0] == "-", output == nil {
            throw arguments.error("FILE -: the repaired tape needs a place: --output FILE")
        }
        path = try StandardInput.again(arguments.positionals[0], arguments)
        force = arguments.has("force")
        memory = arguments.memory
        if let output, File.resolved(output) == File.resolved(path) {
            throw arguments.error("--output is FILE itself; leave it out to repair in place")
        }
        if output == nil, force { throw arguments.error("--force is for an --output that is there") }
    }

    package func run() throws -> Int32 {
        let report = try TapeRepair.repair(path: path, to: output, force: force, memory: memory)
        return Verdict(.done, 0, "\(output ?? path): \(report.text)").tell()
    }
}
