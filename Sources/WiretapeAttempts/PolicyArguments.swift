internal import WiretapeBytes

/// The arguments of a policy: `0s, 2s, early=50ms`.
struct PolicyArguments {
    package let policy: String
    /// Without names, in order.
    package private(set) var plain: [String] = []
    private var named: [(name: String, value: String)] = []

    init(_ text: Substring, of policy: String) {
        self.policy = policy
        for argument in Self.split(text, at: ",") {
            // What stands in quotes may have any sign.
            guard !argument.trimmingBlanks().hasPrefix("\"") else {
                plain.append(argument.trimmingBlanks())
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingBlanks() }
            if parts.count == 2 {
                named.append((parts[0], parts[1]))
            } else if !parts[0].isEmpty || text.contains(",") {
                plain.append(parts[0])
            }
        }
    }

    /// The parts between separators that stand in no bracket and in no quotes.
    package static func split(_ text: some StringProtocol, at separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            depth += isQuoted ? 0 : character == "(" ? 1 : character == ")" ? -1 : 0
            if character == separator, depth <= 0, !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    /// The first argument without a name.
    mutating func takePlain() -> String? { plain.isEmpty ? nil : plain.removeFirst() }

    package mutating func take(_ name: String) -> String? {
        guard let i = named.firstIndex(where: { $0.name == name }) else { return nil }
        return named.remove(at: i).value
    }

    mutating func takeDuration(_ name: String) throws(OptionError) -> UInt64? {
        guard let text = take(name) else { return nil }
        return try Self.duration(text)
    }

    /// `early` and `late`.
    mutating func takeTolerance() throws(OptionError) -> Expectation.Tolerance {
        var tolerance = Expectation.Tolerance()
        if let early = try takeDuration("early") { tolerance.early = early }
        tolerance.late = try takeDuration("late")
        return tolerance
    }

    /// What is left of the named ones.
    var leftNames: [String] { named.map(\.name) }

    /// Nothing may be left.
    package func finish(knowing names: [String]) throws(OptionError) {
        if let left = named.first {
            throw OptionError("\(policy) has no '\(left.name)'\(NearestName.hint(left.name, among: names))")
        }
        if let left = plain.first { throw OptionError("\(policy) does not take '\(left)'") }
    }

    package static func duration(_ text: String) throws(OptionError) -> UInt64 {
        guard let duration = DurationText.parse(text) else {
            throw OptionError("'\(text)' is not a duration such as 250ms, 2s or 1m")
        }
        return duration
    }

    /// `0s|1s|5s`.
    static func durations(_ text: String) throws(OptionError) -> [UInt64] {
        var durations: [UInt64] = []
        for part in split(text, at: "|") { durations.append(try duration(part.trimmingBlanks())) }
        return durations
    }

    package static func count(_ text: String, _ name: String) throws(OptionError) -> Int {
        guard let count = Int(text), count >= 0 else {
            throw OptionError("'\(name)' is a whole number, not '\(text)'")
        }
        return count
    }
}
