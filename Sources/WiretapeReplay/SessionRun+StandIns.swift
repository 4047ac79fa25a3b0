internal import WiretapeBytes
internal import WiretapeProtocol

// Where a divergence does not end the session, a client message that differs counts as the recorded one that it is most like. It
// only stands in: a message that is equal takes that place back when it comes, and the answer with it.

extension SessionRun {
    /// A client message in the place of a recorded one from which it differs.
    struct StandIn: Sendable {
        var message: Message
        var key: UInt64
        var had = Had.nothing
    }

    /// How much of an answer it had by the time at which it lost a place.
    enum Had: Int, Comparable, Sendable {
        case nothing, some, all

        static func < (a: Had, b: Had) -> Bool { a.rawValue < b.rawValue }
    }

    /// Takes a message that differs as that step, until an equal one comes.
    func accept(_ message: Message, insteadOf step: Int, at now: WireInstant, _ options: ReplayOptions) {
        let key = Script.key(message, at: place(of: message), ignore: options.ignore)
        accept(message, as: step, at: now, options)
        if message.role != .handshake { standIns[step] = StandIn(message: message, key: key) }
    }

    /// Whether something else has the step's place on this connection.
    func isStoodFor(_ step: Int) -> Bool {
        state[step] == .done && standIns[step] != nil && matchedIn[step] == UInt16(clamping: generation)
    }

    /// The step for which an equal message stood in on an earlier connection: the client repeats it.
    func stoodFor(_ key: UInt64) -> Int? {
        guard generation > 1 else { return nil }
        return standIns.filter { step, standIn in
            standIn.key == key && state[step] == .done && matchedIn[step] < UInt16(clamping: generation)
        }.keys.min()
    }

    /// The message takes its recorded place from what stood there. Its chain is played to it from the beginning; what the
    /// other was told of it counts for nothing.
    /// - Returns: what stood there, and how much of the chain it had been told.
    func reclaim(
        _ step: Int, for message: Message, at now: WireInstant, _ options: ReplayOptions
    ) -> (message: Message, had: Had)? {
        guard let standIn = standIns.removeValue(forKey: step) else { return nil }
        var had = standIn.had
        if let group = script.steps[step].group, script.groups[group].request == step {
            let answers = script.toClient(in: group)
            if answers.contains(where: { state[$0] == .done }) { had = max(had, .some) }
            if let last = answers.last, state[last] == .done { had = .all }
            release(standIn.message, from: step)
            begin(group, again: answers)
        }
        bind(message, to: step)
        settle(step, at: now)
        anchorLate(gate: step, at: now)
        opened(step, at: now, options)
        return (standIn.message, had)
    }

    /// The ids of a message that lost its place name nothing on the tape any more.
    private func release(_ message: Message, from step: Int) {
        guard let recorded = script.message(step) else { return }
        for (from, to) in zip([recorded.chain].compactMap(\.self), [message.chain].compactMap(\.self)) {
            link?.chains[to] = nil
            link?.ids.unbind(from, from: to.id)
        }
        for (from, to) in zip(recorded.opens, message.opens) {
            link?.chains[to] = nil
            link?.ids.unbind(from, from: to.id)
        }
    }

    /// As if nothing but its request had been said in the chain. What a cancellation of the other had taken away is there
    /// again.
    private func begin(_ group: Int, again answers: StepList) {
        let told = Set(answers.filter { state[$0] == .done || state[$0] == .lost })
        for answer in told { state[answer] = .waiting }
        sent.removeAll { told.contains(Int($0)) }
        for mine in script.toServer(in: group) where mine != script.groups[group].request {
            if state[mine] == .done { tally.unmatch() }
            guard state[mine] == .done || state[mine] == .lost else { continue }
            state[mine] = .waiting
            matchedIn[mine] = 0
            standIns[mine] = nil
        }
        openGroups.removeAll { $0 == group }
        groupHead[group] = nil
        equalHead = [:]
        if let request = script.groups[group].request { rewindPositions(to: request) }
    }

    /// A message that had something of an answer already takes that step's place, whose chain nobody waits for then.
    func use(up step: Int, for message: Message, _ had: Had, at now: WireInstant, _ options: ReplayOptions) {
        let key = Script.key(message, at: place(of: message), ignore: options.ignore)
        standIns[step] = StandIn(message: message, key: key, had: had)
        settle(step, at: now)
        guard let group = script.steps[step].group, script.groups[group].request == step else { return }
        for other in script.toClient(in: group) where state[other] == .waiting || state[other] == .dormant {
            state[other] = .lost
        }
        for other in script.toServer(in: group) where isAwaited(other) { state[other] = .lost }
        aside.removeAll { state[$0] == .lost }
        skipSettled()
    }
}
