internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    mutating func upgrade(
        _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let key = codec.type.sessionKey(StreamOpening(request: head))
        let r: Int
        if let key {
            passOn(key, .upgrade, c)
            guard let token = token(key, on: c), !token.isDead else {
                if recordsAnew(key, c, into: &out) { return }
                return refuse(c, head, .unknownID, codec, into: &out)
            }
            r = token.run
            if remembers(key, of: r) { return reopen(c, head, of: r, into: &out) }
            if let link = runs[r].link {
                return refuse(c, head, link.transport == .ws ? .conflict : .wrongTransport, codec, into: &out)
            }
            if runs[r].generation > 0, !runs[r].negotiation.awaitsUpgrade { runs[r].client.assigned = .token }
        } else if let redirected = redirected(head, codec, c) {
            r = redirected
        } else {
            guard let claimed = claim(for: head, codec, c, into: &out) else { return }
            r = claimed
        }
        guard case .goesOn(let after) = open(.ws, .upgrade, c, head, of: r, into: &out) else { return }
        let right = upgradeHeaders(head, of: r)
        let headers = after?.wrongSubprotocol == nil ? right : upgradeHeaders(head, of: r, after)
        let opening = StreamOpening(request: head, response: ResponseHead(status: 101, headers: right))
        let link = Link(.ws, on: c, token: key, opening, codec, at: now)
        attach(link, c, head, .upgrade, to: r, into: &out)
        out.append(acceptance(of: head, on: c, for: r, headers: headers, after))
        if cutAfterOpening(after, of: r, into: &out) { return }
        advance(r, into: &out)
    }

    func upgradeHeaders(_ head: RequestHead, of r: Int, _ fate: RequestFate? = nil) -> [HeaderField] {
        if let wrong = fate?.wrongSubprotocol {
            return (wrong.map { [HeaderField("Sec-WebSocket-Protocol", $0)] } ?? []) + HTTPAnswer.cors(head)
        }
        let recorded = runs[r].session.subprotocol
        guard let chosen = runs[r].session.codec.type.subprotocol(for: head, recorded: recorded),
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
    private func remembers(_ key: String, of r: Int) -> Bool {
        if let link = runs[r].link { return link.token == key && link.memory != nil && !runs[r].isEnding }
        guard let parked = runs[r].parked else { return false }
        return parked.link.token == key && parked.link.memory != nil
    }

    /// The client goes on over a new connection: nothing of the session begins anew, and what the protocol says was not
    /// acknowledged is sent again first. A connection that is still open is replaced.
    private mutating func reopen(
        _ c: ConnectionID, _ head: RequestHead, of r: Int, into out: inout [ReplayAction]
    ) {
        if let old = runs[r].link?.connection {
            out.append(.disconnect(old))
            leave(r, by: .client, how: .replaced, .resumable)
            peers[old]?.isOver = true
        }
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        let hit = judge(head, .upgrade, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .upgrade, of: r, into: &out) }
        guard var link = runs[r].parked?.link else { return }
        runs[r].parked = nil
        // What the protocol sends again may be lost again until the kernel has it.
        let lost = link.underWay.steps + (runs[r].trailing?.underWay.steps ?? [])
        let again = lost.filter { step in
            runs[r].script.message(step).map { link.memory?.keeps($0) ?? false } ?? false
        }
        runs[r].cursor.restore(lost.filter { !again.contains($0) })
        runs[r].cursor.deliverAgain(again)
        link.underWay.handedOverAll()
        link.connection = c
        let first = link.memory?.reopened(at: now) ?? []
        runs[r].addStep(
            .init(request: "upgrade", status: 101, transport: .ws, time: elapsed), failed: nil, at: now)
        runs[r].client.assigned = .token
        runs[r].goOn(link, at: now, options)
        runs[r].link?.watch.excuse(at: now)
        runs[r].connected(at: now)
        carries(c, r, into: &out)
        remember(identity(head, c), of: r)
        out.append(acceptance(of: head, on: c, for: r, headers: upgradeHeaders(head, of: r, hit), hit))
        for (i, payload) in first.enumerated() {
            pass(payload.payload, payload.opcode, steps: i == first.count - 1 ? again : [], to: r, into: &out)
        }
        if cutAfterOpening(hit, of: r, into: &out) { return }
        advance(r, into: &out)
    }

    /// The protocol's acknowledgement when it is due.
    mutating func acknowledgeMemory(_ r: Int, into out: inout [ReplayAction]) {
        guard let due = runs[r].link?.memory?.acknowledgeAt, due <= now, runs[r].link?.isCut == false,
            let own = runs[r].link?.memory?.acknowledgement()
        else { return }
        pass(own.payload, own.opcode, to: r, into: &out)
    }
}
