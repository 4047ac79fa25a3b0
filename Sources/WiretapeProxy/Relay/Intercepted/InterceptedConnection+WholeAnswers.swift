internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// Answers that are wanted whole: those of negotiations, polls and operations, and those that may lead the client away.
extension InterceptedConnection {
    /// How long the head of a poll's answer waits for what the answer says. A server that has something to say sends both at once,
    /// and rules act on the whole of it.
    static let headTime: UInt64 = 20_000_000

    /// Whether the head of that answer may go out before its body is there: it tells neither the body's length nor its coding, which
    /// rules may change.
    func mayGoAhead(_ live: LiveExchange, _ head: ResponseHead, _ info: HTTPHeadInfo) -> Bool {
        guard live.kind == .poll, head.headers.contentCodings.isEmpty, !mayLeadAway(head, info) else { return false }
        return switch info.framing {
        case .chunked, .untilEnd: true
        case .none, .length: false
        }
    }

    /// A server has begun to answer a poll before there is anything to say, and its client may wait for that: it gets the head, and
    /// the blanks that some servers send behind it.
    func goAhead(at now: WireInstant) {
        guard let by = http.response.goesAheadAt, by <= now else { return }
        http.response.stopsWaiting()
        guard let live = http.live, let info = http.response.info, http.response.kind == .collect, !isOver else {
            return
        }
        let blanks = http.response.body
        let isPadded = faults.codec(of: live)?.polling?.beginsAtOnce == true
        guard blanks.isEmpty || isPadded && blanks.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else { return }
        http.response.dropBody()
        http.response.wentAhead(0)
        let piece = Answer(head: info.raw, payload: blanks, untouched: blanks, carries: !blanks.isEmpty, trailers: nil)
        answer(piece, live, at: now)
    }

    /// An answer, or what goes ahead of it.
    private struct Answer {
        /// nil: it has gone ahead.
        var head: [UInt8]?
        /// What rules see.
        var payload: [UInt8]
        /// What goes out when no rule touches it.
        var untouched: [UInt8]
        /// Whether its payload is messages.
        var carries: Bool
        /// What stands behind its last chunk; nil: there is more to come.
        var trailers: [HeaderField]?

        /// It goes out in one, so that its head can tell its length.
        var isWhole: Bool { head != nil && trailers != nil }
    }

    /// A whole answer that was wanted: of a negotiation, or of a poll.
    func collected(_ live: LiveExchange, _ trailers: [HeaderField], at now: WireInstant) {
        guard let info = http.response.info, let head = http.response.head else { return }
        var (raw, payload) = (info.raw, http.response.body)
        let plain = InterceptedBody.plain(http.response.body, head.headers)
        var changed: [UInt8]?
        if live.isAboutSession {
            let told = faults.negotiated(live, body: plain ?? payload, at: now)
            if told != plain ?? payload { changed = told }
        } else if let plain {
            payload = plain
        }
        if let asked = http.asked, asked.looksAtBody {
            changed = node.leadBack?.body(changed ?? plain ?? payload, to: asked, at: node) ?? changed
        }
        if let changed {
            raw = HTTPHeadWriter.replacing("Content-Encoding", with: nil, in: raw)
            if !http.response.isChunked {
                raw = HTTPHeadWriter.setting("Content-Length", to: "\(changed.count)", in: raw)
            }
            payload = changed
        }
        // What cannot be decoded cannot be judged.
        let carries =
            live.wantsAnswer && !live.isAboutSession && !payload.isEmpty && head.status == 200 && plain != nil
        let whole = Answer(
            head: http.response.ahead == nil ? raw : nil, payload: payload, untouched: changed ?? http.response.body,
            carries: carries, trailers: trailers)
        answer(whole, live, at: now)
    }

    private func answer(_ answer: Answer, _ live: LiveExchange, at now: WireInstant) {
        let opcode: Opcode = isValidUTF8(answer.payload.span) ? .text : .binary
        let transport = live.kind == .operation ? Transport.http : live.transport
        let plan =
            answer.carries
            ? faults.payload(
                answer.payload, opcode, .toClient, of: live, on: transport, isMuted: mutesProtocol, at: now)
            : DeliveryPlan()
        note(plan.fates, live, at: now)
        guard let codec = faults.codec(of: live),
            plan.isRuled || answer.carries && (mutesProtocol || parked.next != nil)
        else { return sendUntouched(answer, at: now) }
        let body = InterceptedBody(plan, answer.payload, &parked, at: now) { message in
            guard live.kind == .operation else { return message }
            var out: [UInt8] = []
            codec.frame(message.span, on: .http, into: &out)
            return out.isEmpty ? message : out
        }
        apply(body.effectsBefore, live, .toClient, rule: body.rule, at: now)
        toClient.queue.pause(body.wait, at: now)
        if let end = body.end, body.isEmpty {
            return finish(with: end, live, .toClient, after: body.lingering, isOfMessage: true, at: now)
        }
        let bytes = written(answer, as: body)
        let left = body.truncated.map { max(0, $0 - (http.response.ahead ?? 0)) }
        goesAhead(bytes, of: answer)
        add(left.map { Array(bytes.prefix($0)) } ?? bytes, .toClient, endsFrame: false, at: now)
        behind(body, live, at: now)
    }

    /// No rule touches it.
    private func sendUntouched(_ answer: Answer, at now: WireInstant) {
        let piece = chunked(answer.untouched)
        goesAhead((answer.head ?? []) + piece, of: answer)
        if let head = answer.head { add(head, .toClient, at: now) }
        add(piece, .toClient, at: now)
        guard let trailers = answer.trailers, http.response.isChunked else { return }
        add(InterceptedStream.lastChunk(trailers), .toClient, at: now)
    }

    /// What of an answer has gone ahead counts as bytes of the answer.
    private func goesAhead(_ bytes: [UInt8], of answer: Answer) {
        if answer.trailers == nil { http.response.wentAhead(bytes.count) }
    }

    /// An answer with what rules have made of its body: in one with its length, or in the pieces that its head tells.
    private func written(_ answer: Answer, as body: InterceptedBody) -> [UInt8] {
        if answer.isWhole, var head = answer.head {
            head = HTTPHeadWriter.replacing("Transfer-Encoding", with: nil, in: head)
            head = HTTPHeadWriter.replacing("Content-Encoding", with: nil, in: head)
            head = HTTPHeadWriter.setting("Content-Length", to: "\(body.length)", in: head)
            return head + body.bytes
        }
        let head = answer.head ?? []
        guard http.response.isChunked else { return head + body.bytes }
        let piece = body.isLengthened ? InterceptedStream.lengthened(body.bytes) : InterceptedStream.chunk(body.bytes)
        return head + piece + (answer.trailers.map { InterceptedStream.lastChunk($0) } ?? [])
    }

    /// What rules want behind an answer that carries messages. The client has it, and says what it has to say to it: what
    /// concerns the connection comes with the next poll.
    private func behind(_ body: InterceptedBody, _ live: LiveExchange, at now: WireInstant) {
        let waits = live.kind == .poll && body.truncated == nil && body.end?.cutsConnections ?? true
        let later = waits ? body.effectsAfter.filter { body.end != nil || $0.isOfConnection } : []
        let atOnce = body.effectsAfter.filter { !later.contains($0) }
        if !atOnce.isEmpty { mark(.effects(atOnce, live, .toClient, rule: body.rule), .toClient, at: now) }
        if waits, !later.isEmpty || body.end != nil {
            let awaited = AwaitedEnd(effects: later, rule: body.rule, end: body.end, lingering: body.lingering)
            if let end = body.end { carried(by: end, .toClient) }
            return faults.await(awaited, live)
        }
        if let end = body.end { finish(with: end, live, .toClient, after: body.lingering, isOfMessage: true, at: now) }
    }
}
