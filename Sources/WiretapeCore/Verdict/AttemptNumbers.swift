/// Which attempt of a report the attempts of a session have become: rules count requests as they come, before it is known
/// that some of them are steps of one attempt.
struct AttemptNumbers {
    private struct Key: Hashable {
        var session: Int
        var run: Int
    }

    private var numbers: [Key: [Int]] = [:]
    /// Several conversations go by that number: each counts its own.
    private var shared: Set<Key> = []

    mutating func add(_ attempts: [Attempt], of session: Int, run: Int) {
        let key = Key(session: session, run: run)
        if numbers.updateValue(Attempt.joining(attempts).numbers, forKey: key) != nil { shared.insert(key) }
    }

    /// The firing with the attempt as the report counts it.
    func renumbered(_ firing: ReplayReport.Firing) -> ReplayReport.Firing {
        let key = Key(session: firing.session, run: firing.run)
        guard !shared.contains(key), let known = numbers[key], known.indices.contains(firing.attempt - 1) else {
            return firing
        }
        var firing = firing
        firing.attempt = known[firing.attempt - 1]
        return firing
    }
}
