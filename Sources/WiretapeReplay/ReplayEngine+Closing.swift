internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
package import WiretapeWire

/// Ends that the client makes, and how its close frames are answered.
extension ReplayEngine {
    /// The client sent a close frame on a connection that a rule stalls. The frame is read when the rule ends, but the client left now.
    package mutating func clientLeftSilently(_ connection: ConnectionID, _ how: ClientEnd, at now: WireInstant) {
        clock.happened(at: now)
        guard let session = peers[connection]?.session, session.link?.connection == connection,
            session.link?.faults.isSilent == true
        else { return }
        session.clientLeft(with: Attempt.End.Manner(how), at: self.now)
    }

    /// The client ended its side, or the connection is gone. May be told more than once.
    package mutating func clientClosed(
        _ connection: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        guard let peer = peers[connection] else { return }
        if let since = peer.halfClosedAt {
            clock.reach(now)
            return wasGone(connection, since: since, inOrder: how == .fin, into: &out)
        }
        clock.happened(at: now)
        giveUpNegotiation(on: connection, how)
        if how == .fin, halfCloses(connection, peer) { return }
        switch how {
        case .closeFrame: break
        case .fin, .rst:
            peers.forget(connection)
            giveUpExchanges(on: connection, at: self.now)
        }
        if let carried = peer.carried {
            carried.pollsLost(connection)
        }
        if let session = peer.trails, session.trailing?.connection == connection {
            peers.endTrail(connection)
            session.loseTrailing()
        }
        guard !peer.isOver, !peer.isAbandoned, let session = peer.session, session.link?.connection == connection else {
            return answerEnd(how, of: peer, on: connection, into: &out)
        }
        recordCut(of: session)
        let fate = judgeClose(how, of: session, into: &out)
        var stay = Stay.resumable
        switch how {
        case .closeFrame(let code, let reason):
            answerClose(
                ClosingHandshake.Frame(code: code, reason: reason), fate, of: session, on: connection, into: &out)
            peers.end(connection)
            session.cursor.giveUpRepeats()
            // A client that closes a muted connection has given it up, whatever the close code.
            let isInOrder = (code == 1000 || code == 1001) && !session.faults.isMuted(at: self.now)
            session.departs(isInOrder ? .inOrder : session.faults.isMuted(at: self.now) ? .lost : .closed)
            // Ended in order: nothing is kept for the client.
            if code == 1000, !session.recorded.codec.type.hasTrackingIDs { stay = .gone }
        case .fin: out.append(.disconnect(connection))
        case .rst: break
        }
        if session.link?.transport == .lp { stay = .unsettled }
        // The tape's last end was on its way: there is nothing to go on with.
        if session.link?.memory != nil, session.isEnding { stay = .gone }
        session.cancelOperation(at: now)
        leave(session, by: .client, how: Attempt.End.Manner(how), stay)
        if let end = fate?.end, case .outage(let outage) = end.verdict { begin(outage, by: end.hit, into: &out) }
    }

    /// A client that leaves before its negotiation has a response has ended the attempt. Its next negotiation is another attempt at the session.
    private mutating func giveUpNegotiation(on connection: ConnectionID, _ how: ClientEnd) {
        guard let session = rules.giveUpResponse(on: connection, at: now), !session.isConnected else { return }
        session.awaitUpgrade(false)
        session.ended(by: .client, how: Attempt.End.Manner(how), at: now, origin: start)
    }

    /// The end of a connection that is no session's any more.
    private func answerEnd(
        _ how: ClientEnd, of peer: Peers.Peer, on connection: ConnectionID, into out: inout [ReplayAction]
    ) {
        guard !peer.isOver || peer.isAbandoned else { return }
        if case .closeFrame(let code, let reason) = how {
            out.append(.closeFrame(connection, code: code, reason: reason))
        } else if how == .fin || peer.isAbandoned {
            // Nothing is due that the client could wait for.
            out.append(.disconnect(connection))
        }
    }

    /// Answers the client's close frame: as rules want it, else as the tape or the protocol has it.
    private mutating func answerClose(
        _ frame: ClosingHandshake.Frame, _ fate: MessageFate?, of session: SessionRun, on connection: ConnectionID,
        into out: inout [ReplayAction]
    ) {
        if let fate, fate.delay > 0 { out.append(.hold(connection, for: fate.delay)) }
        switch fate?.end?.verdict.kind {
        case .end(.reset): out.append(.reset(connection))
        case .end(.fin): out.append(.disconnect(connection))
        case .end(.close(let code, let reason)): out.append(.closeFrame(connection, code: code, reason: reason))
        case .outage, .answer, .upgrade, .message, .connection, .session, .handshake, nil:
            guard fate?.isDropped != true else { return }
            switch closingAnswer(to: frame, of: session) {
            case .close(let code, let reason):
                // A tape that was written by hand may have a code that must not be on the wire.
                let told = code.flatMap { CloseFrame.maySend($0) ? $0 : nil }
                out.append(
                    .closeFrame(connection, code: told, reason: told == nil ? "" : ReplayEngine.closeReason(reason)))
            case .disconnect: out.append(.disconnect(connection))
            case .reset: resetOnceRead(connection, of: session, into: &out)
            }
        }
    }

    /// The recorded server's reset must not eat what it had said before.
    private mutating func resetOnceRead(
        _ connection: ConnectionID, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        let ticket = ticket()
        let ending = Link.Ending(verdict: .reset, hit: nil)
        let moment = moment(of: session)
        rules.add(.init(connection: connection, ticket: ticket, ending: ending, moment: moment, session: session))
        out.append(.awaitAcknowledged(connection, ticket: ticket))
    }

    /// What the recorded server answered to such a close frame; else the end that it made after the client's farewell, when
    /// this client has said that, too; else what servers of the protocol answer.
    private func closingAnswer(to frame: ClosingHandshake.Frame, of session: SessionRun) -> RecordedSession.Ending {
        if let recorded = session.recorded.habits.closings.answer(to: frame) { return recorded }
        if let farewell = session.script.farewell, session.cursor.state[farewell] == .done {
            for step in session.script.farewellAnswers where session.cursor.state[step] == .waiting {
                if let ending = session.script.ending(step) { return ending }
            }
        }
        let answer = session.recorded.codec.type.closingAnswer(to: frame)
        return .close(code: answer.code, reason: answer.reason)
    }
}
