internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeWire

extension InterceptedConnection {
    private var toClientFlags: UInt8 { RecordFlags.toClient }

    /// Reads the server's answers.
    func fromServer(_ bytes: Span<UInt8>, at now: WireInstant) {
        var at = 0
        // Bytes of a passing body from here on have been looked at and not been forwarded.
        var start = 0
        while http.live != nil, http.state != .idle {
            if at < bytes.count { http.response.comes(at: now) }
            switch http.response.scan(bytes, from: at) {
            case .more:
                if http.response.head == nil {
                    http.response.keepPartial(bytes.extracting(at..<bytes.count))
                } else if http.response.kind == .pass {
                    sendAnswer(copy(bytes.extracting(start..<bytes.count)), at: now)
                }
                return
            case .response(let head, var info, let next):
                let since = http.response.headIsThere() ?? now
                node.tap?.record(
                    .response, connection.id, flags: toClientFlags, x: http.lastX, at: since, info.raw.span)
                start = next
                at = next
                if !info.isInterim || head.status == 101 { node.answered() }
                if let asked = http.asked, let led = node.leadBack?.towardsClient(head, info.raw, to: asked, at: node) {
                    info.raw = led
                }
                if head.status == 101 || (http.isConnect && 200..<300 ~= head.status) {
                    return upgraded(head, info, bytes.extracting(next..<bytes.count), at: now)
                }
                if info.isInterim {
                    // The client has had our own 100; other interim answers (103 Early Hints) are for it.
                    if !http.swallowsContinue || head.status != 100 { sendAnswer(info.raw, at: now) }
                } else {
                    began(head, info, at: now)
                }
            case .body(let range, let next):
                let piece = bytes.extracting(range)
                node.tap?.record(.body, connection.id, flags: toClientFlags, x: http.lastX, at: now, piece)
                body(piece, at: now)
                at = next
            case .end(let trailers, let next):
                node.tap?.record(
                    .bodyEnd, connection.id, flags: toClientFlags, x: http.lastX, at: now,
                    TrailerRecord.encode(trailers).span)
                if http.response.kind == .pass { sendAnswer(copy(bytes.extracting(start..<next)), at: now) }
                start = next
                at = next
                answerEnded(trailers, at: now)
            case .bad(let fault, _):
                node.answered()
                node.tap?.record(
                    .malformed, connection.id, flags: toClientFlags, at: now,
                    MalformedRecord.encode(fault.reason, bytes.extracting(at..<min(bytes.count, at + 65536))).span)
                if http.response.head != nil, http.response.kind != .pass { return answerBroke(at: now) }
                node.tap?.record(.raw, connection.id, at: now, Span())
                passRequest(at: now)
                becomesTunnel()
                let early = http.response.takePartial()
                let rest = bytes.extracting((http.response.head == nil ? at : start)..<bytes.count)
                add(early + copy(rest), .toClient, at: now)
                return sendAhead(at: now)
            case .request: return
            }
        }
        // What a server says unasked is its client's to judge.
        if at < bytes.count, !isOver, socket == nil {
            add(copy(bytes.extracting(at..<bytes.count)), .toClient, at: now)
        }
    }

    /// The chunks of an answer that goes on in chunks of ours are no chunks any more: the client gets what came before, in a body
    /// that is cut.
    private func answerBroke(at now: WireInstant) {
        passAnswer(cutBy: .cutBody, at: now)
        closed(.server, .fin, at: now)
        leave(at: now)
    }

    /// HTTP is over: what the client sent behind its request goes on before what it sends from now on.
    private func sendAhead(at now: WireInstant) {
        let ahead = http.takeEarly()
        connection.client?.unblock(.pipeline)
        if !ahead.isEmpty { tunnel(ahead.span, .toServer, at: now) }
    }

    private func began(_ head: ResponseHead, _ info: HTTPHeadInfo, at now: WireInstant) {
        guard let live = http.live else { return }
        http.response.begins(head, info)
        faults.answered(live, head, at: now)
        http.response.limit(to: live.fate?.truncated)
        if live.framing != nil, http.response.left == nil, beginStream(live, head, info, at: now) {
            // A stream has been answered with its head.
            follow(live, at: now)
        } else if live.wantsAnswer && head.status < 300 || mayLeadAway(head, info), http.response.left == nil {
            http.response.treatBody(as: .collect)
            if mayGoAhead(live, head, info) {
                http.response.goesAhead(at: now.advanced(by: InterceptedConnection.headTime))
            }
        } else {
            http.response.treatBody(as: .pass)
            sendAnswer(info.raw, at: now)
        }
    }

    /// Whether the body may send the client to another server.
    func mayLeadAway(_ head: ResponseHead, _ info: HTTPHeadInfo) -> Bool {
        http.asked.map { node.leadBack?.holds(head, info, to: $0) ?? false } ?? false
    }

    /// - Returns: false when the stream cannot be read, and passes.
    private func beginStream(
        _ live: LiveExchange, _ head: ResponseHead, _ info: HTTPHeadInfo, at now: WireInstant
    ) -> Bool {
        guard let codec = faults.codec(of: live), let framing = live.framing else { return false }
        let codings = head.headers.contentCodings
        let decoder = ContentDecoder(codings)
        var raw = info.raw
        if !codings.isEmpty {
            guard decoder != nil else { return false }
            raw = HTTPHeadWriter.replacing("Content-Encoding", with: nil, in: raw)
            if case .length = info.framing {
                guard live.head.version == "1.1" else { return false }
                raw = HTTPHeadWriter.replacing("Content-Length", with: nil, in: raw)
                raw = HTTPHeadWriter.setting("Transfer-Encoding", to: "chunked", in: raw)
                http.response.rechunk()
            }
        }
        http.response.treatBody(as: .payloads)
        let carrier = live.kind == .operation ? framing.carrier : live.transport
        http.reads(InterceptedStream(framing, codec, carrier, decoder))
        sendAnswer(raw, at: now)
        return true
    }

    /// Bytes of the answer on their way to the client, as many as a rule lets out.
    func sendAnswer(_ bytes: [UInt8], at now: WireInstant) {
        let left = http.response.left
        add(http.response.letOut(bytes), .toClient, at: now)
        if let left, left > 0, http.response.left == 0, let live = http.live, let end = live.fate?.endBehind {
            finish(with: end, live, .toClient, after: 0, at: now)
        }
    }

    func sendPiece(_ bytes: [UInt8], at now: WireInstant) {
        add(chunked(bytes), .toClient, at: now)
    }

    private func body(_ piece: Span<UInt8>, at now: WireInstant) {
        switch http.response.kind {
        case .pass, .skip: break
        case .reframe: sendPiece(copy(piece), at: now)
        case .collect:
            http.response.collect(piece)
            guard http.response.body.count > InterceptedExchange.bodyLimit, let info = http.response.info else {
                return
            }
            let body = http.response.goesOn()
            if http.response.ahead == nil { add(info.raw, .toClient, at: now) }
            sendPiece(body, at: now)
        case .payloads:
            guard let live = http.live, var stream = http.stream else { return }
            let (units, loose) = stream.feed(copy(piece))
            http.reads(stream)
            for unit in units where !isOver { event(unit, live, stream, at: now) }
            if !loose.isEmpty, !isOver { sendPiece(loose, at: now) }
            // Its own decoder would have failed here, too.
            if stream.isBroken, !isOver { over(live, .server, .reset, at: now) }
        }
    }

    /// An event of a stream.
    private func event(
        _ unit: InterceptedStream.Unit, _ live: LiveExchange, _ stream: InterceptedStream, at now: WireInstant
    ) {
        spend(1)
        guard !unit.payload.isEmpty else { return sendPiece(unit.raw, at: now) }
        let opcode: Opcode = isValidUTF8(unit.payload.span) ? .text : .binary
        let plan = faults.payload(
            unit.payload, opcode, .toClient, of: live, on: stream.transport, isMuted: mutesProtocol, at: now)
        note(plan.fates, live, at: now)
        if toClient.queue.isDelayed(at: now), plan.isKeepalive, !mutesProtocol {
            // Nothing that waits holds it back.
            return update(.toClient) { $0.queue.addExpress(chunked(unit.raw), at: now) }
        }
        for step in plan.steps {
            switch step {
            case .wait(let gap): toClient.queue.pause(gap, at: now)
            case .original:
                sendPiece(unit.raw, at: now)
                parked.passed()
            case .payload(let bytes, _, _):
                sendPiece(stream.frame(bytes), at: now)
                parked.passed()
            case .reorder(let bytes, let opcode, _, let window, let patience):
                parked.park(bytes, opcode, window: window, until: now.advanced(by: patience))
            case .damaged(let bytes, _, let damage):
                var piece = stream.frame(bytes)
                if damage == .length, http.response.isChunked {
                    piece = InterceptedStream.lengthened(piece)
                } else {
                    piece = chunked(piece)
                }
                add(piece, .toClient, at: now)
            case .truncated(let bytes, _, let count):
                add(Array(chunked(stream.frame(bytes)).prefix(count)), .toClient, endsFrame: false, at: now)
            case .effects(let verdicts, let hit):
                mark(.effects(verdicts, live, .toClient, rule: hit.name), .toClient, at: now)
            case .end(let end, let after):
                finish(with: end, live, .toClient, after: after, isOfMessage: true, at: now)
            }
            releaseEvents(at: now)
        }
    }

    /// A message that nobody sent, at a moment.
    func inject(_ edit: MessageEdit, by rule: String, _ live: LiveExchange, at now: WireInstant) {
        guard let (bytes, opcode) = faults.added(edit, to: live) else { return }
        faults.sends(bytes, opcode, by: rule, of: live, at: now)
        if let frame = socket?.frame(opcode, bytes, deflated: false, .toClient) {
            add(frame, .toClient, at: now)
        } else if let stream = http.stream {
            sendPiece(stream.frame(bytes), at: now)
        } else {
            // The poll that waits is the server's to answer: it comes with the next messages.
            parked.park(bytes, opcode, window: 0, until: now)
        }
    }

    /// Events that have let others pass go on.
    func releaseEvents(at now: WireInstant) {
        guard let stream = http.stream else { return }
        for one in parked.takeReleased(at: now) { sendPiece(stream.frame(one.bytes), at: now) }
    }

    func chunked(_ bytes: [UInt8]) -> [UInt8] {
        http.response.isChunked ? InterceptedStream.chunk(bytes) : bytes
    }

    /// The server has ended in an answer: the client gets what came of it, in a body that is cut as it was.
    func passAnswer(cutBy end: HTTPFinish, at now: WireInstant) {
        guard !isOver, end == .cutBody || end == .cutHead else { return }
        guard http.response.head != nil else { return sendAnswer(http.response.partial, at: now) }
        switch http.response.kind {
        case .pass, .skip, .reframe: break
        case .collect:
            guard let info = http.response.info else { return }
            let body = http.response.goesOn()
            if http.response.ahead == nil { add(info.raw, .toClient, at: now) }
            if !body.isEmpty { sendPiece(body, at: now) }
        case .payloads:
            for one in parked.takeAll() {
                if let stream = http.stream { sendPiece(stream.frame(one.bytes), at: now) }
            }
            let rest = http.takeRestOfStream()
            if !rest.isEmpty { sendPiece(rest, at: now) }
        }
    }

    /// The server's FIN was the proper end of the body.
    func endOfBody(at now: WireInstant) { answerEnded([], at: now) }

    /// The answer is whole.
    private func answerEnded(_ trailers: [HeaderField], at now: WireInstant) {
        guard let live = http.live, http.response.head != nil else { return }
        switch http.response.kind {
        case .pass, .skip: break
        case .collect: collected(live, trailers, at: now)
        case .payloads, .reframe:
            if var stream = http.stream, let last = stream.takeLast() {
                http.reads(stream)
                event(last, live, stream, at: now)
            }
            for one in parked.takeAll() {
                if let stream = http.stream { sendPiece(stream.frame(one.bytes), at: now) }
            }
            let rest = http.takeRestOfStream()
            if !rest.isEmpty { sendPiece(rest, at: now) }
            if http.response.isChunked {
                add(InterceptedStream.lastChunk(trailers), .toClient, at: now)
            }
            if http.response.kind == .payloads { closed(.server, .close(1000), at: now) }
        }
        // An end that a rule wants is on its way: the session's end is that one.
        if ends.pending == nil { faults.settled(live, at: now) }
        exchangeEnded(live, at: now)
    }

    /// What stands behind an answer, and the next request.
    func exchangeEnded(_ live: LiveExchange, at now: WireInstant) {
        follow(live, at: now)
        // An end that a rule wants is on its way to the client, and is the end of this stream: the server's comes too late.
        guard !isOver, ends.pending == nil || http.stream == nil else { return }
        rests(behind: live.kind == .poll ? live : nil)
        http.finish()
        let early = http.takeEarly()
        connection.client?.unblock(.pipeline)
        if !early.isEmpty { take(early.span, .toServer, at: now) }
    }

    private func follow(_ live: LiveExchange, at now: WireInstant) {
        guard let fate = live.fate, !http.isFollowed else { return }
        http.follows()
        if !fate.effectsAfter.isEmpty {
            mark(.effects(fate.effectsAfter, live, nil, rule: fate.hits[0].name), .toClient, at: now)
        }
        if let end = fate.endBehind, ends.pending == nil {
            finish(with: end, live, .toClient, after: fate.lingering, at: now)
        }
    }

    // MARK: Answers of ours

    /// Answers in the server's place.
    func answer(_ answer: HTTPAnswer, _ live: LiveExchange, by party: Attempt.End.Party?, at now: WireInstant) {
        var bytes: [UInt8] = []
        HTTPHeadWriter.append(answer, isHead: live.head.method == "HEAD", into: &bytes)
        faults.answered(
            live, ResponseHead(status: answer.status, headers: answer.headers), by: party, at: now)
        say(bytes, x: http.lastX, at: now)
        exchangeEnded(live, at: now)
    }

    func say(_ bytes: [UInt8], x: UInt32, at now: WireInstant) {
        // Behind an end nothing can be said, and nothing is on the tape that was not.
        guard !ends.toClient, connection.client?.sentEnd == false else { return }
        node.tap?.record(
            .response, connection.id, flags: toClientFlags | RecordFlags.proxy, x: x, at: now, bytes.span)
        add(bytes, .toClient, at: now)
    }

    /// No address of the upstream answers.
    func unreachable(_ words: [UInt8], _ status: Int, at now: WireInstant) {
        say(words, x: http.lastX, at: now)
        if let live = http.live { faults.answered(live, ResponseHead(status: status), by: .server, at: now) }
        leave(at: now)
        pump()
    }
}
