internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// The client has left its operation before the end. Where the recorded one did so, too, that was its cancel.
    func cancelOperation(at now: WireInstant) {
        guard session.isOperation else { return }
        let cancel = script.steps.indices.first { i in
            script.steps[i].role == .cancel && (state[i] == .waiting || state[i] == .deferred)
        }
        if let cancel {
            settle(cancel, at: now)
            giveUpRest { _ in true }
        } else if isWhole {
            // Only the end of the body was still to come, and clients do not wait for that.
            giveUpRest { script.steps[$0].role == nil }
        }
    }

    /// A client asks once more for what was said to its end: an answer has one each time.
    func endAgain() {
        let ends = script.steps.indices.filter { script.steps[$0].role == nil && state[$0] == .done }
        guard isPlayed, let first = ends.first else { return }
        for end in ends { state[end] = .waiting }
        sent.removeAll { ends.contains(Int($0)) }
        rewindPositions(to: first)
    }

    /// Whether the answer was open when the connection was lost by a rule or the network. A client that ends its request has
    /// no further use for the answer.
    var lostItsAnswer: Bool {
        guard let end = attempts.last?.ended else { return false }
        return end.by.hasPrefix("fault:") || end.by == "client" && end.how == "reset"
    }

    /// Whether all that the server still has to say is out; what a reconnect left out is not said any more.
    private var isWhole: Bool {
        guard link?.stepsUnderWay.isEmpty == true else { return false }
        return script.steps.indices.allSatisfy { i in
            script.steps[i].role == nil || script.steps[i].direction == .toServer || state[i] == .done
                || state[i] == .lost
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
