internal import WiretapeWire

extension ParsedArguments {
    /// The command line that does the same again with the same draws, as one types it: without where things are told, and with the seed.
    package func again(seed: UInt64) -> String {
        var words = ["wiretape", command] + positionals
        for name in values.keys.sorted() where !Self.telling.contains(name) && name != "seed" {
            for value in values[name] ?? [] { words += value.isEmpty ? ["--\(name)"] : ["--\(name)", value] }
        }
        words += ["--seed", "\(seed)"]
        if let tail { words += ["--"] + tail }
        return words.map { Self.isPlain($0) ? $0 : Summary.shellWord($0) }.joined(separator: " ")
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
