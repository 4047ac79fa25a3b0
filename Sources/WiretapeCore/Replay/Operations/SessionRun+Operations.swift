extension SessionRun {
    /// The client has left its operation before the end. Where the recorded one did so, too, that was its cancel.
    func cancelOperation(at now: WireInstant) {
        let cancel = script.steps.indices.first { i in
            script.steps[i].role == .cancel && (state[i] == .waiting || state[i] == .deferred)
        }
        guard session.isOperation else { return }
        if let cancel {
            settle(cancel, at: now)
            giveUpRest { _ in true }
        } else if isWhole {
            // Only the end of the body was still to come, and clients do not wait for that.
            giveUpRest { script.steps[$0].role == nil }
        }
    }

    /// Whether all that the server has to say is out.
    private var isWhole: Bool {
        guard link?.stepsUnderWay.isEmpty == true else { return false }
        return script.steps.indices.allSatisfy { i in
            script.steps[i].role == nil || script.steps[i].direction == .toServer || state[i] == .done
        }
    }

    /// Another client has taken the chain that this request opens.
    func giveAway(_ request: Int) {
        let group = script.steps[request].group
        giveUpRest { script.steps[$0].group == group }
    }

    private func giveUpRest(_ isMeant: (Int) -> Bool) {
        for step in state.indices where state[step] == .waiting && isMeant(step) { state[step] = .lost }
        skipSettled()
    }
}
