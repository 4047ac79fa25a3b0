internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// What the tape of the run tells of rules and sessions.
extension ReplayEngine {
    /// A rule has done something on a connection.
    /// - Parameter step: of the script of the session, to which it was done.
    mutating func noteFault(
        _ hit: FaultHit?, step: Int? = nil, of session: SessionRun? = nil, line: Int? = nil, _ about: FaultNote.About,
        on connection: ConnectionID?, into out: inout [ReplayAction]
    ) {
        guard tellsTape, let hit else { return }
        let met = line.map { UInt64(clamping: $0) } ?? self.line(step, of: session)
        out.append(.note(connection ?? 0, .fault(FaultNote(hit, line: met, about))))
    }

    /// A message that a rule changed, doubled or put in has been given to what carries it. A poll's body is not said before
    /// the poll is answered.
    mutating func noteSaid(_ hits: [FaultHit], step: Int?, of session: SessionRun, into out: inout [ReplayAction]) {
        guard tellsTape, let link = session.link else { return }
        let notes = hits.map { FaultNote($0, line: line(step, of: session), .said) }
        guard link.transport == .lp || link.gathered != nil else {
            return out += notes.map { .note(link.connection ?? 0, .fault($0)) }
        }
        session.link?.faults.note(notes)
    }

    /// What carries the messages of a poll, or of a single answer, has been said.
    mutating func noteAnswered(on connection: ConnectionID, of session: SessionRun, into out: inout [ReplayAction]) {
        guard session.link?.faults.hasNotes == true, let notes = session.link?.faults.takeNotes() else { return }
        out += notes.map { .note(connection, .fault($0)) }
    }

    /// The connection carries the session from now on.
    mutating func carries(_ connection: ConnectionID, _ session: SessionRun, into out: inout [ReplayAction]) {
        peers.carries(connection, session)
        guard tellsTape, peers.tell(connection, session) else { return }
        let policy: String? =
            switch options.onReconnect {
            case .resume, .rewind, .restart, .next, .refuse: nil
            case .lose(let count): "lose:\(count)"
            case .live: "live"
            }
        out.append(
            .note(
                connection,
                .carries(
                    session: session.recorded.number, run: session.run,
                    policy: session.attempts.count > 1 ? policy : nil)))
    }

    private func line(_ step: Int?, of session: SessionRun?) -> UInt64? {
        guard let step, let session, session.script.steps.indices.contains(step) else { return nil }
        let line = session.script.steps[step].line
        return line > 0 ? UInt64(line) : nil
    }
}
