internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// When the step is due: the recorded gap, divided by the speed, after the last thing (in actual time) that it waited
    /// for. While the session had no connection its time stood still, except under `live`.
    func due(_ index: Int, _ options: ReplayOptions) -> WireInstant {
        let step = script.steps[index]
        advanceAnchors(to: index)
        var anchor = anchors.server
        if step.role == .reply {
            for passed in sent.suffix(64) where passed < index { anchor = anchor.later(self.anchor(Int(passed))) }
            if let group = step.group {
                for gate in script.toServer(in: group) {
                    guard gate < index else { break }
                    anchor = anchor.later(self.anchor(gate))
                }
            }
            let request = step.group.flatMap { script.groups[$0].request } ?? index
            for gate in script.answers(between: request, and: index) { anchor = anchor.later(self.anchor(gate)) }
        } else {
            anchor = anchor.later(anchors.gate)
            if step.isEnd {
                for cancel in script.cancels(before: index) { anchor = anchor.later(self.anchor(cancel)) }
            } else if let group = step.group {
                for gate in script.toServer(in: group) {
                    guard gate < index else { break }
                    if script.steps[gate].role == .cancel { anchor = anchor.later(self.anchor(gate)) }
                }
            }
        }
        if options.onReconnect != .live, let ready = link?.readyAt { anchor.at = max(anchor.at, ready) }
        return anchor.at.advanced(by: scaled(from: anchor.recorded, to: step.time, options))
    }

    private func anchor(_ step: Int) -> Anchor { Anchor(at: doneAt[step], recorded: script.steps[step].time) }

    /// Takes in what stands before the step: server messages that are out, and gates once all of them are matched.
    private func advanceAnchors(to index: Int) {
        anchors.takeServer(before: min(head, index)) { step in
            let isOut = script.steps[step].direction == .toClient && (state[step] == .done || state[step] == .lost)
            return isOut ? anchor(step) : nil
        }
        guard script.steps[index].role != .reply else { return }
        anchors.takeGates(before: min(firstGate, index)) { script.steps[$0].isGate ? anchor($0) : nil }
    }

    /// A client message that what stands behind it had stopped waiting for. An end waits for it all the same.
    func anchorLate(gate step: Int, at now: WireInstant) {
        guard script.steps[step].isGate else { return }
        anchors.late(gate: step, Anchor(at: now, recorded: script.steps[step].time))
    }

    func scaled(from earlier: UInt64, to later: UInt64, _ options: ReplayOptions) -> UInt64 {
        options.scaled(from: earlier, to: later)
    }
}

extension ReplayOptions {
    /// A recorded gap as it is played: at most `--idle-cap`, divided by the speed, in nanoseconds of the client's time.
    func scaled(from earlier: UInt64, to later: UInt64) -> UInt64 {
        guard later > earlier, case .factor(let factor) = speed else { return 0 }
        let gap = Double(min(later - earlier, idleCap ?? .max)) * timeScale / factor
        return gap < 9e18 ? UInt64(gap) : 9_000_000_000_000_000_000
    }
}
