internal import WiretapeBytes
internal import WiretapeFaults
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

    mutating func judge(_ greeting: Greeting, of r: Int) -> MessageFate? {
        guard !rules.isEmpty, let handshake = greeting.handshake else { return nil }
        let moment = moment(of: r, handshake)
        return rules.judge(handshake, ordinal: 1, moment)
    }

    /// Says the greeting as the rules want it. A poll has not come yet: it gets all of that.
    mutating func greet(
        _ greeting: Greeting, _ fate: MessageFate?, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]
    ) {
        guard let fate else {
            for one in greeting.payloads { pass(one.payload, one.opcode, to: r, into: &out) }
            return
        }
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: r), cut: false) }
        for effect in fate.effectsBefore { apply(effect, on: runs[r].link?.connection, of: r, into: &out) }
        for hit in fate.hits where fate.isLost && hit != fate.end?.hit { noteFault(hit, .none, on: c, into: &out) }
        for edit in fate.injectedBefore { inject(edit, by: fate.hits, to: r, into: &out) }
        if let count = fate.truncated { out.append(.limit(c, bytes: count)) }
        if !fate.isLost && fate.end?.place != .before || fate.truncated != nil {
            for one in greeting.payloads { say(one, fate, greeting.handshake, to: r, into: &out) }
        }
        for edit in fate.injectedAfter { inject(edit, by: fate.hits, to: r, into: &out) }
        let wait = fate.delay.addingReportingOverflow(fate.pause).partialValue
        if wait > 0 { runs[r].link?.faults.heldUntil = now.advanced(by: min(wait, Delay.longest)) }
    }

    private mutating func say(
        _ one: (payload: [UInt8], opcode: Opcode), _ fate: MessageFate, _ handshake: Message?, to r: Int,
        into out: inout [ReplayAction]
    ) {
        var (bytes, opcode) = one
        let damage = edit(&bytes, &opcode, by: fate.edits, like: handshake, of: r)
        if let reorder = fate.reorder {
            runs[r].link?.faults.passed.append(
                .init(
                    step: nil, bytes: bytes, opcode: opcode, left: reorder.window,
                    until: now.advanced(by: reorder.patience)))
            return runs[r].noteChange()
        }
        for copy in 0...fate.copies {
            if fate.delay > 0 {
                let until = now.advanced(by: fate.delay)
                runs[r].link?.faults.later.append(.init(until: until, bytes: bytes, opcode: opcode))
            } else {
                let isCut = fate.truncated != nil
                pass(bytes, opcode, damage: copy == 0 ? damage : nil, isPlain: isCut, to: r, into: &out)
                noteSaid(fate.hits.filter { $0 != fate.end?.hit || !fate.isPlain }, step: nil, of: r, into: &out)
            }
        }
        if fate.delay > 0 { runs[r].noteChange() }
    }

    /// The end behind the greeting, or what lasts from there on.
    /// - Returns: whether nothing more is said for now.
    mutating func finish(
        _ fate: MessageFate, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]
    ) -> Bool {
        guard fate.end != nil || !fate.effectsAfter.isEmpty else { return false }
        let lingering = fate.lingering.addingReportingOverflow(fate.delay).partialValue
        let ending = Link.Ending(
            verdict: fate.end?.verdict, hit: fate.end?.hit ?? fate.hits.last, effects: fate.effectsAfter,
            lingering: lingering, isToldAlready: fate.end == nil)
        if fate.truncated != nil {
            endTruncated(ending, on: c, of: r, into: &out)
        } else {
            cut(r, ending, following: !fate.isLost && fate.end?.place != .before, into: &out)
        }
        return true
    }
}
