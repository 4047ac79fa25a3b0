internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

// Which client messages are missing, of all that did not come: those that the client left out, and the one at which it stopped.
// What it could not say or did not get to for that is not its own fault: the report counts it as not reached.

extension ScriptCursor {
    /// - Parameters:
    ///   - isGone: the client left for good, so every awaited message counts as missing.
    ///   - endedOperations: the client ended the stream of its operations, so their cancellations do not count as missing.
    func neverCame(isGone: Bool, endedOperations: Bool) -> (missing: [Int], unreached: Int) {
        let open = state.indices.filter {
            if state[$0] == .forgiven || state[$0] == .unreached { return true }
            return isGone && isAwaited($0) && !(endedOperations && script.steps[$0].role == .cancel)
        }
        var missing: [Int] = []
        var hasStopped = false
        for step in open where isSayable(step) {
            let isLeftOut = isLeftOut(step)
            if isLeftOut || !hasStopped { missing.append(step) }
            hasStopped = hasStopped || !isLeftOut
        }
        // Something must stand for what never came.
        if missing.isEmpty, let first = open.first { missing = [first] }
        return (missing, open.count - missing.count)
    }

    /// Of awaited messages that did not come in time those that are the client's own fault. None when all of them stand
    /// behind one that was given up before, at which it has stopped.
    func atFault(of blockers: [Int]) -> [Int] {
        var hasStopped = stoppedAt != nil
        var found: [Int] = []
        for step in blockers where isSayable(step) {
            let isLeftOut = isLeftOut(step)
            if isLeftOut || !hasStopped { found.append(step) }
            hasStopped = hasStopped || !isLeftOut
        }
        return found.isEmpty && !hasStopped ? Array(blockers.prefix(1)) : found
    }

    /// The message that was given up and behind which the client has said nothing since.
    var stoppedAt: Int? {
        guard let lastStop, state[lastStop] == .forgiven, !isLeftOut(lastStop) else { return nil }
        return lastStop
    }

    /// Whether the client went on without it: it has said something that is recorded behind it, in the chain or of its own
    /// accord.
    func isLeftOut(_ step: Int) -> Bool {
        if step < lastSaid { return true }
        guard let group = script.steps[step].group else { return false }
        return script.toServer(in: group).last { state[$0] == .done }.map { $0 > step } ?? false
    }

    /// Whether the client could have said it: not so what belongs to a chain that was never opened.
    private func isSayable(_ step: Int) -> Bool {
        guard let group = script.steps[step].group, let request = script.groups[group].request else { return true }
        return request == step || state[request] == .done
    }
}
