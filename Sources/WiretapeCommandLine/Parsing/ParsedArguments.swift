package import WiretapeBytes
internal import WiretapeRedaction
internal import WiretapeRuntime
internal import WiretapeWire

/// What the parser made of a command line. Every value is of its declared kind.
package struct ParsedArguments: Hashable, Sendable {
    package var command: String
    /// Values by long name in the order written; a switch has one empty value. Defaults are not in here.
    package var values: [String: [String]]
    package var defaults: [String: String]
    package var positionals: [String]
    /// The words after `--`; nil when there was none.
    package var tail: [String]?
    /// Options of the file beside the tape that make the verdict milder, with their places: `chat.tape.yaml:2 (allow-unplayed)`.
    package var relaxations: [String] = []

    /// The same with another first positional.
    package func with(positional text: String) -> ParsedArguments {
        var changed = self
        changed.positionals[0] = text
        return changed
    }

    /// Whether the option was written.
    package func has(_ name: String) -> Bool { values[name] != nil }

    /// The last value written, else the default.
    package func value(_ name: String) -> String? { values[name]?.last ?? defaults[name] }

    /// All values written, else the default.
    package func all(_ name: String) -> [String] { values[name] ?? defaults[name].map { [$0] } ?? [] }

    /// A whole number; nil when the option is absent and has no default.
    package func count(_ name: String) -> UInt64? { value(name).flatMap { UInt64($0) } }

    /// Nanoseconds; nil when the option is absent and has no default.
    package func duration(_ name: String) -> UInt64? { value(name).flatMap { DurationText.parse($0) } }

    /// The bytes of `--memory`.
    package var memory: Int { value("memory").flatMap(ByteSize.parse) ?? MemoryBudget.standard }

    package static func checkMemory(_ text: String) throws(OptionError) {
        guard let size = ByteSize.parse(text), size >= 64 << 20 else {
            throw OptionError("'\(text)' is no size of 64MiB or more, such as 256MiB or 1GiB")
        }
    }

    /// An error about this command.
    package func error(_ message: String) -> UsageError { UsageError(message, command: command) }
}

extension ParsedArguments {
    /// The command line that does the same again with the same draws, as one types it: without where things are told, and with the seed.
    /// Reports show it, so secrets that are recognised in it are replaced.
    package func again(seed: UInt64) -> String {
        var words = ["wiretape", command] + positionals
        for name in values.keys.sorted() where !Self.telling.contains(name) && name != "seed" {
            for value in values[name] ?? [] { words += value.isEmpty ? ["--\(name)"] : ["--\(name)", value] }
        }
        words += ["--seed", "\(seed)"]
        if let tail { words += ["--"] + tail }
        words = Self.withoutSecrets(words)
        return words.map { Self.isPlain($0) ? $0 : Summary.shellWord($0) }.joined(separator: " ")
    }

    private static func withoutSecrets(_ words: [String]) -> [String] {
        var redactor = Redactor()
        var before = ""
        return words.map { word in
            defer { before = word }
            switch before {
            // KEY=SECRET; and of curl and the like: NAME:PASSWORD, and cookies.
            case "--secret": return hidden(word, behind: "=")
            case "-u", "--user", "--proxy-user": return hidden(word, behind: ":")
            case "-b", "--cookie": return redactor.fields([HeaderField("Cookie", word)])[0].value
            case let option where option.hasPrefix("-") && !word.hasPrefix("-"):
                let field = HeaderField(String(option.drop { $0 == "-" }), word)
                let new = redactor.fields([field])[0].value
                if new != word { return new }
                return redactor.rawLines(Array(word.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? word
            case _ where word.hasPrefix("-u") && word.contains(":"): return hidden(word, behind: ":")
            default: return redactor.rawLines(Array(word.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? word
            }
        }
    }

    private static func hidden(_ word: String, behind mark: Character) -> String {
        word.firstIndex(of: mark).map { word[...$0] + "…" } ?? word
    }

    /// Whether a shell takes the word as it is.
    private static func isPlain(_ word: String) -> Bool {
        !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_./:=,@%+-".contains($0)) }
    }

    /// Options that change nothing of what is played.
    private static let telling: Set<String> = [
        "report", "control", "control-token", "events", "json", "quiet", "log-level", "exit-with-parent",
    ]
}
