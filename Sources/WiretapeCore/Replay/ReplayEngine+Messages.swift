extension ReplayEngine {
    /// A whole WebSocket message of the client.
    package mutating func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        happened(at: now)
        guard let peer = peers[c], !peer.isOver, let r = peer.run, runs[r].link?.id == c else { return }
        var messages: [Message] = []
        runs[r].link?.codec.decode(payload, opcode, .toServer, into: &messages)
        for message in messages {
            guard runs[r].link?.id == c, runs[r].link?.hears == true, runs[r].failure == nil else { return }
            take(message, of: r, into: &out)
        }
        advance(r, into: &out)
    }

    private mutating func take(_ message: Message, of r: Int, into out: inout [ReplayAction]) {
        let isOwn = message.role != .keepalive && message.role != .ack
        if isOwn { runs[r].clientMessages += 1 }
        let isCut = runs[r].link?.isCut ?? true
        let hit =
            faults.rules.isEmpty || !isOwn || isCut
            ? nil : faultEngine.message(message, ordinal: runs[r].clientMessages, moment(of: r))
        if let hit, hit.place != .after {
            let ending = Link.Ending(verdict: hit.action.verdict, hit: hit, silences: .toServer)
            return cut(r, ending, following: false, into: &out)
        }
        switch runs[r].match(message, at: now, options) {
        case .matched, .repeated:
            if message.role == .handshake, runs[r].script.serverHandshake == nil { runs[r].connected() }
        case .aside:
            if message.role == .close, !isCut { sayFarewell(r, into: &out) }
        case .unexpected: diverge(on: message, of: r, into: &out)
        }
        guard let hit, runs[r].link != nil else { return }
        let ending = Link.Ending(verdict: hit.action.verdict, hit: hit, silences: .toServer)
        cut(r, ending, following: true, into: &out)
    }

    /// The client's farewell is answered at once with what the tape has after one: the client does not wait for more.
    private mutating func sayFarewell(_ r: Int, into out: inout [ReplayAction]) {
        guard let link = runs[r].link else { return }
        var ending = RecordedSession.Ending.close(code: 1000, reason: "")
        for index in runs[r].script.farewellAnswers {
            let step = runs[r].script.steps[index]
            if let message = step.message {
                var bytes: [UInt8] = []
                let opcode = runs[r].session.writer.write(message, ids: link.ids, on: .ws, into: &bytes)
                out.append(.send(link.id, opcode, bytes, ticket: ticket()))
            } else if let recorded = step.ending {
                ending = recorded
            }
        }
        switch ending {
        case .close(let code, let reason): out.append(.closeFrame(link.id, code: code, reason: reason))
        case .disconnect, .reset: out.append(.disconnect(link.id))
        }
        leave(r, by: "client", how: "close")
    }

    /// A client message without a counterpart: the protocol's own refusal for its id, then the end of the session.
    private mutating func diverge(on message: Message, of r: Int, into out: inout [ReplayAction]) {
        let text = DivergenceText.unexpected(
            message, in: runs[r], tape: tapeName, after: now.since(runs[r].claimedAt))
        runs[r].unexpected.append(message.title)
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        if let refusal = runs[r].session.writer.refusal(of: message, reason: reason), let link = runs[r].link {
            out.append(.send(link.id, refusal.opcode, refusal.payload, ticket: ticket()))
        }
        fail(r, text, reason: reason, into: &out)
    }

    /// Patience ran out.
    mutating func giveUp(_ r: Int, into out: inout [ReplayAction]) {
        let blockers = runs[r].blockers
        guard let first = blockers.first else { return }
        let text = DivergenceText.missing(runs[r], first, tape: tapeName, patience: options.patience)
        runs[r].missing = blockers.map { DivergenceText.describe(runs[r], $0, tape: tapeName) }
        let reason = "wiretape: still waiting for \(DivergenceText.describe(runs[r], first, tape: tapeName))"
        fail(r, text, reason: reason, into: &out)
    }

    private mutating func fail(_ r: Int, _ text: String, reason: String, into out: inout [ReplayAction]) {
        divergences.append(text)
        out.append(.log(text))
        runs[r].failure = reason
        guard let link = runs[r].link else { return }
        out.append(.closeFrame(link.id, code: 1011, reason: ReplayEngine.closeReason(reason)))
        leave(r, by: "replay", how: "close 1011")
    }
}
