extension SessionRun {
    /// The client has left its operation before the end. Where the recorded one did so, too, that was its cancel.
    func cancelOperation(at now: WireInstant) {
        let cancel = script.steps.indices.first { i in
            script.steps[i].role == .cancel && (state[i] == .waiting || state[i] == .deferred)
        }
        guard session.isOperation, let cancel else { return }
        settle(cancel, at: now)
        giveUpRest { _ in true }
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
