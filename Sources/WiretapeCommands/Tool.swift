internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeCommands

/// The tool from its first word to its exit code.
package enum Tool {
    /// - Parameter words: the command line without the program's name.
    package static func run(_ words: [String]) -> Int32 {
        do {
            let code = try dispatch(words)
            guard code == 0, let why = Console.outputFailure else { return code }
            return Verdict(.failed, ExitCode.failure.code, "standard output cannot be written: \(why)").tell()
        } catch let error as UsageError {
            Console.error.write(error.text)
            return ExitCode.usage.code
        } catch let failure as Failure {
            return Verdict(.failed, failure.code, failure.reason).tell()
        } catch let error as TapeError {
            return Verdict(.failed, error.exitCode, error.description).tell()
        } catch {
            return Verdict(.failed, ExitCode.failure.code, "\(error)").tell()
        }
    }

    private static func dispatch(_ words: [String]) throws -> Int32 {
        guard let name = words.first else {
            Console.error.write(HelpPage.overview(Commands.specs, width: TerminalWidth.current))
            throw UsageError("no command is named")
        }
        if name == "--version" { return try run(VersionCommand.self, words.dropFirst()) }
        if name == "-h" || name == "--help" { return try run(HelpCommand.self, words.dropFirst()) }
        return try run(command(name), words.dropFirst())
    }

    private static func run(_ command: any Command.Type, _ words: ArraySlice<String>) throws -> Int32 {
        let spec = command.spec
        let outcome = try ArgumentParser.parse(Array(words), as: spec) { arguments throws(UsageError) in
            try SettingsMerge.apply(to: arguments, spec)
        }
        switch outcome {
        case .help:
            Console.output.write(HelpPage.text(command.spec, width: TerminalWidth.current))
            return 0
        case .arguments(let arguments):
            return try command.init(arguments).run()
        }
    }

    /// The command of this name, or an error with the nearest one.
    package static func command(_ name: String) throws(UsageError) -> any Command.Type {
        if let command = Commands.all.first(where: { $0.spec.name == name }) { return command }
        let names = Commands.specs.map(\.name)
        if name.hasPrefix("-") {
            throw UsageError("unknown option '\(name)'" + NearestName.hint(name, among: ["--help", "--version"]))
        }
        if Commands.missing.contains(name) {
            throw UsageError("'\(name)' is planned and not built yet; there are \(names.joined(separator: ", "))")
        }
        throw UsageError("unknown command '\(name)'" + NearestName.hint(name, among: names))
    }
}
