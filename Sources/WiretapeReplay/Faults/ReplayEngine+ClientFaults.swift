internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to messages of the client. There is no server that would get copies or other content: those are refused
/// when a plan is loaded.
extension ReplayEngine {
    /// A message of the client that may not arrive now, or at all.
    /// - Returns: false when nothing more is to be done about it for now.
    mutating func arrives(_ message: Message, of session: SessionRun, into out: inout [ReplayAction]) -> Bool {
        let isOwn = message.role != .keepalive && message.role != .ack
        if isOwn { session.tally.clientMessage() }
        guard isOwn, !rules.isEmpty, session.link?.isCut == false else { return true }
        let moment = moment(of: session, message)
        let fate = rules.judge(message, ordinal: session.tally.clientMessages, moment)
        let until = (session.link?.faults.arrival(at: now) ?? now).advanced(by: fate?.delay ?? 0)
        if let pause = fate?.pause, pause > 0 {
            session.link?.faults.holdsIncoming(until: until.advanced(by: pause))
        }
        if until > now || session.link?.faults.delaysIncoming == true {
            session.link?.faults.arrivesLater(.init(message: message, fate: fate, until: until))
            session.noteChange()
            return false
        }
        guard let fate else { return true }
        take(message, fate, of: session, into: &out)
        return false
    }

    /// Messages of the client whose time has come.
    mutating func takeIncoming(of session: SessionRun, into out: inout [ReplayAction]) {
        let generation = session.generation
        while session.generation == generation, session.link?.faults.hasArrived(by: now) == true {
            guard let first = session.link?.faults.takeNext() else { return }
            session.noteChange()
            guard session.link?.hears == true else { continue }
            if let fate = first.fate {
                take(first.message, fate, of: session, into: &out)
            } else {
                hearNow(first.message, of: session, into: &out)
            }
        }
    }

    private mutating func take(
        _ message: Message, _ fate: MessageFate, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        for hit in fate.hits where hit != fate.end?.hit {
            record(hit, moment(of: session), cut: false)
            noteFault(hit, .said, on: session.link?.connection, into: &out)
        }
        for effect in fate.effectsBefore { apply(effect, on: session.link?.connection, of: session, into: &out) }
        var ending: Link.Ending?
        if let end = fate.end {
            ending = Link.Ending(
                verdict: end.verdict, hit: end.hit, effects: fate.effectsAfter, lingering: fate.lingering,
                silences: .toServer)
        } else if !fate.effectsAfter.isEmpty {
            ending = Link.Ending(
                verdict: nil, hit: fate.hits.last, effects: fate.effectsAfter, isToldAlready: true,
                silences: .toServer)
        }
        if fate.isLost || fate.end?.place == .before {
            session.link?.memory?.lost(message)
            spokeInVain(message, of: session)
            if let ending { return cut(session, ending, following: false, into: &out) }
            return session.drop(message, options)
        }
        hearNow(message, of: session, into: &out)
        guard let ending, session.isConnected else { return }
        cut(session, ending, following: true, into: &out)
    }
}

extension FaultPlan {
    /// Rules that a replay cannot carry out, each as an error at its word: what they would do reaches a server, and there is
    /// none.
    package var problemsInReplay: [PlanError] {
        rules.compactMap { rule in
            guard rule.selector.direction == .toServer else { return nil }
            guard let action = rule.actions.first(where: \.verdict.needsServer) else { return nil }
            return PlanError(
                "'\(action.text)' on messages to the server needs a server, and a replay has none",
                at: rule.subjectSource)
        }
    }
}
