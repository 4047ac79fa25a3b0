internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// Faults that last.
extension ReplayEngine {
    /// - Parameter connection: the connection that is meant; nil between two polls: the next one is.
    mutating func apply(
        _ effect: FaultEffect, on connection: ConnectionID?, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        let site = carryOut(effect, .connection, on: connection, of: session, into: &out)
        if site.awaitsPoll, session.link?.transport == .lp { session.link?.faults.awaitsPoll(effect) }
    }

    /// What concerns the connection alone.
    mutating func apply(_ effect: FaultEffect, on connection: ConnectionID, into out: inout [ReplayAction]) {
        carryOut(effect, .connection, on: connection, of: nil, into: &out)
    }

    /// Ends what has lasted long enough.
    mutating func finishLasting(into out: inout [ReplayAction]) {
        for one in rules.takeOver(by: now) {
            let connection = one.place
            switch one.change {
            case .stall:
                out.append(.stall(connection, reads: false, writes: false))
                rules.isAnswered(on: connection)
                if let session = peers[connection]?.session, session.link?.faults.isSilent == true {
                    isHeardAgain(session)
                }
            case .mute: out.append(.mute(connection, false))
            case .pace: out.append(.pace(connection, .free))
            }
        }
    }

    /// The client's time begins anew: it could not be heard.
    mutating func isHeardAgain(_ session: SessionRun) {
        session.link?.faults.isHeardAgain()
        session.tally.progressed(at: now)
        session.link?.hearing.beginsAgain(at: now)
        session.link?.watch.excuse(at: now)
        // An end that is on its way has its own time.
        if session.link?.isCut == false { session.wakeAt = now }
        session.noteChange()
    }

    /// The server forgets the session: its ids are unknown from now on. A connection that is open goes on; polling has none.
    mutating func expireSession(_ session: SessionRun, into out: inout [ReplayAction]) {
        if let link = session.link, let connection = link.connection ?? link.polls.carrier {
            noteExpired(link.opening.request, connection)
        }
        forgetNames(of: session)
        guard let link = session.link, link.transport == .lp else { return }
        let type = session.recorded.codec.type
        if let head = link.polls.waiting {
            finishPoll(of: session, with: type.answer(.unknownID, to: head), into: &out)
        }
        leave(session, by: .fault("expire"), how: .expired, .gone)
    }

    /// What names the session names nothing any more, and nothing of it can be resumed.
    mutating func forgetNames(of session: SessionRun) {
        ids.retireAll(of: session)
        forgetParked(of: session)
        session.link?.memory = nil
    }

    /// What the connection of a session has under way.
    mutating func tendFaults(_ session: SessionRun, into out: inout [ReplayAction]) {
        let now = now
        guard session.link?.faults.nextWake.map({ $0 <= now }) ?? false else { return }
        sendPassed(of: session, into: &out)
        for one in session.link?.faults.later.takeReleased(at: now) ?? [] {
            pass(one.bytes, one.opcode, frameSize: one.frameSize, to: session, into: &out)
        }
        takeIncoming(of: session, into: &out)
        answerPoll(of: session, into: &out)
    }

    /// Sends a message that replay generates (keepalive, pong, Ack, Sequence), after applying the rules that name its type.
    /// - Parameter expectsResponse: whether the client must respond.
    mutating func sendGenerated(
        _ payload: [UInt8], _ opcode: Opcode, expectsResponse: Bool = false, to session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        if let (message, fate) = judgeGenerated(payload, opcode, of: session) {
            carryOut(fate, payload, opcode, message, expectsResponse: expectsResponse, to: session, into: &out)
        } else {
            if expectsResponse { session.link?.watch.asked(at: now) }
            pass(payload, opcode, to: session, into: &out)
        }
    }

    /// Sends a generated message and applies the actions of the rules that matched it.
    /// - Returns: when it leaves, if a rule delays it.
    @discardableResult
    mutating func carryOut(
        _ fate: MessageFate, _ payload: [UInt8], _ opcode: Opcode, _ message: Message, expectsResponse: Bool = false,
        to session: SessionRun, into out: inout [ReplayAction]
    ) -> WireInstant? {
        for hit in fate.hits where hit != fate.end?.hit {
            record(hit, moment(of: session), cut: false)
            noteFault(hit, .none, on: session.link?.connection, into: &out)
        }
        carryOut(fate, .generated(payload, opcode, message, expectsResponse: expectsResponse), of: session, into: &out)
        return fate.delay > 0 ? now.advanced(by: fate.delay) : nil
    }

    /// Decodes a generated message and asks the rules that name its type. Nil if no rule matches.
    mutating func judgeGenerated(
        _ payload: [UInt8], _ opcode: Opcode, of session: SessionRun
    ) -> (Message, MessageFate)? {
        guard !rules.isEmpty else { return nil }
        var codec = writer(of: session).withoutHistory()
        var messages: [Message] = []
        codec.decode(payload.span, opcode, .toClient, into: &messages)
        guard let message = messages.first else { return nil }
        let ordinal = session.link?.faults.nextGeneratedOrdinal() ?? 1
        let moment = moment(of: session, message)
        return rules.judge(message, ordinal: ordinal, moment).map { (message, $0) }
    }
}
