/// Attempts that came to the same in a row, at least four of them: a text tells them in one line.
package struct AttemptFolds {
    private static let least = 4
    /// Of the places of the attempts; none overlaps another.
    package let ranges: [Range<Int>]

    package init(_ attempts: [Attempt]) {
        var ranges: [Range<Int>] = []
        var start = 0
        for i in attempts.indices where i + 1 == attempts.count || !Self.alike(attempts[i], attempts[i + 1]) {
            if i + 1 - start >= Self.least { ranges.append(start..<i + 1) }
            start = i + 1
        }
        self.ranges = ranges
    }

    private static func alike(_ one: Attempt, _ other: Attempt) -> Bool {
        one.outcome == other.outcome && one.stepsText == other.stepsText && one.ended?.text == other.ended?.text
    }
}

extension Attempt {
    /// `negotiate 200, upgrade 101`.
    package var stepsText: String {
        steps.map { "\($0.request) \($0.status.map(String.init) ?? "cut")" }.joined(separator: ", ")
    }
}
