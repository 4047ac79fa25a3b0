/// Finds what was probably meant.
package enum Nearest {
    /// The candidate with the fewest edits, when they are few for its length; the first of equals.
    package static func name(_ word: String, among candidates: [String]) -> String? {
        let found = candidates.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
        if let (edits, name) = found, edits <= max(1, min(word.count, name.count) / 2) { return name }
        guard word.count >= 3 else { return nil }
        let begun = candidates.filter { $0.hasPrefix(word) }
        return begun.count == 1 ? begun[0] : nil
    }

    /// `; did you mean 'x'?`, or nothing.
    package static func hint(_ word: String, among candidates: [String]) -> String {
        name(word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Edits from one word to the other; two swapped neighbours count as one.
    package static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a.utf8.prefix(64))
        let b = Array(b.utf8.prefix(64))
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}
