package import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    /// Something came. Events of slots that the client has left are dropped.
    package func hear(_ event: ClientEvent, at now: WireInstant, into out: inout [ClientAction]) {
        self.now = max(self.now, now)
        guard phase != .over else { return }
        if let postSlot, event.slot == postSlot { return posted(event, into: &out) }
        guard event.slot == mainSlot else { return }
        switch event {
        case .answered(_, let status, _, let body): answered(status, body, into: &out)
        case .upgraded:
            guard phase == .opening else { return violations.append("an upgrade in \(phase)") }
            opened(into: &out)
        case .streamOpened(_, let status):
            guard phase == .opening, habits.transport == .sse else { return violations.append("a stream in \(phase)") }
            status == 200 ? opened(into: &out) : refused(status, into: &out)
        case .streamBytes(_, let bytes): hearEvents(bytes, into: &out)
        case .message(_, let opcode, let bytes): hear(bytes, opcode, into: &out)
        case .closeFrame(let slot, let code):
            out.append(.closeFrame(slot: slot, code: code ?? 1000))
            out.append(.end(slot: slot, reset: false))
            ended("close \(code.map { "\($0)" } ?? "-")", into: &out)
        case .streamEnded: ended("end of the stream", into: &out)
        case .ended(_, let reset): ended(reset ? "reset" : "fin", into: &out)
        }
    }

    private func answered(_ status: Int, _ body: [UInt8], into out: inout [ClientAction]) {
        switch phase {
        case .negotiating: negotiated(status, body, into: &out)
        case .opening where habits.transport == .lp:
            guard status == 200 else { return refused(status, into: &out) }
            if !body.isEmpty { violations.append("the first poll brought \(body.count) bytes") }
            opened(into: &out)
        case .opening: refused(status, into: &out)
        case .handshaking, .ready, .leaving:
            guard habits.transport == .lp else { return violations.append("an answer of status \(status) in \(phase)") }
            guard status == 200 else { return ended("\(status)", into: &out) }
            let slot = mainSlot
            lastHeard = now
            if !body.isEmpty { hear(body, .text, into: &out) }
            if mainSlot == slot, phase != .waiting, phase != .over { poll(into: &out) }
        case .waiting, .over: break
        }
    }

    private func posted(_ event: ClientEvent, into out: inout [ClientAction]) {
        guard case .answered(_, let status, _, _) = event else {
            if case .ended = event { postSlot = nil }
            isPosting = false
            return flushPosts(into: &out)
        }
        isPosting = false
        if phase == .leaving, status == 202 { return finishLeaving(into: &out) }
        guard status == 200 else {
            refusals.append(status)
            if phase == .leaving { return }
            guard habits.transport == .sse, mainSlot != nil else { return ended("\(status)", into: &out) }
            // Real clients do not leave for that: the stream's end is on its way, on a connection of its own.
            isPosting = true
            refusedUntil = now.advanced(by: 1_000_000_000)
            return
        }
        flushPosts(into: &out)
        if phase == .ready { proceed(into: &out) }
    }

    private func hearEvents(_ bytes: [UInt8], into out: inout [ClientAction]) {
        var at = 0
        let slot = mainSlot
        while mainSlot == slot {
            switch events.feed(bytes.span, from: at) {
            case .more: return
            case .event(let event, let next):
                at = next
                hear(event.data, .text, into: &out)
            case .comment(_, let next), .retry(_, let next), .tooLong(let next): at = next
            }
        }
    }

    /// Whole messages of the server.
    private func hear(_ bytes: [UInt8], _ opcode: Opcode, into out: inout [ClientAction]) {
        lastHeard = now
        guard ear != nil else { return }
        var messages: [Message] = []
        ear?.decode(bytes.span, opcode, .toClient, into: &messages)
        let slot = mainSlot
        for message in messages {
            guard mainSlot == slot else { return }
            take(message, into: &out)
        }
        guard refusedUntil == nil else { return }
        cutWhenDue(into: &out)
        if phase == .ready { proceed(into: &out) }
    }

    private func take(_ message: Message, into out: inout [ClientAction]) {
        if let violation = memory?.receiving(message, at: now) {
            if !violation.isEmpty { violations.append(violation) }
            return
        }
        switch message.role {
        case .keepalive, .ack: return
        case .opaque: violations.append("unreadable: \(message.summary)")
        case .handshake: handshaken(message, into: &out)
        case .close:
            if let error = message.meaning["error"]?.string { play.error = error }
            play.heardClose(message)
        case .request, .send, .reply, .push, .part, .cancel:
            guard phase == .ready || phase == .leaving else {
                return violations.append("\(message.title) before the handshake")
            }
            lastNews = now
            refused += play.hear(message, &ids, at: now, think: random.draw(in: habits.think))
            eventCount += 1
        }
    }

    private func handshaken(_ message: Message, into out: inout [ClientAction]) {
        guard phase == .handshaking else { return violations.append("a second handshake") }
        if let error = message.meaning["error"]?.string {
            play.error = error
            return cut(.fin, into: &out)
        }
        if let line = play.talk.serverHandshake { play.note(line) }
        becomeReady(into: &out)
    }
}
