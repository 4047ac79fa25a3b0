internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
package import WiretapeWire

extension ReplayEngine {
    /// A whole WebSocket message of the client.
    package mutating func message(
        _ connection: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        clock.happened(at: now)
        guard let peer = peers[connection], !peer.isOver, let session = peer.session,
            session.link?.connection == connection,
            session.link?.transport == .ws
        else { return }
        hear(payload, opcode, from: session, into: &out)
    }

    /// A payload of the client, over whatever carried it.
    mutating func hear(
        _ payload: Span<UInt8>, _ opcode: Opcode, from session: SessionRun, into out: inout [ReplayAction]
    ) {
        let generation = session.generation
        var messages: [Message] = []
        session.link?.codec.decode(payload, opcode, .toServer, into: &messages)
        session.link?.watch.heard(at: now)
        causes.spoke(claims[session].recorded, in: claims[session].tapeRun)
        for var message in messages {
            settle(&message, of: session)
            session.heard(isKeepalive: message.role == .keepalive || message.role == .ack, at: now)
            guard session.generation == generation, session.link?.hears == true, session.standing.failure == nil,
                !session.standing.isStalled
            else { return }
            guard staysWithinLimits(message, of: session, into: &out) else { return }
            if session.link?.memory != nil {
                guard session.link?.memory?.receiving(message, at: now) == true else {
                    if let why = session.link?.memory?.violation { return breakOff(session, why, into: &out) }
                    continue
                }
            }
            reassign(session, for: message, into: &out)
            guard arrives(message, of: session, into: &out) else { continue }
            hearNow(message, of: session, into: &out)
        }
        advance(session, into: &out)
    }

    /// The client broke the protocol's rules for going on without a handshake: its connection ends, and no other may.
    private mutating func breakOff(_ session: SessionRun, _ why: String, into out: inout [ReplayAction]) {
        out.append(.log("wiretape: session \(session.recorded.number): \(why)"))
        shut(session, .close(code: 1011, reason: ReplayEngine.closeReason(why)), into: &out)
        leave(session, by: .replay, how: .close(1011), .gone)
    }

    /// A message that nothing holds back any more.
    mutating func hearNow(_ message: Message, of session: SessionRun, into out: inout [ReplayAction]) {
        let isCut = session.link?.isCut ?? true
        if !isCut, !keepRules(message, of: session, into: &out) { return }
        let match = session.match(message, at: now, options)
        switch match {
        case .matched(let step), .repeated(let step):
            spoke(message, as: step, of: session)
            settleOnCompanions(message, step, of: session, into: &out)
            if message.role == .handshake, session.script.serverHandshake == nil { session.connected(at: now) }
        case .reclaims(let step):
            spoke(message, as: step, of: session)
            reclaim(step, by: message, of: session, into: &out)
        case .aside:
            if message.role == .close { session.saidGoodbye(by: .client, at: now) }
            if message.role == .close, !isCut,
                writer(of: session).endsAtFarewell || !session.script.farewellAnswers.isEmpty
            {
                sayFarewell(session, into: &out)
            }
            if message.role == .keepalive, !isCut, !session.faults.isMuted(at: now),
                let pong = session.link?.codec.pong(to: message)
            {
                sendGenerated(pong.payload, pong.opcode, to: session, into: &out)
            }
        case .unexpected, .disordered: diverge(on: message, of: session, match, into: &out)
        case .extra: refuse(message, of: session, into: &out)
        }
        guard message.role == .handshake, let link = session.link, link.memory == nil else { return }
        session.link?.memory = link.codec.memory
        if session.link?.memory != nil { session.link?.codec.leaveRepetitions() }
    }

    /// The client's farewell is answered at once with what the tape has after one: the client does not wait for more.
    private mutating func sayFarewell(_ session: SessionRun, into out: inout [ReplayAction]) {
        session.cursor.giveUpRepeats()
        session.departs(.inOrder)
        guard let transport = session.link?.transport, let ids = session.link?.chains.ids else { return }
        var end = farewellEnd(of: session)
        for index in session.script.farewellAnswers {
            if let message = session.script.message(index) {
                var bytes: [UInt8] = []
                let opcode = writer(of: session).write(message, ids: ids, on: transport, into: &bytes)
                deliver(bytes, opcode, [message], to: session, into: &out)
            } else if let recorded = session.script.ending(index) {
                if case .close(let code, let reason) = recorded {
                    end = .close(code: code, reason: reason)
                } else {
                    end = .fin
                }
            }
        }
        let isTold = shut(session, end, into: &out)
        leave(session, by: .client, how: .close(nil), isTold ? .gone : .over)
    }

    /// How the connection ends behind the client's farewell where the script does not say: as the recorded server ended it
    /// when the client had closed it at once, else as servers of the protocol do.
    private func farewellEnd(of session: SessionRun) -> ConnectionEnd {
        switch session.recorded.habits.closings.all.first?.answer {
        case .close(let code, let reason): return .close(code: code, reason: reason)
        case .disconnect, .reset: return .fin
        case nil:
            let frame = session.recorded.codec.type.farewellEnd
            return .close(code: frame.code, reason: frame.reason)
        }
    }

    mutating func fail(_ session: SessionRun, _ text: String, reason: String, into out: inout [ReplayAction]) {
        record.diverged(text)
        out.append(.log(text))
        session.fail(reason)
        guard session.isConnected else { return }
        let isTold = shut(session, .close(code: 1011, reason: ReplayEngine.closeReason(reason)), into: &out)
        leave(session, by: .replay, how: .close(1011), isTold ? .gone : .over)
    }
}

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
                pause: end.pause, silences: .toServer)
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
