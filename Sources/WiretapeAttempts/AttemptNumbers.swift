internal import WiretapeBytes

/// Which attempt of a report the attempts of a session have become: rules count requests as they come, before it is known
/// that some of them are steps of one attempt.
package struct AttemptNumbers {

    package init() {}

    private struct Key: Hashable {
        var session: Int
        var run: Int
    }

    private var numbers: [Key: [Int]] = [:]
    /// Several conversations go by that number: each counts its own.
    private var shared: Set<Key> = []

    package mutating func add(_ attempts: [Attempt], of session: Int, run: Int) {
        let key = Key(session: session, run: run)
        if numbers.updateValue(Attempt.joining(attempts).numbers, forKey: key) != nil { shared.insert(key) }
    }

    /// An attempt's number as the report counts it.
    /// - Parameter attempt: as it was counted when it came.
    package func reported(_ attempt: Int, of session: Int, run: Int) -> Int {
        let key = Key(session: session, run: run)
        guard !shared.contains(key), let known = numbers[key], known.indices.contains(attempt - 1) else {
            return attempt
        }
        return known[attempt - 1]
    }
}
