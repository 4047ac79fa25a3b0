/// The digest of a run: equal for equal message sequences to the client in every chain of every session, whatever the
/// times. Ids are the recorded ones, so live ids play no part; keepalives are left out.
struct Digest {
    private var hash = StableHash()

    var text: String {
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The runs of one recorded session. Which client came first plays no part.
    mutating func add(_ number: Int, _ runs: [UInt64]) {
        hash.combine("session \(number)")
        for run in runs.sorted() { hash.combine(run) }
    }

    /// - Parameter timed: what was sent depended on the moment of a reconnect: only the chains of client requests count.
    static func value(of run: SessionRun, timed: Bool) -> UInt64 {
        var hash = StableHash()
        if let part = run.session.part { hash.combine("operation \(part)") }
        let script = run.script
        let counted = run.sent.indices.filter { i in
            let step = script.steps[Int(run.sent[i])]
            return !step.optional && step.role != .handshake && !(timed && step.groupIndex < 0)
        }
        // Chain by chain, each in its own order.
        let ordered = counted.sorted { a, b in
            (script.steps[Int(run.sent[a])].groupIndex, a) < (script.steps[Int(run.sent[b])].groupIndex, b)
        }
        var group: Int32?
        for i in ordered {
            let index = Int(run.sent[i])
            if group != script.steps[index].groupIndex {
                group = script.steps[index].groupIndex
                hash.combine(UInt64(bitPattern: Int64(script.steps[index].groupIndex)))
            }
            hash.combine(UInt64(script.meanings[index]))
        }
        return hash.value
    }

    /// How often each recorded exchange was played; their order is that of the client's connections.
    mutating func add(_ roster: Roster) {
        var counts: [Int: [Int]] = [:]
        for tapeRun in roster.tapeRuns {
            for (list, count) in tapeRun.exchanges { counts[list, default: []].append(count) }
        }
        for list in counts.keys.sorted() { hash.combine("exchange \(list) \(counts[list, default: []].sorted())") }
    }

    mutating func add(_ firings: [ReplayReport.Firing]) {
        let ordered = firings.map { firing in
            (firing.session, firing.attempt, firing.rule, firing.message ?? 0, firing.action)
        }
        for firing in ordered.sorted(by: <) {
            hash.combine("fault \(firing.0) \(firing.1) \(firing.2) \(firing.3) \(firing.4)")
        }
    }
}
