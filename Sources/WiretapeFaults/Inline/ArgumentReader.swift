internal import WiretapeBytes

/// Takes the arguments of an action one by one: those without a key by their place, the others by name.
struct ArgumentReader {
    private let word: String
    private let at: Int
    private let text: RuleText
    private var rest: [FaultArguments.Argument]
    private var known: [String] = []

    init(_ arguments: FaultArguments, _ text: RuleText) {
        word = arguments.word
        at = arguments.at
        rest = arguments.arguments
        self.text = text
    }

    /// The argument of that name, else the first one without a name.
    /// - Parameter named: only by its name.
    package mutating func next(_ key: String, named: Bool = false) -> FaultArguments.Argument? {
        known.append(key)
        let index = rest.firstIndex { $0.key == key } ?? (named ? nil : rest.firstIndex { $0.key == nil })
        return index.map { rest.remove(at: $0) }
    }

    /// - Throws: when it is missing or no duration.
    package mutating func duration(_ key: String, named: Bool = false) throws(PlanError) -> UInt64? {
        guard let argument = next(key, named: named) else { return nil }
        guard let value = DurationText.parse(argument.value) else {
            throw text.error("'\(argument.value)' is not a duration such as 250ms, 2s or 1m", at: argument.at)
        }
        guard value <= ArgumentReader.longest else {
            throw text.error("'\(argument.value)' is longer than 24h", at: argument.at)
        }
        return value
    }

    package static let longest: UInt64 = 86_400_000_000_000

    package mutating func count(_ key: String, in range: ClosedRange<Int>, named: Bool = false) throws(PlanError)
        -> Int?
    {
        guard let argument = next(key, named: named) else { return nil }
        guard let value = Int(argument.value), range.contains(value) else {
            throw text.error(
                "'\(argument.value)' is not a number from \(range.lowerBound) to \(range.upperBound)", at: argument.at)
        }
        return value
    }

    /// One of several words.
    mutating func choice<Word: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Word.Type
    ) throws(PlanError) -> Word? where Word.RawValue == String {
        guard let argument = next(key) else { return nil }
        guard let word = Word(rawValue: argument.value) else {
            let words = Word.allCases.map(\.rawValue)
            let hint = NearestName.hint(argument.value, among: words)
            throw text.error(
                "'\(argument.value)' is none of \(words.joined(separator: ", "))\(hint)", at: argument.at)
        }
        return word
    }

    package func error(_ message: String) -> PlanError { text.error(message, at: at) }

    /// - Parameter what: what the action takes, as the end of a sentence.
    package func finish(_ what: String) throws(PlanError) {
        guard let left = rest.first else { return }
        let shown = left.key ?? left.value
        let hint = left.key.map { NearestName.hint($0, among: known) } ?? ""
        throw text.error("\(word) takes \(what), not '\(shown)'\(hint)", at: left.at)
    }
}
