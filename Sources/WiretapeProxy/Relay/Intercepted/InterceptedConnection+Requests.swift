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
    /// Reads requests, one at a time.
    func fromClient(_ bytes: Span<UInt8>, at now: WireInstant) {
        guard !http.isRefused else { return }
        guard http.state != .answer else { return keepEarly(bytes) }
        var at = 0
        // Bytes of a passing body from here on have been looked at and not been forwarded.
        var start = 0
        while true {
            if http.state == .idle, at < bytes.count { http.request.comes(at: now) }
            switch http.request.scan(bytes, from: at) {
            case .more:
                if http.state == .request, http.request.kind == .pass {
                    add(copy(bytes.extracting(start..<bytes.count)), .toServer, at: now)
                }
                return
            case .request(let head, let info, let next):
                if let reason = node.refusal(head) { return refuse(info, 403, reason, at: now) }
                if let reason = node.leadBack?.circle(head, at: node) { return refuse(info, 508, reason, at: now) }
                begin(head, info, at: now)
                start = next
                at = next
            case .body(let range, let next):
                let piece = bytes.extracting(range)
                node.tap?.record(.body, connection.id, x: http.lastX, at: now, piece)
                if http.request.kind == .collect {
                    collect(piece, at: now)
                } else if http.request.kind == .reframe {
                    sendBody(copy(piece), at: now)
                }
                at = next
            case .end(let trailers, let next):
                node.tap?.record(
                    .bodyEnd, connection.id, x: http.lastX, at: now, TrailerRecord.encode(trailers).span)
                if http.request.kind == .pass { add(copy(bytes.extracting(start..<next)), .toServer, at: now) }
                if http.request.kind == .reframe, http.request.info?.framing == .chunked {
                    add(InterceptedStream.lastChunk(trailers), .toServer, at: now)
                }
                http.awaitsAnswer(trailers)
                requestEnded(at: now)
                if next < bytes.count, !isOver { fromClient(bytes.extracting(next..<bytes.count), at: now) }
                return
            case .bad(let fault, _):
                node.misunderstood(fault)
                node.tap?.record(
                    .malformed, connection.id, at: now,
                    MalformedRecord.encode(fault.reason, bytes.extracting(at..<min(bytes.count, at + 65536))).span)
                say(OwnAnswer.bytes(fault.status, fault.reason), x: http.lastX + 1, at: now)
                return leave(at: now)
            case .response: return
            }
        }
    }

    /// A request that is not passed on.
    private func refuse(_ info: HTTPHeadInfo, _ status: Int, _ reason: String, at now: WireInstant) {
        http.refusesNext()
        node.tap?.record(.request, connection.id, x: http.lastX, at: http.request.since ?? now, info.raw.span)
        say(OwnAnswer.bytes(status, reason), x: http.lastX, at: now)
        leave(at: now)
    }

    private func keepEarly(_ bytes: Span<UInt8>) {
        http.comesEarly(bytes)
        if http.early.count > InterceptedExchange.earlyLimit { connection.client?.block(.pipeline) }
    }

    private func begin(_ head: RequestHead, _ info: HTTPHeadInfo, at now: WireInstant) {
        spend(8)
        let since = http.begins(head, info) ?? now
        node.tap?.record(.request, connection.id, x: http.lastX, at: since, info.raw.span)
        let live = faults.request(head, on: connection.id, at: now)
        http.belongs(to: live, node.leadBack?.request(head, at: node))
        if let fate = live.fate { record(fate.hits, of: fate.end ?? fate.endAfter, live, at: now) }
        if live.refusal != nil || live.fate?.endInstead != nil || live.awaited?.end != nil {
            http.request.treatBody(as: .skip)
        } else if live.carriesMessages {
            http.request.treatBody(as: .collect)
            if info.expectsContinue {
                http.hasContinued()
                add(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), .toClient, at: now)
            }
        } else {
            http.request.treatBody(as: .pass)
            if let awaited = live.awaited { apply(awaited.effects, live, .toClient, rule: awaited.rule, at: now) }
            forward(head, info.raw, live, at: now)
        }
    }

    /// Sends the head on.
    /// - Parameter upTo: bytes of it that go out.
    private func forward(
        _ head: RequestHead, _ raw: [UInt8], _ live: LiveExchange, upTo limit: Int? = nil, at now: WireInstant
    ) {
        if let fate = live.fate, !fate.effectsBefore.isEmpty {
            mark(.effects(fate.effectsBefore, live, nil, rule: fate.hits[0].name), .toServer, at: now)
        }
        if connection.server == nil { connection.connectServer(isTunnel: live.kind == .upgrade || http.isConnect) }
        var out = raw
        if live.wantsAnswer || live.kind == .stream || live.kind == .upgrade {
            out = InterceptedConnection.plainly(out, isUpgrade: live.kind == .upgrade)
        }
        out = connection.towardsServer(out, http.asked)
        add(limit.map { Array(out.prefix($0)) } ?? out, .toServer, delay: live.fate?.delay ?? 0, at: now)
    }

    /// Answers that have to be read must not be compressed.
    static func plainly(_ raw: [UInt8], isUpgrade: Bool) -> [UInt8] {
        guard !isUpgrade else { return raw }
        return HTTPHeadWriter.replacing("Accept-Encoding", with: "identity", in: raw)
    }

    private func collect(_ piece: Span<UInt8>, at now: WireInstant) {
        http.request.collect(piece)
        guard http.request.body.count > InterceptedExchange.bodyLimit, let live = http.live,
            let info = http.request.info
        else {
            return
        }
        // Too long to be looked at: the rest goes on as it comes, in chunks of ours where it is chunked.
        let body = http.request.goesOn()
        forward(live.head, info.raw, live, at: now)
        sendBody(body, at: now)
    }

    /// The client has ended in a body that was wanted whole: the server gets what came of it.
    func passRequest(at now: WireInstant) {
        guard !isOver, http.state == .request, http.request.kind == .collect, let live = http.live,
            let info = http.request.info
        else { return }
        let body = http.request.goesOn()
        forward(live.head, info.raw, live, at: now)
        if !body.isEmpty { sendBody(body, at: now) }
    }

    private func sendBody(_ bytes: [UInt8], at now: WireInstant) {
        let isChunked = http.request.info?.framing == .chunked
        add(isChunked ? InterceptedStream.chunk(bytes) : bytes, .toServer, at: now)
    }

    /// The request is whole.
    private func requestEnded(at now: WireInstant) {
        guard let live = http.live else { return }
        if let refusal = live.refusal {
            let text = FaultRecord.encode(refusal.by, "refused")
            node.tap?.record(.fault, connection.id, at: now, text.span)
            let by = Attempt.End.Party.fault(refusal.by)
            guard let own = refusal.answer else { return over(live, by, .reset, at: now) }
            return answer(own, live, by: by, at: now)
        }
        if let fate = live.fate, let end = fate.endInstead {
            if !fate.effectsBefore.isEmpty { apply(fate.effectsBefore, live, nil, rule: fate.hits[0].name, at: now) }
            // It waits in the client's queue, so that it keeps its place behind earlier answers.
            ends.awaits(end, of: live)
            if !fate.effectsBefore.isEmpty { tellEnd(of: end.hit.name, at: now) }
            return mark(.end(end, live), .toClient, delay: fate.delay + fate.lingering, at: now)
        }
        if let awaited = live.awaited, let end = awaited.end {
            apply(awaited.effects, live, .toClient, rule: awaited.rule, at: now)
            ends.awaits(end, of: live)
            if !awaited.effects.isEmpty { tellEnd(of: end.hit.name, at: now) }
            return mark(.end(end, live), .toClient, delay: awaited.lingering, at: now)
        }
        guard http.request.kind == .collect else { return }
        do throws(ContentDecoder.Fault) {
            try http.request.decode(live.head.headers.contentCodings)
            decodeBody(at: now)
        } catch {
            sendMessages(nil, live, at: now)
        }
    }

    /// Decodes a slice of the request's body, and sends its messages on when it is whole.
    func decodeBody(at now: WireInstant) {
        guard let live = http.live else { return http.request.stopDecoding() }
        do throws(ContentDecoder.Fault) {
            spend(InterceptedFrames.sliceLimit >> 7)
            guard let plain = try http.request.decodeSlice(InterceptedFrames.sliceLimit) else { return }
            sendMessages(plain, live, at: now)
        } catch {
            sendMessages(nil, live, at: now)
        }
    }

    /// A whole request that carries messages.
    /// - Parameter plain: its body as it is meant; nil: what cannot be decoded cannot be judged.
    private func sendMessages(_ plain: [UInt8]?, _ live: LiveExchange, at now: WireInstant) {
        guard let info = http.request.info else { return }
        let opening = StreamOpening(request: live.head, requestBody: plain ?? http.request.body)
        let codec = faults.codec(of: live)
        faults.carries(opening.requestBody, live)
        let payload = plain == nil ? [] : codec?.payload(of: opening) ?? []
        let opcode: Opcode = isValidUTF8(payload.span) ? .text : .binary
        let plan =
            payload.isEmpty
            ? DeliveryPlan() : faults.payload(payload, opcode, .toServer, of: live, on: live.transport, at: now)
        note(plan.fates, live, at: now)
        guard let codec, plan.isRuled else {
            forward(live.head, info.raw, live, at: now)
            if info.framing == .chunked {
                let last = InterceptedStream.lastChunk(http.request.trailers)
                add(InterceptedStream.chunk(http.request.body) + last, .toServer, at: now)
            } else {
                add(http.request.body, .toServer, at: now)
            }
            return
        }
        var parked = ParkedMessages()
        var body = InterceptedBody(plan, opening.requestBody, &parked, at: now)
        // What is sent is one body, and the client waits for its answer: nothing follows that could pass.
        body.bytes += parked.takeAll().flatMap(\.bytes)
        // Its message is made from the body, and no body can be made from another message.
        if live.kind == .operation, !body.isEmpty { body.bytes = opening.requestBody }
        send(body, live, info, codec, at: now)
    }

    private func send(
        _ body: InterceptedBody, _ live: LiveExchange, _ info: HTTPHeadInfo, _ codec: any FrameCodec.Type,
        at now: WireInstant
    ) {
        apply(body.effectsBefore, live, .toServer, rule: body.rule, at: now)
        let carrier = body.end.map(\.cutsConnections) == true && live.kind == .send ? held(carrying: live) : nil
        if body.isEmpty, body.end?.place != .after {
            if let end = body.end, let carrier {
                answer(codec.answer(.sent, to: live.head), live, by: nil, at: now)
                return carrier.endSession(end, live, after: body.wait + body.lingering, at: now)
            }
            if let end = body.end {
                ends.awaits(end, of: live)
                return mark(.end(end, live), .toClient, delay: body.wait, at: now)
            }
            // A lost operation is never answered.
            if live.kind == .operation { return }
            // Nothing is left of it: the client hears that it was taken, and the server nothing.
            return answer(codec.answer(.sent, to: live.head), live, by: nil, at: now)
        }
        toServer.queue.pause(body.wait, at: now)
        var raw = HTTPHeadWriter.replacing("Transfer-Encoding", with: nil, in: info.raw)
        raw = HTTPHeadWriter.replacing("Content-Encoding", with: nil, in: raw)
        raw = HTTPHeadWriter.setting("Content-Length", to: "\(body.length)", in: raw)
        forward(live.head, raw, live, upTo: body.truncated, at: now)
        let rest = body.truncated.map { max(0, $0 - raw.count) }
        add(rest.map { Array(body.bytes.prefix($0)) } ?? body.bytes, .toServer, at: now)
        if !body.effectsAfter.isEmpty {
            mark(.effects(body.effectsAfter, live, .toServer, rule: body.rule), .toServer, at: now)
        }
        guard let end = body.end else { return }
        if carrier != nil {
            carried(by: end, .toServer)
            mark(.sessionEnd(end, live), .toServer, delay: body.lingering, at: now)
        } else {
            finish(with: end, live, .toServer, after: body.lingering, isOfMessage: true, at: now)
        }
    }

    /// The connection that carries the session's messages to the client, when it is another one than that of its sends.
    func held(carrying live: LiveExchange) -> InterceptedConnection? {
        guard let id = faults.carrier(of: live), id != connection.id else { return nil }
        return node.connection(id)?.held
    }

    /// A rule about a send ends its session, whose messages this connection carries.
    func endSession(_ end: MessageFate.End, _ send: LiveExchange, after gap: UInt64, at now: WireInstant) {
        if let live = http.live, http.state == .answer, !isOver {
            finish(with: end, live, .toClient, after: gap, at: now)
            pump()
        } else {
            faults.await(AwaitedEnd(end: end, lingering: gap), send)
        }
    }
}
