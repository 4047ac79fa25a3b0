internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeRecorder
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape name FILE alice=1 bob=2`.
package struct NameCommand: Command {
    package static let spec = CommandSpec(
        name: "name", abstract: "Give the sessions of a tape names",
        discussion: """
            Writes names on the tape, on the 'open' events of the sessions' connections, so that clients can be told which \
            session is theirs (?wt=NAME, --session). 'wiretape validate' lists the sessions and their numbers. An empty \
            name (=1) takes a name away. Everything else on the tape stays as it is.
            """,
        positionals: [
            EditedTape.file,
            PositionalSpec("NAME=SESSION", nameKind, repeatable: true, "A name and the number of its session."),
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    EditedTape.output, EditedTape.force,
                    OptionGroup.fileMemory,
                ])
        ],
        examples: [ExampleSpec("wiretape name chat.tape alice=1 bob=2", "Names two sessions.")],
        exitCodes: [.failure, .badFile])

    private static let nameKind = ValueKind.checked(suggestions: []) { _ = try parse($0) }

    private static func parse(_ text: String) throws(OptionError) -> (name: String, session: Int) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let session = Int(parts[1]), session > 0 else {
            throw OptionError("'\(text)' is not NAME=SESSION, as in alice=1")
        }
        guard parts[0].isEmpty || TapeNamer.isName(parts[0]) else {
            throw OptionError("'\(parts[0])' is no name: letters, digits, '-', '_' and '.', at most 64")
        }
        return (parts[0], session)
    }

    private let path: String
    private let names: [(name: String, session: Int)]
    private let output: EditedTape
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        names = arguments.positionals.dropFirst().compactMap { try? Self.parse($0) }
        output = try EditedTape(arguments)
        longestLine = TapeLineReader.longestLine(memory: arguments.memory)
        for (i, one) in names.enumerated() where names[..<i].contains(where: { $0.session == one.session }) {
            throw arguments.error("session \(one.session) gets two names")
        }
    }

    package func run() throws -> Int32 {
        var namer = TapeNamer(names, codecs: Codecs.all)
        var reader = try TapeLineReader(path: path, longestLine: longestLine)
        while let line = try reader.next() { namer.look(try EditedTape.whole(line, of: path)) }
        do {
            try namer.settle()
        } catch {
            throw Failure("\(path): \(error.reason)")
        }
        try TapeRewrite.run(path, to: output.target, longestLine: longestLine) { try namer.change($0) }
        let list = names.map {
            $0.name.isEmpty ? "session \($0.session) has no name" : "session \($0.session) is \($0.name)"
        }
        return Verdict(.done, 0, "\(output.name): \(list.joined(separator: ", "))").tell()
    }
}
