internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeWire

extension InterceptedConnection {
    /// The server has granted an upgrade: `rest` stands behind its head.
    func upgraded(_ head: ResponseHead, _ info: HTTPHeadInfo, _ rest: Span<UInt8>, at now: WireInstant) {
        guard let live = http.live else { return }
        let isWebSocket = live.head.headers.hasToken("websocket", in: "Upgrade") && head.status == 101
        faults.answered(live, head, at: now)
        http.response.limit(to: live.fate?.truncated)
        var raw = info.raw
        if let fate = live.fate {
            if fate.hasWrongAccept {
                raw = HTTPHeadWriter.replacing("Sec-WebSocket-Accept", with: InterceptedConnection.wrongAccept, in: raw)
            }
            if let name = fate.wrongSubprotocol {
                let field = "Sec-WebSocket-Protocol"
                raw =
                    name.map { HTTPHeadWriter.setting(field, to: $0, in: raw) }
                    ?? HTTPHeadWriter.replacing(field, with: nil, in: raw)
            }
        }
        sendAnswer(raw, at: now)
        guard !isOver else { return }
        let early = http.upgrade()
        if isWebSocket {
            let deflate = DeflateParameters(accepted: head.headers.all("Sec-WebSocket-Extensions"))
            becomesSocket(InterceptedSocket(live, deflate: deflate, seed: faults.seed &+ UInt64(connection.id)))
        } else {
            becomesTunnel()
        }
        if let fate = live.fate {
            if !fate.effectsAfter.isEmpty {
                mark(.effects(fate.effectsAfter, live, nil, rule: fate.hits[0].name), .toClient, at: now)
            }
            if let end = fate.endBehind, ends.pending == nil {
                finish(with: end, live, .toClient, after: fate.lingering, at: now)
            }
        }
        connection.client?.unblock(.pipeline)
        for (bytes, direction) in [(early, Direction.toServer), (copy(rest), .toClient)] where !bytes.isEmpty {
            take(bytes.span, direction, at: now)
        }
    }

    /// 20 bytes in base64, and no client's key.
    private static let wrongAccept = "AAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// Bytes of a WebSocket.
    /// - Returns: how many were looked at before the connection had its share.
    func heard(_ bytes: Span<UInt8>, _ direction: Direction, at now: WireInstant) -> Int {
        var at = 0
        while !isOver, !hasHadItsShare, let found = socket?.feed(bytes, from: at, direction) {
            switch found {
            case .more: return bytes.count
            case .later(let next):
                at = next
                spend(InterceptedFrames.sliceLimit >> 7)
            case .message(let message, let next):
                at = next
                tape(message.raw, direction, at: now)
                heard(message, direction, at: now)
            case .control(let control, let next):
                at = next
                tape(control.raw, direction, at: now)
                heard(control, direction, at: now)
            case .piece(let piece, let next):
                at = next
                // Inflating costs more than passing on.
                spend(1 + (piece.plain?.count ?? 0) >> (piece.raw.isEmpty ? 7 : 9))
                if !piece.raw.isEmpty { tape(piece.raw, direction, at: now) }
                guard let out = socket?.piece(piece, direction) else { return at }
                add(out, direction, endsFrame: piece.endsFrame, at: now)
            }
        }
        return at
    }

    /// The peer has ended: messages that have waited for others to pass go on, and what is held of something that will never be
    /// whole goes as it came. No rule sees it.
    func passRest(_ direction: Direction, at now: WireInstant) {
        guard !isOver else { return }
        for frame in socket?.takeParked(direction) ?? [] { add(frame, direction, at: now) }
        guard let rest = socket?.takeRest(direction), !rest.isEmpty else { return }
        tape(rest, direction, at: now)
        add(rest, direction, endsFrame: false, at: now)
    }

    private func tape(_ raw: [UInt8], _ direction: Direction, at now: WireInstant) {
        node.tap?.record(.bytes, connection.id, flags: RecordFlags.direction(direction), at: now, raw.span)
    }

    private func heard(_ message: InterceptedMessage, _ direction: Direction, at now: WireInstant) {
        spend(1 + message.payload.count >> 12)
        guard let live = socket?.live else { return }
        let isMuted = mutesProtocol && direction == .toClient
        let judged = faults.judged(message.payload, message.opcode, direction, of: live, at: now)
        guard judged.isRuled || isMuted else {
            return pass(message, direction, isKeepalive: judged.isKeepalive, at: now)
        }
        let plan = faults.plan(judged, message.payload, message.opcode, of: live, on: .ws, isMuted: isMuted, at: now)
        note(plan.fates, live, at: now)
        if !plan.isOriginal { socket?.lose(message, direction) }
        for step in plan.steps { carry(step, message, direction, live, at: now) }
        release(at: now)
    }

    /// A message to which nothing has happened.
    private func pass(_ message: InterceptedMessage, _ direction: Direction, isKeepalive: Bool, at now: WireInstant) {
        if isKeepalive, (direction == .toClient ? toClient : toServer).queue.isDelayed(at: now) {
            // Nothing that waits holds it back; a compressed one would be out of its place.
            socket?.lose(message, direction)
            if let frame = socket?.frame(message.opcode, message.payload, deflated: false, direction) {
                update(direction) { $0.queue.addExpress(frame, at: now) }
            }
            return
        }
        guard let bytes = socket?.pass(message, direction) else { return }
        add(bytes, direction, at: now)
        guard socket?.isParking == true else { return }
        socket?.passed(direction)
        release(at: now)
    }

    private func carry(
        _ step: DeliveryPlan.Step, _ message: InterceptedMessage, _ direction: Direction, _ live: LiveExchange,
        at now: WireInstant
    ) {
        let isDeflated = message.isDeflated
        switch step {
        case .wait(let gap): update(direction) { $0.queue.pause(gap, at: now) }
        case .original:
            guard let bytes = socket?.pass(message, direction) else { return }
            add(bytes, direction, at: now)
            socket?.passed(direction)
        case .payload(let bytes, let opcode, let size):
            guard let frames = socket?.frame(opcode, bytes, deflated: isDeflated, size: size, direction) else { return }
            add(frames, direction, at: now)
            socket?.passed(direction)
        case .damaged(let bytes, let opcode, let damage):
            guard let frame = socket?.frame(opcode, bytes, damaged: damage, direction) else { return }
            add(frame, direction, at: now)
        case .truncated(let bytes, let opcode, let count):
            guard let frame = socket?.frame(opcode, bytes, deflated: false, direction) else { return }
            add(Array(frame.prefix(count)), direction, endsFrame: false, at: now)
        case .reorder(let bytes, let opcode, let size, let window, let patience):
            socket?.park(
                bytes, opcode, direction, isDeflated: isDeflated, size: size, window: window,
                until: now.advanced(by: patience))
        case .effects(let verdicts, let hit):
            mark(.effects(verdicts, live, direction, rule: hit.name), direction, at: now)
        case .end(let end, let after): finish(with: end, live, direction, after: after, isOfMessage: true, at: now)
        }
    }

    /// Messages that have let others pass go on.
    func release(at now: WireInstant) {
        guard let frames = socket?.takeReleased(at: now) else { return releaseEvents(at: now) }
        for (bytes, direction) in frames { add(bytes, direction, at: now) }
    }

    private func heard(_ control: InterceptedControl, _ direction: Direction, at now: WireInstant) {
        spend(1)
        guard control.opcode == 8 else {
            if direction == .toServer, let live = socket?.live { faults.control(of: live, at: now) }
            if direction == .toClient, mutesWebSocket { return }
            return update(direction) { $0.queue.addExpress(control.raw, at: now) }
        }
        guard let live = socket?.live else { return }
        let code = control.payload.count >= 2 ? UInt16(control.payload[0]) << 8 | UInt16(control.payload[1]) : nil
        let party: TapeEvent.Party = direction == .toServer ? .client : .server
        let isFirst = socket?.closedBy == nil
        if isFirst {
            guard carryEnd(faults.closing(by: direction, code: code, of: live, at: now), live, direction, at: now)
            else {
                return
            }
            socket?.closes(by: party)
            closed(party, .close(code), at: now)
        }
        add(control.raw, direction, at: now)
    }

    /// What rules say to an end.
    /// - Returns: whether it goes on.
    func carryEnd(
        _ hits: [FaultHit], _ live: LiveExchange, _ direction: Direction, at now: WireInstant
    ) -> Bool {
        guard let fate = MessageFate(hits) else { return true }
        record(hits, of: fate.end, live, at: now)
        if fate.delay > 0 { update(direction) { $0.queue.pause(fate.delay, at: now) } }
        if !fate.effectsBefore.isEmpty || !fate.effectsAfter.isEmpty {
            mark(
                .effects(fate.effectsBefore + fate.effectsAfter, live, direction, rule: hits[0].name), direction,
                at: now)
        }
        if let end = fate.end {
            finish(with: end, live, direction, after: fate.lingering, at: now)
            return false
        }
        return !fate.isDropped
    }
}
