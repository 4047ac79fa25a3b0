package import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape inspect FILE`: what is on a tape, for people and for scripts.
package struct InspectCommand: Command {
    package static let spec = CommandSpec(
        name: "inspect", abstract: "Show what is on a tape",
        discussion: """
            Prints the events of a tape in their order, with messages decoded. The text goes to standard output, notes and \
            the verdict to standard error. A tape that is still being written can be followed.

            Formats: 'table' is a line an event or message, with the time, the gap to the line before, the connection, the \
            session and the direction (> to the server, < to the client). 'sequence' is a diagram with the lanes client, \
            proxy and server; runs of keepalives are folded. 'json' is an object a decoded message, and a \
            request that a filter asks for.

            A filter names messages by their target, event or type, or a point such as message, handshake, request or \
            negotiate, with conditions in brackets; an ordinal counts within each session.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape, .tape.gz or .tape; - is standard input.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(
                        "format", short: "f", "FORMAT", .choice(["table", "json", "sequence"]), default: "table",
                        "How it is shown."),
                    OptionSpec("filter", "EXPR", filterKind, "Show only what this selector means."),
                    OptionGroup.fileMemory,
                    OptionSpec(
                        switch: "follow", "Go on as the tape grows, until its recording ends or ctrl-C."),
                ])
        ],
        examples: [
            ExampleSpec("wiretape inspect chat.tape.gz", "Shows everything as a table."),
            ExampleSpec("wiretape inspect chat.tape.gz --format sequence | less -S", "Browses the conversation."),
            ExampleSpec(
                "wiretape inspect chat.tape.gz --filter 'ReceiveMessage[2..5, /arguments/0=\"ada\"]'",
                "Shows some of ada's messages."),
            ExampleSpec(
                "wiretape inspect chat.tape.gz --format json --filter 'message[direction=toClient]' | jq .summary",
                "Hands the server's messages to jq."),
        ],
        exitCodes: [.failure, .badFile])

    private static let filterKind = ValueKind.checked(
        suggestions: FaultPoint.allCases.map(\.rawValue), { _ = try InspectFilter(parsing: $0) })

    private let path: String
    private let format: String
    private let filter: InspectFilter?
    private let follows: Bool
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let file = arguments.positionals.first ?? "-"
        path = file == "-" ? "/dev/stdin" : file
        format = arguments.value("format") ?? "table"
        follows = arguments.has("follow")
        longestLine = TapeReader.longestLine(memory: arguments.memory)
        do throws(PlanError) {
            filter = try arguments.value("filter").map { text throws(PlanError) in try InspectFilter(parsing: text) }
        } catch {
            throw arguments.error("\(error)")
        }
    }

    package func run() throws -> Int32 {
        var tape = try TapeReader(path: path, longestLine: longestLine)
        let mask = TapeMask(tape.header)
        var printer = InspectPrinter(makeFormat(), filter: filter, header: tape.header)
        var bar = ProgressBar(
            tape.name, isWanted: tape.progress.size > InspectCommand.longFile && !Console.output.isTerminal)
        repeat {
            do throws(TapeError) {
                while let next = try tape.next() {
                    for shown in mask.shown(next) { printer.append(shown) }
                    if next.number % 256 == 0 { bar.show(tape.progress.read, of: tape.progress.size) }
                }
            } catch {
                // What was read before the damage is shown, and the bar is gone before the error is told.
                printer.finish()
                bar.clear()
                throw error
            }
            printer.flush()
        } while follows && !tape.isStopped && InspectCommand.pause()
        printer.finish()
        bar.clear()
        let torn = tape.isTruncated ? "; the last event is cut off, as a recorder that was killed leaves it" : ""
        return Verdict(.done, 0, printer.totals + torn).tell()
    }

    private func makeFormat() -> any InspectFormat {
        let columns = Console.output.columns
        return switch format {
        case "json": JSONFormat(hasRequests: filter != nil)
        case "sequence": SequenceFormat(width: columns ?? 110)
        default: TableFormat(width: columns)
        }
    }

    /// Files from this size on get a progress bar.
    private static let longFile: UInt64 = 8 << 20

    /// Until a tape may have grown: at most 250 ms pass between the writes of a recorder.
    private static func pause() -> Bool {
        let gate = Gate(false)
        return gate.wait(until: { $0 }, deadline: SystemClock.monotonic + 100_000_000) { _, _ in true }
    }
}
