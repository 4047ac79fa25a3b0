internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// What the tape of the run tells of rules and sessions.
extension ReplayEngine {
    /// A rule has done something on a connection.
    /// - Parameter step: of the script of `r`, to which it was done.
    mutating func noteFault(
        _ hit: FaultHit?, step: Int? = nil, of r: Int? = nil, line: Int? = nil, _ about: FaultNote.About,
        on c: ConnectionID?, into out: inout [ReplayAction]
    ) {
        guard tellsTape, let hit else { return }
        let met = line.map { UInt64(clamping: $0) } ?? self.line(step, of: r)
        out.append(.note(c ?? 0, .fault(FaultNote(hit, line: met, about))))
    }

    /// A message that a rule changed, doubled or put in has been given to what carries it. A poll's body is not said before
    /// the poll is answered.
    mutating func noteSaid(_ hits: [FaultHit], step: Int?, of r: Int, into out: inout [ReplayAction]) {
        guard tellsTape, let link = runs[r].link else { return }
        let notes = hits.map { FaultNote($0, line: line(step, of: r), .said) }
        guard link.transport == .lp || link.gathered != nil else {
            return out += notes.map { .note(link.connection ?? 0, .fault($0)) }
        }
        runs[r].link?.faults.notes += notes
    }

    /// What carries the messages of a poll, or of a single answer, has been said.
    mutating func noteAnswered(on c: ConnectionID, of r: Int, into out: inout [ReplayAction]) {
        guard let notes = runs[r].link?.faults.notes, !notes.isEmpty else { return }
        runs[r].link?.faults.notes = []
        out += notes.map { .note(c, .fault($0)) }
    }

    /// The connection carries the session from now on.
    mutating func carries(_ c: ConnectionID, _ r: Int, into out: inout [ReplayAction]) {
        peers[c]?.run = r
        guard tellsTape, peers[c]?.told != r else { return }
        peers[c]?.told = r
        let policy: String? =
            switch options.onReconnect {
            case .resume, .rewind, .restart, .next, .refuse: nil
            case .lose(let count): "lose:\(count)"
            case .live: "live"
            }
        let session = runs[r].session.number
        out.append(
            .note(c, .carries(session: session, run: runs[r].run, policy: runs[r].attempts.count > 1 ? policy : nil)))
    }

    private func line(_ step: Int?, of r: Int?) -> UInt64? {
        guard let step, let r, runs[r].script.steps.indices.contains(step) else { return nil }
        let line = runs[r].script.steps[step].line
        return line > 0 ? UInt64(line) : nil
    }
}
