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
}
