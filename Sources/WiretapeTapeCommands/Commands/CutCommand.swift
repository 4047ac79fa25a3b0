internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape cut FILE --from 2s --to 10s …`.
package struct CutCommand: Command {
    package static let spec = CommandSpec(
        name: "cut", abstract: "Keep a part of a tape that still replays",
        discussion: """
            Keeps the sessions, the time or the messages that are named, and what a client needs to get there: of a session \
            of which anything is left, its negotiation, its opening and its handshake stay, and the request of an answer that \
            stays. Conditions are all to be met. Times count from --from on, and the start of the tape moves with them; comments \
            stay with the line behind them.

            'wiretape validate' lists sessions with their numbers and names, 'wiretape inspect' shows times.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "What stays",
                [
                    OptionSpec(
                        "from", "D", .duration, "What happened from this time on, counted from the tape's start."),
                    OptionSpec("to", "D", .duration, "What happened up to this time."),
                    OptionSpec(
                        "session", "WHICH", sessionKind, repeatable: true, "These sessions: a number, or a name."),
                    OptionSpec(
                        "messages", "A..B", rangeKind,
                        "These messages of each session, counted from 1 without handshakes and keepalives: 5..9, 5.., ..9."
                    ),
                    OptionSpec(
                        "filter", "EXPR", filterKind,
                        "The messages that this selector means, and what belongs to their calls: 'ReceiveMessage[1..3]'."
                    ),
                ]),
            OptionGroup("Output", [EditedTape.output, EditedTape.force, OptionGroup.fileMemory]),
        ],
        examples: [
            ExampleSpec(
                "wiretape cut long.tape.gz --from 10m --to 11m -o minute.tape", "Takes a minute out of a long tape."),
            ExampleSpec("wiretape cut chat.tape.gz --session alice -o alice.tape", "Keeps one session."),
        ], exitCodes: [.failure, .badFile])

    private static let sessionKind = ValueKind.checked(suggestions: []) { text in
        guard Int(text).map({ $0 > 0 }) ?? TapeNamer.isName(text) else {
            throw OptionError("'\(text)' is neither a session's number, from 1, nor a name")
        }
    }
    private static let rangeKind = ValueKind.checked(suggestions: []) { _ = try range($0) }
    private static let filterKind = ValueKind.checked(suggestions: []) {
        _ = try EditCommand.selector($0, of: "--filter")
    }

    private static func range(_ text: String) throws(OptionError) -> ClosedRange<Int> {
        let ends = text.ranges(of: "..")
        var (first, last): (Int?, Int?) = (Int(text), Int(text))
        if ends.count == 1 {
            let (before, behind) = (text[..<ends[0].lowerBound], text[ends[0].upperBound...])
            first = before.isEmpty ? 1 : Int(before)
            last = behind.isEmpty ? .max : Int(behind)
        }
        guard let first, let last, first > 0, first <= last else {
            throw OptionError("'\(text)' is no range of messages such as 5..9, 5.. or ..9; the first is 1")
        }
        return first...last
    }

    private let path: String
    private let choice: CutChoice
    private let output: EditedTape
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        longestLine = TapeCanon.longestLine(memory: arguments.memory)
        var choice = CutChoice()
        choice.from = arguments.duration("from") ?? 0
        choice.to = arguments.duration("to") ?? .max
        guard choice.from <= choice.to else { throw arguments.error("--from is behind --to: nothing would be left") }
        let sessions = arguments.all("session")
        if !sessions.isEmpty {
            choice.sessions = Set(sessions.compactMap { Int($0) })
            choice.names = Set(sessions.filter { Int($0) == nil })
        }
        do {
            choice.messages = try arguments.value("messages").map { try Self.range($0) }
            if let text = arguments.value("filter") {
                let (selector, filters) = try EditCommand.selector(text, of: "--filter")
                guard filters.session == nil else { throw OptionError("--session names sessions here, not --filter") }
                choice.selector = selector
            }
        } catch {
            throw arguments.error("\(error)")
        }
        self.choice = choice
        let names = ["from", "to", "session", "messages", "filter"]
        guard names.contains(where: { arguments.has($0) }) else {
            throw arguments.error("nothing says what stays: name --from, --to, --session, --messages or --filter")
        }
    }

    package func run() throws -> Int32 {
        var cut = TapeCut(choice, codecs: Codecs.all)
        do {
            try TapeRewrite.read(path, longestLine: longestLine) { cut.look(try EditedTape.whole($0, of: path)) }
            try cut.settle()
            try TapeRewrite.run(path, to: output.target, longestLine: longestLine) { try cut.change($0) }
        } catch let fault as TapeEdit.Fault {
            throw Failure("\(path): \(fault)")
        }
        let sessions = "\(cut.sessions) session\(cut.sessions == 1 ? "" : "s")"
        return Verdict(
            .done, 0, "\(output.name): \(cut.written) event\(cut.written == 1 ? "" : "s") of \(sessions)"
        ).tell()
    }
}
