internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to the handshake that replay makes itself, for protocols whose scripts do not have it.
extension ReplayEngine {
    /// What the server says first on a connection.
    struct Greeting {
        var payloads: [(payload: [UInt8], opcode: Opcode)]
        /// Nil: the protocol greets this client without one.
        var handshake: Message?

        init(_ payloads: [(payload: [UInt8], opcode: Opcode)], _ head: RequestHead, _ type: any FrameCodec.Type) {
            self.payloads = payloads
            var reader = type.init(StreamOpening(request: head))
            var messages: [Message] = []
            for one in payloads { reader.decode(one.payload.span, one.opcode, .toClient, into: &messages) }
            handshake = messages.first { $0.role == .handshake }
        }
    }

    mutating func judge(_ greeting: Greeting, of session: SessionRun) -> MessageFate? {
        guard !rules.isEmpty, let handshake = greeting.handshake else { return nil }
        let moment = moment(of: session, handshake)
        return rules.judge(handshake, ordinal: 1, moment)
    }

    /// Says the greeting as the rules want it. A poll has not come yet: it gets all of that.
    mutating func greet(
        _ greeting: Greeting, _ fate: MessageFate?, on connection: ConnectionID, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        guard let fate else {
            for one in greeting.payloads { pass(one.payload, one.opcode, to: session, into: &out) }
            return
        }
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: session), cut: false) }
        var delivery = MessageDelivery(
            .greeting(greeting.payloads, greeting.handshake), fate, on: connection, of: session)
        FaultExecutor.deliver(fate, on: &delivery, by: &self)
        out += delivery.actions
        let wait = fate.delay.addingReportingOverflow(fate.pause).partialValue
        if wait > 0 { session.link?.faults.holds(until: now.advanced(by: min(wait, Delay.longest))) }
    }

    /// The end behind the greeting, or what lasts from there on.
    /// - Returns: whether nothing more is said for now.
    mutating func finish(
        _ fate: MessageFate, _ greeting: Greeting, on connection: ConnectionID, of session: SessionRun,
        into out: inout [ReplayAction]
    ) -> Bool {
        var delivery = MessageDelivery(
            .greeting(greeting.payloads, greeting.handshake), fate, on: connection, of: session)
        FaultExecutor.conclude(fate, on: &delivery, by: &self)
        out += delivery.actions
        return !delivery.goesOn
    }
}
