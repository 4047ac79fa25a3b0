/// Finds what was meant: the nearest of several names by edit distance.
package enum NearestName {
    /// The candidate with the smallest distance to `word`, without regard to case; the earlier one among equals. Nil when
    /// none is near enough to be meant: at most a third of the longer name, and at least 1, may differ.
    package static func find(_ word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars.prefix(longest))
        var best: (name: String, distance: Int)?
        for candidate in candidates where candidate != word {
            let other = Array(candidate.lowercased().unicodeScalars.prefix(longest))
            let limit = max(1, max(letters.count, other.count) / 3)
            let distance = distance(letters, other)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// `; did you mean 'X'?` or nothing.
    package static func hint(_ word: String, among candidates: some Sequence<String>) -> String {
        find(word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Longer names are compared by their beginning: the time taken grows with the square of the length.
    private static let longest = 128

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment) that turn `a` into `b`.
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, before[j - 2] + 1) }
                row.append(cost)
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}
