internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    mutating func upgrade(
        _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let key = codec.type.sessionKey(StreamOpening(request: head))
        let session: SessionRun
        if let key {
            passOn(key, .upgrade, connection)
            guard let token = token(key, on: connection), !token.isDead else {
                if recordsAnew(key, connection, into: &out) { return }
                return refuse(connection, head, .unknownID, codec, into: &out)
            }
            session = token.session
            if remembers(key, of: session) { return reopen(connection, head, of: session, into: &out) }
            if let link = session.link {
                return refuse(connection, head, link.transport == .ws ? .conflict : .wrongTransport, codec, into: &out)
            }
            if session.generation > 0, !session.negotiation.awaitsUpgrade { session.assign(by: .token) }
        } else if let redirected = redirected(head, codec, connection) {
            session = redirected
        } else {
            guard let claimed = claim(for: head, codec, connection, into: &out) else { return }
            session = claimed
        }
        guard case .goesOn(let after) = open(.ws, .upgrade, connection, head, of: session, into: &out) else { return }
        let right = upgradeHeaders(head, of: session)
        let headers = after?.wrongSubprotocol == nil ? right : upgradeHeaders(head, of: session, after)
        let opening = StreamOpening(request: head, response: ResponseHead(status: 101, headers: right))
        let link = Link(.ws, on: connection, token: key, opening, codec, at: now)
        attach(link, connection, head, .upgrade, to: session, into: &out)
        out.append(acceptance(of: head, on: connection, for: session, headers: headers, after))
        if cutAfterOpening(after, of: session, into: &out) { return }
        advance(session, into: &out)
    }

    func upgradeHeaders(_ head: RequestHead, of session: SessionRun, _ fate: RequestFate? = nil) -> [HeaderField] {
        if let wrong = fate?.wrongSubprotocol {
            return (wrong.map { [HeaderField("Sec-WebSocket-Protocol", $0)] } ?? []) + HTTPAnswer.cors(head)
        }
        let recorded = session.recorded.subprotocol
        guard let chosen = session.recorded.codec.type.subprotocol(for: head, recorded: recorded),
            head.offeredSubprotocols.contains(chosen)
        else { return HTTPAnswer.cors(head) }
        return [HeaderField("Sec-WebSocket-Protocol", chosen)] + HTTPAnswer.cors(head)
    }

    /// A key that proves nothing.
    static func accept(_ fate: RequestFate?) -> String? {
        fate?.hasWrongAccept == true ? "d2lyZXRhcGU6IG5vdCB0aGUga2V5IQ==" : nil
    }

    // MARK: Going on without a handshake

    /// Whether the protocol remembers the connection that the token names: it may be opened again.
    private func remembers(_ key: String, of session: SessionRun) -> Bool {
        if let link = session.link { return link.token == key && link.memory != nil && !session.isEnding }
        guard let parked = session.parked else { return false }
        return parked.link.token == key && parked.link.memory != nil
    }

    /// The client goes on over a new connection: nothing of the session begins anew, and what the protocol says was not
    /// acknowledged is sent again first. A connection that is still open is replaced.
    private mutating func reopen(
        _ connection: ConnectionID, _ head: RequestHead, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        if let old = session.link?.connection {
            out.append(.disconnect(old))
            leave(session, by: .client, how: .replaced, .resumable)
            peers.end(old)
        }
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        let hit = judge(head, .upgrade, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after {
            return carryOut(hit, on: connection, head, .upgrade, of: session, into: &out)
        }
        guard var link = session.parked?.link else { return }
        session.forgetParked()
        // What the protocol sends again may be lost again until the kernel has it.
        let lost = link.underWay.steps + (session.trailing?.underWay.steps ?? [])
        let again = lost.filter { step in
            session.script.message(step).map { link.memory?.keeps($0) ?? false } ?? false
        }
        session.cursor.restore(lost.filter { !again.contains($0) })
        session.cursor.deliverAgain(again)
        link.underWay.handedOverAll()
        link.goesOut(on: connection)
        let first = link.memory?.reopened(at: now) ?? []
        session.addStep(
            .init(request: "upgrade", status: 101, transport: .ws, time: elapsed), failed: nil, at: now)
        session.assign(by: .token)
        session.goOn(link, at: now, options)
        session.link?.watch.excuse(at: now)
        session.connected(at: now)
        carries(connection, session, into: &out)
        remember(identity(head, connection), of: session)
        out.append(
            acceptance(of: head, on: connection, for: session, headers: upgradeHeaders(head, of: session, hit), hit))
        sendAgain(first, again, to: session, into: &out)
        if cutAfterOpening(hit, of: session, into: &out) { return }
        advance(session, into: &out)
    }

    /// The protocol's acknowledgement when it is due.
    mutating func acknowledgeMemory(_ session: SessionRun, into out: inout [ReplayAction]) {
        guard let due = session.link?.memory?.acknowledgeAt, due <= now, session.link?.isCut == false,
            let own = session.link?.memory?.acknowledgement()
        else { return }
        sendGenerated(own.payload, own.opcode, to: session, into: &out)
    }

    /// Sends the first payloads of a resumed connection: the protocol's own message (SignalR's Sequence), then the messages that the client has
    /// not acknowledged.
    /// - Parameter steps: the script steps of those messages.
    private mutating func sendAgain(
        _ payloads: [(payload: [UInt8], opcode: Opcode)], _ steps: [Int], to session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        guard let first = payloads.first else { return }
        var rest = payloads
        var delayed: WireInstant?
        let count = session.link?.memory?.protocolPrefixLength(of: first.payload) ?? 0
        let own = Array(first.payload[..<count])
        if let (message, fate) = judgeGenerated(own, first.opcode, of: session) {
            // A rule matched the protocol's own message, so it is sent separately.
            rest[0].payload.removeFirst(count)
            if rest[0].payload.isEmpty { rest.removeFirst() }
            delayed = carryOut(fate, own, first.opcode, message, to: session, into: &out)
        }
        if let delayed { session.link?.faults.holds(until: delayed) }
        for (i, payload) in rest.enumerated() where session.link?.isCut == false {
            if let delayed {
                session.link?.faults.later.park(payload.payload, payload.opcode, window: .max, until: delayed)
            } else {
                let carried = i == rest.count - 1 ? steps : []
                pass(payload.payload, payload.opcode, steps: carried, to: session, into: &out)
            }
        }
    }
}
