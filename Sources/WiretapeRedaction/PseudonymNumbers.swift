/// Numbers for the pseudonyms of several tapes that become one, each of which was redacted by itself: whether `td_3` of one and
/// `td_3` of another are the same secret cannot be known, so they stay apart.
///
/// Memory: ``Pseudonym/largest`` numbers.
package struct PseudonymNumbers: Sendable {
    private var used: Set<Int> = []
    /// Pseudonyms that got another number, and those for which there was none: they are ``Pseudonym/overflow``.
    package private(set) var changed = 0
    package private(set) var unnumbered = 0

    package init() {}

    /// Takes the numbers of the next tape in.
    /// - Returns: new ones for those that an earlier tape has. With as many digits as the old ones where there are such, so that
    ///   what counts bytes still counts right.
    package mutating func add(_ numbers: Set<Int>) -> [Int: Int] {
        let taken = used.union(numbers)
        var new: [Int: Int] = [:]
        var given: Set<Int> = []
        /// Where to look on, for each count of digits.
        var next: [Int: Int] = [:]
        func free(from first: Int, through last: Int, digits: Int) -> Int? {
            var number = next[digits] ?? first
            while number <= last, taken.contains(number) || given.contains(number) { number += 1 }
            next[digits] = number
            return number <= last ? number : nil
        }
        for number in numbers.intersection(used).sorted() {
            let digits = String(number).utf8.count
            let last = (0..<digits).reduce(1) { power, _ in power * 10 } - 1
            guard
                let other = free(from: (last + 1) / 10, through: last, digits: digits)
                    ?? free(from: 1, through: Pseudonym.largest, digits: 0)
            else {
                new[number] = Pseudonym.overflow
                unnumbered += 1
                continue
            }
            given.insert(other)
            new[number] = other
            changed += 1
        }
        used = taken.union(given)
        return new
    }
}
