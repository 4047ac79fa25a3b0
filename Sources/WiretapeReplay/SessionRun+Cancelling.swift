internal import WiretapeBytes
internal import WiretapeProtocol

// A client may end a chain early where its protocol allows that: what is left of the chain is dropped.

extension SessionRun {
    /// The live client ended the chain of that place. What the server would have said until the recorded client ended it is
    /// lost; all that is left, when that did not.
    func cancelled(_ place: Script.ChainPlace, at cancel: Int? = nil) {
        guard place.group >= 0 else { return }
        for step in script.toClient(in: place.group) where step < cancel ?? .max {
            guard [.waiting, .dormant, .abandoned].contains(state[step]) else { continue }
            state[step] = .lost
        }
        guard cancel == nil else { return skipSettled() }
        for step in script.toServer(in: place.group) where state[step] == .waiting || state[step] == .deferred {
            state[step] = .lost
        }
        aside.removeAll { state[$0] == .lost }
        skipSettled()
    }

    /// All that is left belongs to chains which the client has ended itself: one that has left is owed nothing of them.
    var owesOnlyCancelled: Bool {
        guard firstAwaited == script.steps.count else { return false }
        var ended: Set<Int> = []
        for cancel in script.cancels(before: script.steps.count) where state[cancel] == .done {
            if let group = script.steps[cancel].group { ended.insert(group) }
        }
        return !ended.isEmpty
            && script.steps.indices.allSatisfy { step in
                ![.waiting, .dormant, .abandoned].contains(state[step])
                    || script.steps[step].group.map(ended.contains) ?? false
            }
    }
}
