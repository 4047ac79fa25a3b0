internal import WiretapeBytes

/// The digest of a run: equal for equal message sequences to the client in every chain of every session, whatever the
/// times. Ids are the recorded ones, so live ids play no part; keepalives are left out.
package struct Digest {

    package init() {}

    private var hash = StableHash()

    package var text: String {
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The runs of one recorded session. Which client came first plays no part.
    package mutating func add(_ number: Int, _ runs: [UInt64]) {
        hash.combine("session \(number)")
        for run in runs.sorted() { hash.combine(run) }
    }

    /// How often each of equal recorded requests was played, by their list; their order is that of the client's connections.
    package mutating func add(exchanges counts: [Int: [Int]]) {
        for list in counts.keys.sorted() { hash.combine("exchange \(list) \(counts[list, default: []].sorted())") }
    }

    package mutating func add(_ firings: [ReplayReport.Firing]) {
        let ordered = firings.map { firing in
            (firing.session, firing.attempt, firing.rule, firing.message ?? 0, firing.action)
        }
        for firing in ordered.sorted(by: <) {
            hash.combine("fault \(firing.0) \(firing.1) \(firing.2) \(firing.3) \(firing.4)")
        }
    }
}
