internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
package import WiretapeWire

/// Ends that the client makes, and how its close frames are answered.
extension ReplayEngine {
    /// The client ended its side, or the connection is gone. May be told more than once.
    package mutating func clientClosed(
        _ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        guard let peer = peers[c] else { return }
        clock.happened(at: now)
        if case .closeFrame = how {} else { peers[c] = nil }
        if let carried = peer.carried {
            runs[carried].link?.polls.lost(c)
            runs[carried].parked?.link.polls.lost(c)
        }
        if let r = peer.trails, runs[r].trailing?.connection == c {
            peers[c]?.trails = nil
            runs[r].loseTrailing()
        }
        guard !peer.isOver, !peer.isAbandoned, let r = peer.run, runs[r].link?.connection == c else {
            return answerEnd(how, of: peer, on: c, into: &out)
        }
        recordCut(of: r)
        let fate = judgeClose(how, of: r, into: &out)
        let manner: Attempt.End.Manner
        var stay = Stay.resumable
        switch how {
        case .closeFrame(let code, let reason):
            manner = .close(code)
            answerClose(ClosingHandshake.Frame(code: code, reason: reason), fate, of: r, on: c, into: &out)
            peers[c]?.isOver = true
            runs[r].cursor.giveUpRepeats()
            runs[r].standing.departure = code == 1000 || code == 1001 ? .inOrder : .closed
            // Ended in order: nothing is kept for the client.
            if code == 1000, !runs[r].session.codec.type.hasTrackingIDs { stay = .gone }
        case .fin:
            manner = .fin
            out.append(.disconnect(c))
        case .rst: manner = .reset
        }
        if runs[r].link?.transport == .lp { stay = .unsettled }
        // The tape's last end was on its way: there is nothing to go on with.
        if runs[r].link?.memory != nil, runs[r].isEnding { stay = .gone }
        runs[r].cancelOperation(at: now)
        leave(r, by: .client, how: manner, stay)
        if let end = fate?.end, case .outage(let outage) = end.verdict { begin(outage, by: end.hit, into: &out) }
    }

    /// Asks the rules of the point `close` when the client ends its connection.
    private mutating func judgeClose(
        _ how: ClientEnd, of r: Int, into out: inout [ReplayAction]
    ) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        var code: UInt16?
        if case .closeFrame(let told, _) = how { code = told }
        let asked = moment(of: r)
        let fate = rules.judgeClose(by: .toServer, code: code, asked)
        for hit in fate?.hits ?? [] {
            record(hit, moment(of: r), cut: false)
            noteFault(hit, hit == fate?.end?.hit ? .end : .none, on: runs[r].link?.connection, into: &out)
        }
        for effect in (fate?.effectsBefore ?? []) + (fate?.effectsAfter ?? []) {
            apply(effect, on: nil, of: r, into: &out)
        }
        return fate
    }

    /// The end of a connection that is no session's any more.
    private func answerEnd(_ how: ClientEnd, of peer: Peer, on c: ConnectionID, into out: inout [ReplayAction]) {
        guard !peer.isOver || peer.isAbandoned else { return }
        if case .closeFrame(let code, let reason) = how {
            out.append(.closeFrame(c, code: code, reason: reason))
        } else if peer.isAbandoned {
            out.append(.disconnect(c))
        }
    }

    /// Answers the client's close frame: as rules want it, else as the tape or the protocol has it.
    private mutating func answerClose(
        _ frame: ClosingHandshake.Frame, _ fate: MessageFate?, of r: Int, on c: ConnectionID,
        into out: inout [ReplayAction]
    ) {
        if let fate, fate.delay > 0 { out.append(.hold(c, for: fate.delay)) }
        switch fate?.end?.verdict.kind {
        case .end(.reset): out.append(.reset(c))
        case .end(.fin): out.append(.disconnect(c))
        case .end(.close(let code, let reason)): out.append(.closeFrame(c, code: code, reason: reason))
        case .outage, .answer, .upgrade, .message, .connection, .session, .handshake, nil:
            guard fate?.isDropped != true else { return }
            switch closingAnswer(to: frame, of: r) {
            case .close(let code, let reason):
                // A tape that was written by hand may have a code that must not be on the wire.
                let told = code.flatMap { CloseFrame.maySend($0) ? $0 : nil }
                out.append(.closeFrame(c, code: told, reason: told == nil ? "" : ReplayEngine.closeReason(reason)))
            case .disconnect: out.append(.disconnect(c))
            case .reset: resetOnceRead(c, of: r, into: &out)
            }
        }
    }

    /// The recorded server's reset must not eat what it had said before.
    private mutating func resetOnceRead(_ c: ConnectionID, of r: Int, into out: inout [ReplayAction]) {
        let ticket = ticket()
        let ending = Link.Ending(verdict: .reset, hit: nil)
        let moment = moment(of: r)
        rules.add(.init(connection: c, ticket: ticket, ending: ending, moment: moment, run: r))
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    /// What the recorded server answered to such a close frame; else the end that it made after the client's farewell, when
    /// this client has said that, too; else what servers of the protocol answer.
    private func closingAnswer(to frame: ClosingHandshake.Frame, of r: Int) -> RecordedSession.Ending {
        let run = runs[r]
        if let recorded = run.session.habits.closings.answer(to: frame) { return recorded }
        if let farewell = run.script.farewell, run.cursor.state[farewell] == .done {
            for step in run.script.farewellAnswers where run.cursor.state[step] == .waiting {
                if let ending = run.script.ending(step) { return ending }
            }
        }
        let answer = run.session.codec.type.closingAnswer(to: frame)
        return .close(code: answer.code, reason: answer.reason)
    }
}
