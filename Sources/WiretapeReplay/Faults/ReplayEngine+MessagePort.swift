internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
package import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// A message to the client that rules have something to say about.
package struct MessageDelivery {
    let session: SessionRun
    /// That carries the message.
    let connection: ConnectionID?
    let subject: Subject
    let fate: MessageFate
    /// What begins with the end of the connection, or once the client has the message.
    var effects: [FaultEffect] = []
    /// What is sent waits until then.
    var until: WireInstant?
    /// Whether the session goes on behind it.
    var goesOn = true
    /// What the server is to do.
    var actions: [ReplayAction] = []

    enum Subject {
        /// Of the script, which wanted it at that moment.
        case step(Int, Message, due: WireInstant)
        /// What the protocol's server says first, and which of it is the handshake.
        case greeting([(payload: [UInt8], opcode: Opcode)], Message?)
        /// A message that replay generates: a keepalive, the response to a client's keepalive, an acknowledgement, or the Sequence of a
        /// stateful reconnect. `expectsResponse`: whether the client must respond.
        case generated([UInt8], Opcode, Message, expectsResponse: Bool)
    }

    init(_ subject: Subject, _ fate: MessageFate, on connection: ConnectionID?, of session: SessionRun) {
        self.session = session
        self.connection = connection
        self.subject = subject
        self.fate = fate
    }

    /// Its number in the script.
    var step: Int? { if case .step(let step, _, _) = subject { step } else { nil } }

    /// The rules that did something to what was said, and not only to what comes behind it.
    var sayers: [FaultHit] { fate.hits.filter { $0 != fate.end?.hit || !fate.isPlain } }
}

/// How a message goes out in a replay that rules have something to say about.
extension ReplayEngine: MessagePort {
    /// - Returns: false when the session sends nothing after it for now.
    @discardableResult
    mutating func carryOut(
        _ fate: MessageFate, _ subject: MessageDelivery.Subject, of session: SessionRun, into out: inout [ReplayAction]
    ) -> Bool {
        var delivery = MessageDelivery(subject, fate, on: session.link?.connection, of: session)
        FaultExecutor.carryOut(fate, on: &delivery, by: &self)
        out += delivery.actions
        return delivery.goesOn
    }

    package mutating func wait(_ gap: UInt64, _ delivery: inout MessageDelivery) {
        switch delivery.subject {
        case .step: delivery.session.link?.faults.holds(until: now.advanced(by: gap))
        case .greeting, .generated: delivery.until = now.advanced(by: gap)
        }
    }

    package mutating func inject(_ edit: MessageEdit, _ delivery: inout MessageDelivery) {
        inject(edit, by: delivery.fate.hits, to: delivery.session, into: &delivery.actions)
    }

    package mutating func begin(_ effects: [FaultEffect], _ place: Place, _ delivery: inout MessageDelivery) {
        guard place != .after else { return delivery.effects += effects }
        for effect in effects {
            if effect == .expire, delivery.fate.end != nil {
                // A session that is forgotten and ended is known until its end.
                delivery.effects.append(effect)
            } else {
                apply(effect, on: delivery.session.link?.connection, of: delivery.session, into: &delivery.actions)
            }
        }
    }

    package mutating func takePayloads(_ delivery: inout MessageDelivery) -> [OutboundPayload] {
        let session = delivery.session
        var payloads: [OutboundPayload] = []
        var said: Message?
        switch delivery.subject {
        case .step(let step, let message, let due):
            var batch = Batch()
            append(step, message, of: session, &batch)
            session.sent(step, at: now, due: due)
            noteReady(message, of: session)
            clock.acted()
            payloads = [OutboundPayload(batch.bytes, batch.opcode)]
            said = message
        case .greeting(let greeting, let handshake):
            payloads = greeting.map { OutboundPayload($0.payload, $0.opcode) }
            said = handshake
        case .generated(let bytes, let opcode, let message, let expectsResponse):
            payloads = [OutboundPayload(bytes, opcode)]
            said = message
            // What is changed or comes late is nothing that the server waits to be answered.
            if expectsResponse, delivery.fate.edits.isEmpty, delivery.until == nil {
                session.link?.watch.asked(at: now)
            }
        }
        let transport = session.link?.transport ?? .ws
        for i in payloads.indices {
            payloads[i].change(by: delivery.fate.edits, session.recorded.codec.type, like: said, on: transport)
            if payloads[i].isChanged {
                noteGoodbye(payloads[i].bytes, payloads[i].opcode, by: delivery.fate.hits, to: session)
            } else if let said {
                noteGoodbye(said, of: session)
            }
        }
        if case .step(_, let message, _) = delivery.subject {
            for payload in payloads {
                session.link?.memory?.sending([message], payload.bytes, payload.opcode)
            }
        }
        return payloads
    }

    package mutating func send(_ payload: OutboundPayload, isCopy: Bool, _ delivery: inout MessageDelivery) {
        if let until = delivery.until {
            delivery.session.link?.faults.later.park(
                payload.bytes, payload.opcode, frameSize: payload.frameSize, window: .max, until: until)
            return delivery.session.noteChange()
        }
        say(payload, isCopy: isCopy, isPlain: false, &delivery)
    }

    package mutating func cut(_ payloads: [OutboundPayload], after count: Int, _ delivery: inout MessageDelivery) {
        if let connection = delivery.connection { delivery.actions.append(.limit(connection, bytes: count)) }
        for payload in payloads { say(payload, isCopy: false, isPlain: true, &delivery) }
        if delivery.step != nil { letPass(1, of: delivery.session, into: &delivery.actions) }
    }

    private mutating func say(
        _ payload: OutboundPayload, isCopy: Bool, isPlain: Bool, _ delivery: inout MessageDelivery
    ) {
        let steps = isCopy ? [] : [delivery.step].compactMap(\.self)
        pass(
            payload.bytes, payload.opcode, steps: steps, damage: payload.damage, isPlain: isPlain,
            frameSize: isPlain ? nil : payload.frameSize, to: delivery.session, into: &delivery.actions)
        if case .generated = delivery.subject { return }
        noteSaid(delivery.sayers, step: delivery.step, of: delivery.session, into: &delivery.actions)
    }

    package mutating func park(
        _ payload: OutboundPayload, _ reorder: MessageFate.Reorder, _ delivery: inout MessageDelivery
    ) {
        delivery.session.link?.faults.parked.park(
            payload.bytes, payload.opcode, frameSize: payload.frameSize, step: delivery.step, window: reorder.window,
            until: now.advanced(by: reorder.patience))
        delivery.session.noteChange()
        guard let step = delivery.step else { return }
        let connection = delivery.session.link?.connection
        for hit in delivery.fate.hits {
            noteFault(hit, step: step, of: delivery.session, .none, on: connection, into: &delivery.actions)
        }
    }

    package mutating func delivered(_ delivery: inout MessageDelivery) {
        if delivery.step != nil, delivery.fate.reorder == nil {
            letPass(1, of: delivery.session, into: &delivery.actions)
        }
    }

    package mutating func lose(_ delivery: inout MessageDelivery) {
        let session = delivery.session
        switch delivery.subject {
        case .step(let step, let message, let due):
            keep(step, message, of: session)
            session.sent(step, at: now, due: due)
        case .greeting: break
        case .generated: return
        }
        let connection = session.link?.connection
        for hit in delivery.fate.hits where hit != delivery.fate.end?.hit {
            noteFault(hit, step: delivery.step, of: session, .none, on: connection, into: &delivery.actions)
        }
    }

    package mutating func finish(_ end: MessageFate.End?, after gap: UInt64, _ delivery: inout MessageDelivery) {
        guard end != nil || !delivery.effects.isEmpty else { return }
        delivery.goesOn = false
        var ending = Link.Ending(
            verdict: end?.verdict, hit: end?.hit ?? delivery.fate.hits.last, effects: delivery.effects, lingering: gap,
            pause: end?.pause ?? 0, isToldAlready: end == nil)
        if delivery.fate.isLost { ending.step = delivery.step }
        if case .greeting = delivery.subject {
            // It leaves so much later.
            ending.lingering = gap.addingReportingOverflow(delivery.fate.delay).partialValue
        }
        if delivery.fate.truncated != nil, let connection = delivery.connection {
            endTruncated(ending, on: connection, of: delivery.session, into: &delivery.actions)
        } else {
            cut(delivery.session, ending, following: end.map { $0.place == .after } ?? true, into: &delivery.actions)
        }
    }
}
