internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape rename FILE --host OLD=NEW …`.
package struct RenameCommand: Command {
    package static let spec = CommandSpec(
        name: "rename", abstract: "Write other names of sessions, hosts and paths on a tape",
        discussion: """
            Changes names where HTTP has them: in the tape's header, in the targets of requests, and in Host, Origin, Referer, \
            Location and the like. What messages and bodies say stays as it is ('wiretape edit' changes that). A host without a \
            port means every port, and the port stays. A path means everything below it, too.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "Names",
                [
                    OptionSpec("host", "OLD=NEW", pairKind, repeatable: true, "A host, or host and port."),
                    OptionSpec("path", "/OLD=/NEW", pathKind, repeatable: true, "What targets begin with."),
                    OptionSpec(
                        "session", "OLD=NEW", nameKind, repeatable: true,
                        "A session's name ('wiretape name' gives one)."),
                ]),
            OptionGroup("Output", [EditedTape.output, EditedTape.force, OptionGroup.fileMemory]),
        ],
        examples: [
            ExampleSpec(
                "wiretape rename chat.tape --host staging.example.com=chat.example.com --path /v1=/v2",
                "Makes a tape of another place.")
        ], exitCodes: [.failure, .badFile])

    private static let pairKind = ValueKind.checked(suggestions: []) { _ = try pair($0) }
    private static let pathKind = ValueKind.checked(suggestions: []) { text in
        let pair = try pair(text)
        guard pair.old.hasPrefix("/"), pair.new.hasPrefix("/") else {
            throw OptionError("'\(text)' is not /OLD=/NEW: paths begin with '/'")
        }
    }
    private static let nameKind = ValueKind.checked(suggestions: []) { text in
        let pair = try pair(text)
        guard TapeNamer.isName(pair.new) else {
            throw OptionError("'\(pair.new)' is no name: letters, digits, '-', '_' and '.', at most 64")
        }
    }

    private static func pair(_ text: String) throws(OptionError) -> TapeRename.Pair {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw OptionError("'\(text)' is not OLD=NEW")
        }
        return TapeRename.Pair(parts[0], parts[1])
    }

    private let path: String
    private let choice: TapeRename.Choice
    private let output: EditedTape
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        longestLine = TapeLineReader.longestLine(memory: arguments.memory)
        var choice = TapeRename.Choice()
        choice.hosts = arguments.all("host").compactMap { try? Self.pair($0) }
        choice.paths = arguments.all("path").compactMap { try? Self.pair($0) }
        choice.sessions = arguments.all("session").compactMap { try? Self.pair($0) }
        guard !(choice.hosts + choice.paths + choice.sessions).isEmpty else {
            throw arguments.error("nothing says what is renamed: name --host, --path or --session")
        }
        self.choice = choice
    }

    package func run() throws -> Int32 {
        // Asked first, so that a name that stands nowhere changes nothing.
        var trial = TapeRename(choice)
        var rename = TapeRename(choice)
        do {
            try TapeRewrite.run(path, to: .nowhere, longestLine: longestLine) {
                try trial.change(try EditedTape.whole($0, of: path))
            }
            if let missing = trial.missing.first {
                throw Failure(
                    "\(path): '\(missing.old)' stands nowhere; `wiretape inspect \(path)` shows what there is")
            }
            try TapeRewrite.run(path, to: output.target, longestLine: longestLine) { try rename.change($0) }
        } catch let fault as TapeEdit.Fault {
            throw Failure("\(path): \(fault)")
        }
        let lines = "\(rename.changed) line\(rename.changed == 1 ? "" : "s")"
        return Verdict(.done, 0, "\(output.name): \(lines) renamed").tell()
    }
}
