package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape merge A B … --output FILE`.
package struct MergeCommand: Command {
    package static let spec = CommandSpec(
        name: "merge", abstract: "Join several tapes into one",
        discussion: """
            Writes the events of all tapes to one, connections numbered anew. By default they come as they happened, by the \
            times at which the recordings were started; --by sequence puts one tape behind the other. Upstreams of one name \
            and different addresses get names of their own. The output has one clock: a recording that was \
            appended to one of the tapes (a take) becomes a part of it.

            Pseudonyms that several tapes have (td_1, …) stay those of the first one; the others get new numbers, since nobody \
            can know whether they stand for the same secret.
            """,
        positionals: [
            PositionalSpec(
                "FILE", .file, repeatable: true, "The tapes; they stay as they are. One may be -, standard input.")
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(
                        "output", short: "o", "FILE", .file, required: true,
                        "Write the tape there; - is standard output."),
                    EditedTape.force,
                    OptionSpec(
                        "by", "ORDER", .choice(TapeMerge.Order.allCases.map(\.rawValue)), default: "time",
                        "time: as it happened. sequence: one behind the other."),
                    OptionGroup.fileMemory,
                ])
        ],
        examples: [
            ExampleSpec("wiretape merge monday.tape.gz tuesday.tape.gz -o week.tape.gz", "Joins two recordings.")
        ],
        exitCodes: [.failure, .badFile])

    private let paths: [String]
    private let output: String
    private let target: TapeRewrite.Target
    private let order: TapeMerge.Order
    private let longestLine: Int
    private let log: Log

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        guard arguments.positionals.count(where: { $0 == "-" }) < 2 else {
            throw arguments.error("FILE -: standard input is one tape")
        }
        paths = try arguments.positionals.map { path throws(UsageError) in try StandardInput.again(path, arguments) }
        output = arguments.value("output") ?? "-"
        order = arguments.value("by").flatMap { TapeMerge.Order(rawValue: $0) } ?? .time
        longestLine = TapeLineReader.longestLine(memory: arguments.memory)
        log = Log(arguments)
        guard paths.count > 1 else { throw arguments.error("one tape is nothing to merge; name two or more") }
        target =
            output == "-"
            ? .sink(ConsoleSink(), isCompressed: false) : .file(output, force: arguments.has("force"))
        if output != "-", paths.contains(where: { File.resolved($0) == File.resolved(output) }) {
            throw arguments.error("--output is one of the tapes that are merged")
        }
    }

    package func run() throws -> Int32 {
        do {
            let result = try TapeMerge.write(
                paths, by: order, to: target, tool: ToolVersion.named, longestLine: longestLine)
            if result.renumbered > 0 {
                log.info(
                    "\(result.renumbered) pseudonym\(result.renumbered == 1 ? "" : "s") of later tapes stood on earlier ones, too, "
                        + "and got other numbers")
            }
            if result.unnumbered > 0 {
                log.warning(
                    "\(result.unnumbered) pseudonyms are called td_0 now: there are more than can be told apart")
            }
            return Verdict(
                .done, 0,
                "\(output): \(result.events) events on \(result.connections) connection\(result.connections == 1 ? "" : "s") of \(paths.count) tapes"
            ).tell()
        } catch let fault as TapeEdit.Fault {
            throw Failure("\(fault)")
        }
    }
}
