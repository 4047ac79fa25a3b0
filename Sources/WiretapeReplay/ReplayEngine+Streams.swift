internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// The request whose answer is streamed.
    mutating func stream(
        _ c: ConnectionID, _ head: RequestHead, _ key: String, of r: Int, into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        let transport = codec.type.transport(head)
        if let link = runs[r].link {
            guard link.token == key else { return refuse(c, head, .unknownID, codec, into: &out) }
            return refuse(c, head, link.transport == transport ? .conflict : .wrongTransport, codec, into: &out)
        }
        guard case .goesOn(let after) = open(transport, .stream, c, head, of: r, into: &out) else { return }
        let link = Link(transport, on: c, token: key, StreamOpening(request: head), codec, at: now)
        attach(link, c, head, .stream, to: r, into: &out)
        out.append(.beginStream(c, codec.type.answer(.stream, to: head).readable(by: head)))
        if cutAfterOpening(after, of: r, into: &out) { return }
        hearEarly(of: r, into: &out)
        advance(r, into: &out)
    }

    /// Messages of the client over HTTP. They are taken in the order of arrival, whatever connections bring them.
    mutating func send(
        _ c: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ key: String, of r: Int,
        into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        if let parked = runs[r].parked, parked.link.token == key, parked.link.transport == .lp, !parked.isOver {
            takeUp(r, .send)
        }
        let opcode = opcode(of: head)
        let payload = codec.type.payload(of: StreamOpening(request: head, requestBody: body))
        guard let link = runs[r].link, link.token == key else {
            if let failure = runs[r].standing.failure { return refuse(c, head, 409, failure, into: &out) }
            guard !runs[r].isConnected, ids[key]?.isUsed == false || codec.type.hasTrackingIDs,
                runs[r].negotiation.mayWait(payload.count)
            else { return refuse(c, head, .unknownID, codec, into: &out) }
            let hit = judge(head, .send, opensAttempt: false, of: r)
            if let hit, hit.place != .after { return carryOut(hit, on: c, head, .send, of: r, into: &out) }
            runs[r].negotiation.wait(EarlySend(token: key, body: payload, opcode: opcode))
            out.append(.respond(c, codec.type.answer(.sent, to: head).readable(by: head), thenClose: false))
            if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
            return
        }
        guard link.transport != .ws || codec.type.hasTrackingIDs else {
            return refuse(c, head, .notAllowed, codec, into: &out)
        }
        let hit = judge(head, .send, opensAttempt: false, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .send, of: r, into: &out) }
        out.append(.respond(c, codec.type.answer(.sent, to: head).readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
        hear(payload.span, opcode, from: r, into: &out)
    }

    private func opcode(of head: RequestHead) -> Opcode {
        let type = head.headers.first("Content-Type") ?? ""
        return type.hasPrefix("application/octet-stream") ? .binary : .text
    }

    /// What the client sent before its connection was open.
    mutating func hearEarly(of r: Int, into out: inout [ReplayAction]) {
        let early = runs[r].negotiation.takeEarly()
        for send in early where runs[r].link?.token == send.token {
            hear(send.body.span, send.opcode, from: r, into: &out)
        }
    }
}
