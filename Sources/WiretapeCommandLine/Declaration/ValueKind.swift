internal import WiretapeBytes

/// What a value may be. Checked while parsing, so that a command never sees a value of another kind.
package enum ValueKind: Sendable {
    case text
    /// A file's name; `-` stands for standard input or output where the option says so.
    case file
    case directory
    /// One of these words.
    case choice([String])
    /// A whole number in this range.
    case count(ClosedRange<UInt64>)
    /// `250ms`, `2s`, `1m`.
    case duration
    /// Anything that the check lets pass; what it throws is a sentence of its own. `suggestions` are offered by completions.
    case checked(suggestions: [String], @Sendable (String) throws -> Void)

    /// Words for completions.
    package var suggestions: [String] {
        switch self {
        case .choice(let words), .checked(let words, _): words
        case .text, .file, .directory, .count, .duration: []
        }
    }

    /// Why `value` is not of this kind, in a sentence without its full stop; nil when it is.
    package func complaint(about value: String) -> String? {
        switch self {
        case .text: return nil
        case .file, .directory: return value.isEmpty ? "'' is no file name" : nil
        case .choice(let words):
            if words.contains(value) { return nil }
            return "'\(value)' is none of \(words.joined(separator: ", "))" + NearestName.hint(value, among: words)
        case .count(let range):
            if let n = UInt64(value), range.contains(n) { return nil }
            let limit =
                range.upperBound == .max ? "from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            return "'\(value)' is no whole number (\(limit))"
        case .duration:
            return DurationText.parse(value) == nil ? "'\(value)' is no duration; write 250ms, 2s or 1m" : nil
        case .checked(_, let check):
            do {
                try check(value)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }
}
