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
        return words.map(Summary.shellWord).joined(separator: " ")
    }

    /// Options that change nothing of what is played.
    private static let telling: Set<String> = [
        "report", "control", "control-token", "events", "json", "quiet", "log-level", "exit-with-parent",
    ]
}
