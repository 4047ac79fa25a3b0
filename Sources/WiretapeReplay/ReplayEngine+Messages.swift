internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
package import WiretapeWire

extension ReplayEngine {
    /// A whole WebSocket message of the client.
    package mutating func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        clock.happened(at: now)
        guard let peer = peers[c], !peer.isOver, let r = peer.run, runs[r].link?.connection == c,
            runs[r].link?.transport == .ws
        else { return }
        hear(payload, opcode, from: r, into: &out)
    }

    /// A payload of the client, over whatever carried it.
    mutating func hear(_ payload: Span<UInt8>, _ opcode: Opcode, from r: Int, into out: inout [ReplayAction]) {
        let generation = runs[r].generation
        var messages: [Message] = []
        runs[r].link?.codec.decode(payload, opcode, .toServer, into: &messages)
        runs[r].link?.watch.heard(at: now)
        for var message in messages {
            settle(&message, of: r)
            runs[r].heard(isKeepalive: message.role == .keepalive || message.role == .ack, at: now)
            guard runs[r].generation == generation, runs[r].link?.hears == true, runs[r].standing.failure == nil,
                !runs[r].standing.isStalled
            else { return }
            guard staysWithinLimits(message, of: r, into: &out) else { return }
            if runs[r].link?.memory != nil {
                guard runs[r].link?.memory?.receiving(message, at: now) == true else {
                    if let why = runs[r].link?.memory?.violation { return breakOff(r, why, into: &out) }
                    continue
                }
            }
            reassign(r, for: message, into: &out)
            guard arrives(message, of: r, into: &out) else { continue }
            hearNow(message, of: r, into: &out)
        }
        advance(r, into: &out)
    }

    /// The client broke the protocol's rules for going on without a handshake: its connection ends, and no other may.
    private mutating func breakOff(_ r: Int, _ why: String, into out: inout [ReplayAction]) {
        out.append(.log("wiretape: session \(runs[r].session.number): \(why)"))
        shut(r, .close(code: 1011, reason: ReplayEngine.closeReason(why)), into: &out)
        leave(r, by: .replay, how: .close(1011), .gone)
    }

    /// A message that nothing holds back any more.
    mutating func hearNow(_ message: Message, of r: Int, into out: inout [ReplayAction]) {
        let isCut = runs[r].link?.isCut ?? true
        if !isCut, !keepRules(message, of: r, into: &out) { return }
        let match = runs[r].match(message, at: now, options)
        switch match {
        case .matched(let step), .repeated(let step):
            spoke(message, as: step, of: r)
            if message.role == .handshake, runs[r].script.serverHandshake == nil { runs[r].connected(at: now) }
        case .reclaims(let step):
            spoke(message, as: step, of: r)
            reclaim(step, by: message, of: r, into: &out)
        case .aside:
            if message.role == .close, !isCut, writer(of: r).endsAtFarewell || !runs[r].script.farewellAnswers.isEmpty {
                sayFarewell(r, into: &out)
            }
            if message.role == .keepalive, !isCut, !runs[r].faults.isMuted(at: now),
                let pong = runs[r].link?.codec.pong(to: message)
            {
                pass(pong.payload, pong.opcode, to: r, into: &out)
            }
        case .unexpected, .disordered: diverge(on: message, of: r, match, into: &out)
        case .extra: refuse(message, of: r, into: &out)
        }
        guard message.role == .handshake, let link = runs[r].link, link.memory == nil else { return }
        runs[r].link?.memory = link.codec.memory
        if runs[r].link?.memory != nil { runs[r].link?.codec.leaveRepetitions() }
    }

    /// The client's farewell is answered at once with what the tape has after one: the client does not wait for more.
    private mutating func sayFarewell(_ r: Int, into out: inout [ReplayAction]) {
        runs[r].cursor.giveUpRepeats()
        runs[r].standing.departure = .inOrder
        guard let transport = runs[r].link?.transport, let ids = runs[r].link?.chains.ids else { return }
        var end = farewellEnd(of: r)
        for index in runs[r].script.farewellAnswers {
            if let message = runs[r].script.message(index) {
                var bytes: [UInt8] = []
                let opcode = writer(of: r).write(message, ids: ids, on: transport, into: &bytes)
                deliver(bytes, opcode, [message], to: r, into: &out)
            } else if let recorded = runs[r].script.ending(index) {
                if case .close(let code, let reason) = recorded {
                    end = .close(code: code, reason: reason)
                } else {
                    end = .fin
                }
            }
        }
        let isTold = shut(r, end, into: &out)
        leave(r, by: .client, how: .close(nil), isTold ? .gone : .over)
    }

    /// How the connection ends behind the client's farewell where the script does not say: as the recorded server ended it
    /// when the client had closed it at once, else as servers of the protocol do.
    private func farewellEnd(of r: Int) -> ConnectionEnd {
        switch runs[r].session.habits.closings.all.first?.answer {
        case .close(let code, let reason): return .close(code: code, reason: reason)
        case .disconnect, .reset: return .fin
        case nil:
            let frame = runs[r].session.codec.type.farewellEnd
            return .close(code: frame.code, reason: frame.reason)
        }
    }

    mutating func fail(_ r: Int, _ text: String, reason: String, into out: inout [ReplayAction]) {
        record.diverged(text)
        out.append(.log(text))
        runs[r].standing.failure = reason
        guard runs[r].isConnected else { return }
        let isTold = shut(r, .close(code: 1011, reason: ReplayEngine.closeReason(reason)), into: &out)
        leave(r, by: .replay, how: .close(1011), isTold ? .gone : .over)
    }
}
