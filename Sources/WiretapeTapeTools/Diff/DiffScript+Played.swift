internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension DiffScript {
    /// The session of a tape beside a run of it, which is told in as many parts as it had connections: what rules did, and
    /// what is said again after a connection was lost, is taken out of both.
    ///
    /// Something goes only where one side has more of it than the other: a message that a rule met and that came all the
    /// same stays. Of equal messages it does not matter which one goes.
    static func played(
        _ session: RecordedSession, by parts: [RecordedSession], _ run: PlayedRun, ignore: [IgnoreRule]
    ) -> (tape: DiffScript, run: DiffScript) {
        var tape = DiffScript(session, ignore: ignore)
        let scripts = parts.map { DiffScript($0, ignore: ignore) }
        var balance: [UInt64: Int] = [:]
        for step in tape.steps { balance[step.key, default: 0] += 1 }
        for step in scripts.flatMap(\.steps) { balance[step.key, default: 0] -= 1 }
        var joined = DiffScript()
        for (i, script) in scripts.enumerated() {
            joined.append(script, isFirst: i == 0, run, &balance)
        }
        let mayLose = parts.contains { run.mayLose($0) }
        tape.leaveOut(run, joined, isInterrupted: parts.count > 1, mayLose: mayLose, &balance)
        return (tape, joined)
    }

    /// - Parameter balance: how many more of a message the tape has than the run; below 0 the run has more.
    private mutating func append(
        _ part: DiffScript, isFirst: Bool, _ run: PlayedRun, _ balance: inout [UInt64: Int]
    ) {
        var groups: [Int: Int] = [:]
        for (i, step) in part.steps.enumerated() {
            let isTooMany = balance[step.key, default: 0] < 0
            let isMeddledWith =
                run.events.contains(step.event) || step.group.map { part.isMeddledWith($0, run) } == true
            let earlier = isFirst ? nil : steps.lastIndex(where: { $0.key == step.key })
            let opens = step.group.map { part.groups[$0].request == i } ?? false
            if isTooMany, isMeddledWith || earlier != nil {
                balance[step.key, default: 0] += 1
                // What continues a chain that is opened again continues the first one.
                if opens, let group = step.group { groups[group] = earlier.flatMap { steps[$0].group } }
                continue
            }
            var step = step
            if let group = step.group {
                let own = groups[group] ?? self.groups.count
                groups[group] = own
                if own == self.groups.count { self.groups.append(Group(request: opens ? steps.count : nil)) }
                if self.groups[own].request != steps.count { self.groups[own].rest.append(steps.count) }
                step.group = own
            }
            steps.append(step)
        }
    }

    /// Whether a rule met the message that opened the chain.
    private func isMeddledWith(_ group: Int, _ run: PlayedRun) -> Bool {
        groups[group].request.map { run.events.contains(steps[$0].event) } ?? false
    }

    /// Takes out what the run lacks because of a rule: what it met, what hangs on that, and what was still owed on a
    /// connection that was lost and was not asked for again.
    private mutating func leaveOut(
        _ run: PlayedRun, _ joined: DiffScript, isInterrupted: Bool, mayLose: Bool, _ balance: inout [UInt64: Int]
    ) {
        var met: Set<UInt64> = []
        for group in joined.groups.indices where joined.isMeddledWith(group, run) {
            if let request = joined.groups[group].request { met.insert(joined.steps[request].key) }
        }
        let all = self
        remove { i in
            let step = all.steps[i]
            guard balance[step.key, default: 0] > 0 else { return false }
            let request = step.group.flatMap { all.groups[$0].request }.map { all.steps[$0] }
            let isRest = request.map { $0.event != step.event } ?? false
            let isOwed = isRest && step.direction == .toClient
            let isMet = run.lines.contains(step.line) || isRest && run.lines.contains(request?.line ?? 0)
            let hangsOnMet = request.map({ met.contains($0.key) }) ?? false
            guard isMet || isOwed && (isInterrupted || hangsOnMet) || mayLose && step.direction == .toClient
            else { return false }
            balance[step.key, default: 0] -= 1
            return true
        }
    }

    /// Takes steps out of the script, and of their chains.
    private mutating func remove(_ isLeftOut: (Int) -> Bool) {
        var places: [Int: Int] = [:]
        var kept: [Step] = []
        for i in steps.indices where !isLeftOut(i) {
            places[i] = kept.count
            kept.append(steps[i])
        }
        steps = kept
        for group in groups.indices {
            groups[group].request = groups[group].request.flatMap { places[$0] }
            groups[group].rest = groups[group].rest.compactMap { places[$0] }
        }
    }
}
