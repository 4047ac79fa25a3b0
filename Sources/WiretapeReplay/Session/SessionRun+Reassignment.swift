internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// The same client and connection in another recorded session, which nobody has begun: nil when something was said
    /// that is not the same there. Allowed are the handshake, and pushes that the other session begins with as well.
    func reassigned(as recorded: RecordedSession, _ script: Script, _ options: ReplayOptions) -> SessionRun? {
        let hasHandshake = self.script.clientHandshake.map { cursor.state[$0] == .done } ?? false
        guard !standing.isOver, generation <= 1, parked == nil,
            tally.matched == (hasHandshake ? 1 : 0), recorded.refusal == nil, !(link?.isCut ?? false),
            link.map({ recorded.writer.transports.contains($0.transport) }) ?? true, let places = places(in: script)
        else { return nil }
        var recorded = recorded
        recorded.writer.configure(options.codecSettings)
        let other = SessionRun(recorded, script: script, id: id, run: run, at: claimedAt)
        other.client = client
        other.log = log
        other.negotiation = negotiation
        other.negotiation.redirects = 0
        if var link {
            let ready = link.readyAt
            link.reassign(places)
            other.attach(link, at: link.openedAt, options)
            other.link?.readyAt = ready
            other.link?.repeats = link.repeats
            other.keepServerID(of: self)
        }
        other.negotiation.awaitsUpgrade = negotiation.awaitsUpgrade
        other.allowance = allowance
        other.tally = SessionTally(reassign: tally)
        other.cursor.adopt(cursor, places)
        other.faults.adopt(
            faults, places.filter { cursor.state[$0.key] == .done }.map { (theirs: $0.key, mine: $0.value) })
        return other
    }

    /// The id that the client was greeted with stands for that of this session from here on.
    private func keepServerID(of earlier: SessionRun) {
        guard let mine = greetingChain, let theirs = earlier.greetingChain, let live = earlier.link?.chains.live(theirs)
        else { return }
        link?.chains.bind(mine, to: live, at: nil)
    }

    /// What has happened here, step by step, in the other script; nil when that does not begin with it.
    private func places(in other: Script) -> [Int: Int]? {
        var places: [Int: Int] = [:]
        if let mine = script.clientHandshake, cursor.state[mine] == .done {
            guard let theirs = other.clientHandshake else { return nil }
            places[mine] = theirs
        }
        if let mine = script.serverHandshake, let theirs = other.serverHandshake { places[mine] = theirs }
        var next = other.steps.indices.lazy
            .filter { other.steps[$0].direction == .toClient && $0 != other.serverHandshake }.makeIterator()
        for step in cursor.sent.map(Int.init) where step != script.serverHandshake {
            guard let theirs = next.next(), script.steps[step].role == .push, script.steps[step].group == nil,
                let here = script.message(step), let there = other.message(theirs), here.matchKey == there.matchKey
            else { return nil }
            places[step] = theirs
        }
        return places
    }
}

extension Link {
    /// Its steps are those of another script.
    fileprivate mutating func reassign(_ places: [Int: Int]) {
        repeats.renumber { places[$0] }
        underWay.renumber { places[$0] }
    }
}
