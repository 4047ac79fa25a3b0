internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// The request whose answer is streamed.
    mutating func stream(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        let transport = codec.type.transport(head)
        if let link = session.link {
            guard link.token == key else {
                guard codec.type.reservesStreams, ids[key]?.isUsed == false, runs.count < Claims.claimLimit else {
                    return refuse(connection, head, .unknownID, codec, into: &out)
                }
                let other = beginCompanion(session, head, on: connection)
                ids.move(key, to: other)
                return stream(connection, head, key, of: other, into: &out)
            }
            return refuse(
                connection, head, link.transport == transport ? .conflict : .wrongTransport, codec, into: &out)
        }
        guard case .goesOn(let after) = open(transport, .stream, connection, head, of: session, into: &out) else {
            return
        }
        let link = Link(transport, on: connection, token: key, StreamOpening(request: head), codec, at: now)
        attach(link, connection, head, .stream, to: session, into: &out)
        let recorded = session.recorded.transport == transport ? session.recorded.opening.response : nil
        let answer = withRecordedFields(of: recorded, codec.type.answer(.stream, to: head))
        out.append(.beginStream(connection, answer.readable(by: head)))
        if cutAfterOpening(after, of: session, into: &out) { return }
        hearEarly(of: session, into: &out)
        advance(session, into: &out)
    }

    /// The client opens another stream that it has reserved, while the first one is open. Each stream carries the client's requests on it.
    private mutating func beginCompanion(
        _ session: SessionRun, _ head: RequestHead, on connection: ConnectionID
    ) -> SessionRun {
        let identity = identity(head, connection)
        let claim = claims[session]
        let tapeRun = claims.open(for: identity, isClosed: true)
        let other = begin(claim.recorded, in: tapeRun, identity, name: claim.name, on: connection)
        other.startAsCompanion(of: session)
        for id in other.companions { runs[id.place].addCompanion(other.id) }
        return other
    }

    /// A request that the client makes on one of its streams is not due on its others.
    mutating func settleOnCompanions(
        _ message: Message, _ request: Int, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        guard message.role == .request, !session.companions.isEmpty else { return }
        let subscribes = session.recorded.codec.type.isSubscription(message)
        for id in session.companions {
            let companion = runs[id.place]
            // A run that has turned out to play another session has other steps.
            guard claims[companion].recorded == claims[session].recorded else { continue }
            let identity = messageIdentity(message, request, companion)
            companion.markRequestedElsewhere(request, message, identity: identity, subscribes: subscribes)
            advanceAlone(companion, into: &out)
        }
    }

    /// Messages of the client over HTTP. They are taken in the order of arrival, whatever connections bring them.
    mutating func send(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        if let parked = session.parked, parked.link.token == key, parked.link.transport == .lp, !parked.isOver {
            guard parked.end != nil else { return sendLate(connection, head, body, of: session, into: &out) }
            takeUp(session, .send)
        }
        let opcode = opcode(of: head)
        let payload = codec.type.payload(of: StreamOpening(request: head, requestBody: body))
        guard let link = session.link, link.token == key else {
            if let failure = session.standing.failure { return refuse(connection, head, 409, failure, into: &out) }
            guard !session.isConnected, ids[key]?.isUsed == false || codec.type.hasTrackingIDs,
                session.negotiation.mayWait(payload.count)
            else { return refuse(connection, head, .unknownID, codec, into: &out) }
            let hit = judge(head, .send, opensAttempt: false, of: session)
            if let hit, hit.place != .after {
                return carryOut(hit, on: connection, head, .send, of: session, into: &out)
            }
            session.wait(EarlySend(token: key, body: payload, opcode: opcode))
            out.append(.respond(connection, codec.type.answer(.sent, to: head).readable(by: head), thenClose: false))
            if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
            return
        }
        guard link.transport != .ws || codec.type.hasTrackingIDs else {
            return refuse(connection, head, .notAllowed, codec, into: &out)
        }
        let hit = judge(head, .send, opensAttempt: false, of: session)
        if let hit, hit.place != .after { return carryOut(hit, on: connection, head, .send, of: session, into: &out) }
        out.append(.respond(connection, codec.type.answer(.sent, to: head).readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
        hear(payload.span, opcode, from: session, into: &out)
    }

    /// The client's connection has ended, and it had sent this before it knew: a server takes it. It begins nothing: whether the client goes on
    /// with its connection or makes another one, its next poll or negotiation says.
    private mutating func sendLate(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        let hit = judge(head, .send, opensAttempt: false, of: session)
        if let hit, hit.place != .after { return carryOut(hit, on: connection, head, .send, of: session, into: &out) }
        out.append(.respond(connection, codec.type.answer(.sent, to: head).readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
        guard let parked = session.lendParked() else { return }
        let payload = codec.type.payload(of: StreamOpening(request: head, requestBody: body))
        hear(payload.span, opcode(of: head), from: session, into: &out)
        session.takeBack(parked)
    }

    /// Refuses a message that the client sends to an ended connection. If the recorded client sent the same message after the end, its step
    /// counts as received.
    mutating func sendToEnded(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        refuse(connection, head, .unknownID, codec, into: &out)
        guard session.attachEndedLink(key) else { return }
        let payload = codec.type.payload(of: StreamOpening(request: head, requestBody: body))
        var messages: [Message] = []
        session.link?.codec.decode(payload.span, opcode(of: head), .toServer, into: &messages)
        for var message in messages {
            settle(&message, of: session)
            guard let step = session.counterpart(of: message, options), session.script.steps[step].optional,
                session.cursor.state[step] == .waiting
            else { continue }
            session.accept(message, as: step, at: now, options)
            spoke(message, as: step, of: session, arrives: false)
        }
        session.detachEndedLink()
    }

    private func opcode(of head: RequestHead) -> Opcode {
        let type = head.headers.first("Content-Type") ?? ""
        return type.hasPrefix("application/octet-stream") ? .binary : .text
    }

    /// What the client sent before its connection was open.
    mutating func hearEarly(of session: SessionRun, into out: inout [ReplayAction]) {
        let early = session.takeEarly()
        for send in early where session.link?.token == send.token {
            hear(send.body.span, send.opcode, from: session, into: &out)
        }
    }
}
