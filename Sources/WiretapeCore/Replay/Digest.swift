/// The digest of a run: equal for equal message sequences to the client in every chain of every session, whatever the
/// times. Ids are the recorded ones, so live ids play no part; keepalives are left out.
struct Digest {
    private var hash = StableHash()

    var text: String {
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func add(_ run: SessionRun) {
        hash.combine("session \(run.session.number) run \(run.run)")
        var chains: [Int: StableHash] = [:]
        for index in run.sent where !run.script.steps[index].optional && run.script.steps[index].role != .handshake {
            let step = run.script.steps[index]
            var chain = chains[step.group ?? -1] ?? StableHash()
            if let message = step.message { chain.combine(message.matchKey) }
            switch step.ending {
            case nil: break
            case .close(let code, let reason)?: chain.combine("close \(code ?? 0) \(reason)")
            case .disconnect?: chain.combine("disconnect")
            case .reset?: chain.combine("reset")
            }
            chains[step.group ?? -1] = chain
        }
        for group in chains.keys.sorted() {
            hash.combine(UInt64(bitPattern: Int64(group)))
            hash.combine(chains[group]?.value ?? 0)
        }
    }

    mutating func add(_ firings: [ReplayReport.Firing]) {
        let ordered = firings.map { firing in
            (firing.session, firing.run, firing.attempt, firing.rule, firing.message ?? 0, firing.action)
        }
        for firing in ordered.sorted(by: <) {
            hash.combine("fault \(firing.0) \(firing.1) \(firing.2) \(firing.3) \(firing.4) \(firing.5)")
        }
    }
}
