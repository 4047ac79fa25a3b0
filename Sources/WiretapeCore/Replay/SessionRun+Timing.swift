extension SessionRun {
    /// When the step is due: the recorded gap, divided by the speed, after the last thing (in actual time) that it waited
    /// for. While the session had no connection its time stood still.
    mutating func due(_ index: Int, _ options: ReplayOptions) -> WireInstant {
        let step = script.steps[index]
        advanceAnchors(to: index)
        var anchor = serverAnchor
        if step.role == .reply {
            for passed in sent.suffix(64) where passed < index { anchor = anchor.later(self.anchor(passed)) }
            for gate in replyGates(index) { anchor = anchor.later(self.anchor(gate)) }
        } else {
            anchor = anchor.later(gateAnchor)
            if let group = step.group {
                for gate in script.groups[group].toServer where gate < index && script.steps[gate].role == .cancel {
                    anchor = anchor.later(self.anchor(gate))
                }
            }
        }
        if let ready = link?.readyAt { anchor.at = max(anchor.at, ready) }
        let due = anchor.at.advanced(by: scaled(from: anchor.recorded, to: step.time, options.speed))
        return max(due, quietTime(before: step, options))
    }

    /// An ending of the server waits, while requests of an earlier connection may still be repeated, until the client has
    /// been quiet for `grace`.
    private func quietTime(before step: Script.Step, _ options: ReplayOptions) -> WireInstant {
        guard step.ending != nil || step.role == .close, generation > 1, state.contains(.abandoned), let link else {
            return .zero
        }
        return link.lastHeard.advanced(by: options.grace)
    }

    private func anchor(_ step: Int) -> Anchor { Anchor(at: doneAt[step], recorded: script.steps[step].time) }

    private func replyGates(_ index: Int) -> [Int] {
        let group = script.steps[index].group.map { script.groups[$0] }
        let request = group?.request ?? index
        return (group?.toServer.prefix { $0 < index } ?? []) + script.answers(between: request, and: index)
    }

    /// Takes in what stands before the step: server messages that are out, and gates once all of them are matched.
    private mutating func advanceAnchors(to index: Int) {
        while anchoredSteps < head, script.toClient[anchoredSteps] < index {
            let step = script.toClient[anchoredSteps]
            if state[step] == .done { serverAnchor = serverAnchor.later(anchor(step)) }
            anchoredSteps += 1
        }
        guard script.steps[index].role != .reply else { return }
        while anchoredGates < firstGate, script.gates[anchoredGates] < index {
            gateAnchor = gateAnchor.later(anchor(script.gates[anchoredGates]))
            anchoredGates += 1
        }
    }

    /// A recorded gap at the speed of the replay, in nanoseconds.
    func scaled(from earlier: UInt64, to later: UInt64, _ speed: ReplayOptions.Speed) -> UInt64 {
        guard later > earlier, case .factor(let factor) = speed else { return 0 }
        let gap = Double(later - earlier) / factor
        return gap < 9e18 ? UInt64(gap) : 9_000_000_000_000_000_000
    }
}
