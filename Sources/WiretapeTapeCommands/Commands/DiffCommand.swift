internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape diff A B`.
package struct DiffCommand: Command {
    package static let spec = CommandSpec(
        name: "diff", abstract: "Compare what two tapes tell",
        discussion: """
            Compares two tapes, or the tapes of two folders, as a replay compares a client with its tape: by the meaning of \
            messages, with ids, times, transports, keepalives and the order that the protocol leaves open out of account. \
            Sessions are paired by their names, else in order by protocol and route. Compares a tape with the actual tape \
            of a run, too: a report's folder stands for the actual.tape in it. What rules did in that run, and what was said \
            again because of them, is no difference.

            Differences go to standard output, with file and line. The exit code is 0 when there are none, 2 when there are.
            """,
        positionals: [
            PositionalSpec("A", .file, "A tape or a folder of tapes; - is a tape on standard input."),
            PositionalSpec("B", .file, "The other one."),
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(
                        "ignore", "RULE", ignoreKind, repeatable: true,
                        "A place of a message that may differ: 'Send:/arguments/0/sentAt'."),
                    OptionSpec(
                        "format", short: "f", "FORMAT", .choice(["text", "markdown"]), default: "text",
                        "text, or markdown for a comment on a change."),
                    OptionSpec(
                        "limit", "N", .count(1...1_000_000), default: "100", "Show so many differences of a tape."),
                    OptionSpec(switch: "json", "Print an object a difference instead."),
                    OptionGroup.fileMemory,
                    OptionSpec("config", "FILE", .file, OptionGroup.configHelp),
                ])
        ],
        examples: [
            ExampleSpec("wiretape diff chat.tape chat-new.tape", "Says what has changed in a new recording."),
            ExampleSpec("wiretape diff recordings/ new/ --format markdown", "Compares folders for a review."),
            ExampleSpec("wiretape diff chat.tape report/", "Compares a tape with what a replay's client did."),
        ], exitCodes: [.failure, .diverged, .badFile])

    private static let ignoreKind = ValueKind.checked(suggestions: []) { _ = try IgnoreRule(parsing: $0) }

    private let arguments: ParsedArguments
    private let paths: [String]
    private let ignore: [IgnoreRule]
    private let printer: DiffPrinter

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        guard arguments.positionals.count(where: { $0 == "-" }) < 2 else {
            throw arguments.error("FILE -: standard input is one tape")
        }
        paths = try arguments.positionals.map { path throws(UsageError) in try StandardInput.again(path, arguments) }
        do throws(OptionError) {
            var rules: [IgnoreRule] = []
            for text in arguments.all("ignore") { rules.append(try IgnoreRule(parsing: text)) }
            ignore = rules
        } catch {
            throw arguments.error(error.message)
        }
        printer = DiffPrinter(
            isJSON: arguments.has("json"), isMarkdown: arguments.value("format") == "markdown",
            limit: Int(clamping: arguments.count("limit") ?? 100))
    }

    package func run() throws -> Int32 {
        let pairs = try DiffPairs(paths[0], paths[1])
        var different = 0
        var count = 0
        for pair in pairs.both {
            let found = TapeDiff.compare(try content(pair.first), try content(pair.second), ignore: ignore)
            printer.tell(found, pair)
            different += found.isEmpty ? 0 : 1
            count += found.count
        }
        for alone in pairs.alone { printer.tell(alone: alone.path, of: alone.folder) }
        let parts =
            (count > 0 ? ["\(count) \(count == 1 ? "difference" : "differences")\(Self.of(pairs, different))"] : [])
            + (pairs.alone.isEmpty ? [] : ["\(pairs.alone.count) without a counterpart"])
        let names = pairs.isFolder ? "\(pairs.both.count) tapes" : "the tapes"
        if parts.isEmpty { return Verdict(.done, 0, "\(names) tell the same").tell(arguments) }
        return Verdict(.diverged, ExitCode.diverged.code, parts.joined(separator: ", ")).tell(arguments)
    }

    private static func of(_ pairs: DiffPairs, _ different: Int) -> String {
        pairs.isFolder ? " on \(different) of \(pairs.both.count) tapes" : ""
    }

    private func content(_ path: String) throws(TapeError) -> TapeDiff.Content {
        var tape = try TapeReader(path: path, longestLine: TapeReader.longestLine(memory: arguments.memory))
        // Both tapes are held.
        var held = InterceptedTape(memory: arguments.memory / 2)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        var run = PlayedRun()
        let mask = TapeMask(tape.header)
        while let next = try tape.next() {
            try held.add(next, of: tape.name)
            for next in mask.shown(next) {
                run.read(next.event, number: next.number)
                reader.read(
                    next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            }
            messages.removeAll(keepingCapacity: true)
        }
        return TapeDiff.Content(sessions: reader.finish(), exchanges: reader.exchanges, run: run)
    }
}
