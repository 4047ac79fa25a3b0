internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
package import WiretapeProtocol
package import WiretapeWire

extension LiveFaults {
    /// A whole payload of a session: reads its messages, asks the rules about each, and has what they want carried out.
    /// - Parameters:
    ///   - exchange: the request that opened the WebSocket or event stream, or whose body or answer this is.
    ///   - transport: what carries the payload.
    ///   - isMuted: the protocol's keepalives to the client are left out.
    package func payload(
        _ payload: [UInt8], _ opcode: Opcode, _ direction: Direction, of exchange: LiveExchange,
        on transport: Transport, isMuted: Bool = false, at now: WireInstant
    ) -> DeliveryPlan {
        let judged = judged(payload, opcode, direction, of: exchange, at: now)
        return plan(judged, payload, opcode, of: exchange, on: transport, isMuted: isMuted, at: now)
    }

    /// What becomes of a payload of which the rules have been asked: the second half of ``payload(_:_:_:of:on:isMuted:at:)``.
    package func plan(
        _ judged: JudgedPayload, _ payload: [UInt8], _ opcode: Opcode, of exchange: LiveExchange,
        on transport: Transport, isMuted: Bool, at now: WireInstant
    ) -> DeliveryPlan {
        guard let codec = codec(of: exchange) else { return DeliveryPlan(untouched: judged) }
        // The codec is copied only if a rule fired.
        let session = judged.allFates.isEmpty ? nil : exchange.carrier?.codec
        let plan = DeliveryPlan(judged, payload, opcode, codec, in: session, on: transport, isMuted: isMuted)
        if judged.messages.first?.direction == .toClient, let rule = plan.fates.first?.hits.first?.name {
            for case .payload(let bytes, let opcode, _) in plan.steps {
                sends(bytes, opcode, by: rule, of: exchange, at: now)
            }
        }
        return plan
    }

    /// A rule sends the client a message that nobody sent, or that it changed.
    package func sends(
        _ payload: [UInt8], _ opcode: Opcode, by rule: String, of exchange: LiveExchange, at now: WireInstant
    ) {
        guard let carrier = exchange.carrier, carrier === carrier.session.carrier,
            carrier.codec?.endsForGood(payload.span, opcode) == true
        else { return }
        carrier.session.saidGoodbye(by: .fault(rule), at: now)
    }

    /// Reads the messages of a payload, and asks the rules about each: the first half of ``payload(_:_:_:of:on:isMuted:at:)``.
    package func judged(
        _ payload: [UInt8], _ opcode: Opcode, _ direction: Direction, of exchange: LiveExchange, at now: WireInstant
    ) -> JudgedPayload {
        guard let carrier = carrier(of: exchange, at: now) else { return JudgedPayload() }
        if !carrier.isRead { identify(carrier, payload, direction) }
        var messages: [Message] = []
        carrier.decode(payload.span, opcode, direction, into: &messages)
        if direction == .toServer {
            for i in messages.indices {
                let role = messages[i].role
                carrier.session.heard(isKeepalive: role == .keepalive || role == .ack, at: now)
            }
        }
        var judged = JudgedPayload(messages)
        // By their places in the span: a message is not copied for it.
        let span = messages.span
        for i in span.indices { judged.judge(i, judge(span[i], carrier, at: now)) }
        if carrier === carrier.session.lost { carrier.session.speech.lost() }
        return judged
    }

    /// A ping or pong of the client's WebSocket.
    package func control(of exchange: LiveExchange, at now: WireInstant) {
        exchange.session?.heard(isKeepalive: true, at: now)
    }

    /// The whole body of a request that may carry messages.
    package func carries(_ body: [UInt8], _ exchange: LiveExchange) { exchange.opening.requestBody = body }

    /// The codec that reads the exchange's payloads: the session's own, or the one that knows the request.
    package func codec(of exchange: LiveExchange) -> (any FrameCodec.Type)? {
        (exchange.carrier?.entry ?? exchange.entry)?.type
    }

    /// Encodes a message that a rule adds for the client.
    package func added(_ edit: MessageEdit, to exchange: LiveExchange) -> (payload: [UInt8], opcode: Opcode)? {
        guard let codec = codec(of: exchange) else { return nil }
        var opcode = Opcode.text
        let bytes = edit.apply(to: [], &opcode, codec, like: nil, in: exchange.carrier?.codec)
        return (bytes, opcode)
    }

    private func carrier(of exchange: LiveExchange, at now: WireInstant) -> LiveCarrier? {
        if let carrier = exchange.carrier { return carrier }
        guard let entry = exchange.entry, let session = exchange.session else { return nil }
        if exchange.kind == .send {
            // It was on its way when its connection ended: it is heard, and begins nothing.
            if let lost = session.lost, let key = lost.key, key == entry.type.sessionKey(exchange.opening) {
                return lost
            }
            if isLate(exchange, session) { return nil }
        }
        // What looked like an operation may turn out to be none with its body.
        if exchange.kind == .operation, entry.type.claim(exchange.opening) < .likely { return nil }
        // Servers may hold the first poll until the client has spoken.
        carry(exchange, entry, exchange.kind == .send ? .lp : exchange.transport, at: now)
        return exchange.carrier
    }

    private func identify(_ carrier: LiveCarrier, _ payload: [UInt8], _ direction: Direction) {
        var opening = carrier.opening
        if direction == .toServer { opening.firstPayload = Array(payload.prefix(64 << 10)) }
        var best: (entry: CodecEntry, claim: Confidence)?
        for entry in codecs {
            let claim = entry.type.claim(opening)
            if claim > best?.claim ?? .no { best = (entry, claim) }
        }
        if let entry = best?.entry ?? codecs.last { adopt(entry, carrier) }
    }

    private func judge(_ message: borrowing Message, _ carrier: LiveCarrier, at now: WireInstant) -> MessageFate? {
        let session = carrier.session
        // Keepalives come when they will: they must not move the draws of what follows.
        if message.role != .keepalive, message.role != .ack {
            if message.direction == .toServer { session.toServer += 1 } else { session.toClient += 1 }
        }
        let ordinal = message.direction == .toServer ? session.toServer : session.toClient
        if message.role == .keepalive, !reach.namesKeepalives { return nil }
        if !reach.labels.isEmpty { names.add(message) }
        let subscribes = message.direction == .toServer && carrier.entry?.type.subscribes(message) ?? false
        guard reach.concerns(message) else {
            hear(message, of: carrier, arrives: message.direction == .toServer || !carrier.isCut)
            noteGoodbye(message, of: carrier, at: now)
            becomeReady(carrier, with: message, at: now)
            return nil
        }
        var moment = moment(of: session, carrier, at: now)
        if message.direction == .toClient, message.role == .handshake, moment.sinceHandshake == nil {
            moment.sinceHandshake = 0
        }
        moment.context.subscribes = subscribes
        let hits = engine.message(message, ordinal: ordinal, moment)
        let fate = hits.isEmpty ? nil : MessageFate(hits)
        let arrives = fate.map { !$0.isLost && $0.end?.place != .before } ?? true
        hear(message, of: carrier, arrives: arrives && (message.direction == .toServer || !carrier.isCut))
        let isChanged = fate?.edits.contains { if case .fragment = $0 { false } else { true } } ?? false
        if arrives, !isChanged { noteGoodbye(message, of: carrier, at: now) }
        if message.direction == .toClient, fate?.end != nil { carrier.isCut = true }
        // A handshake that the client never gets leaves the attempt without success.
        if arrives { becomeReady(carrier, with: message, at: now) }
        return fate
    }

    /// A message passes as it is.
    private func noteGoodbye(_ message: Message, of carrier: LiveCarrier, at now: WireInstant) {
        guard message.role == .close, carrier === carrier.session.carrier else { return }
        switch message.direction {
        case .toServer: carrier.session.saidGoodbye(by: .client, at: now)
        case .toClient:
            guard carrier.entry?.type.endsForGood(message) == true, !carrier.isCut else { return }
            carrier.session.saidGoodbye(by: .server, at: now)
        }
    }

    private func hear(_ message: Message, of carrier: LiveCarrier, arrives: Bool) {
        let type = message.direction == .toServer ? carrier.entry?.type : nil
        let subscribes: Bool? = if let type { type.isSubscription(message) } else { false }
        carrier.session.speech.passed(
            message, subscribes: subscribes, isWatched: subscribers.contains(message), arrives: arrives)
    }

    /// The protocol is ready with its server's handshake, or with the first payload where it has none.
    private func becomeReady(_ carrier: LiveCarrier, with message: Message, at now: WireInstant) {
        guard carrier.readyAt == nil else { return }
        let isGreeted = message.direction == .toClient && message.role != .keepalive
        guard isGreeted || carrier.entry?.type.preamble.isEmpty == true else { return }
        carrier.readyAt = now
        begin(.handshake, of: carrier, at: now)
        carrier.session.connected(at: now)
    }
}
