package import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    /// Something came. Events of slots that the client has left are dropped.
    package func hear(_ event: ClientEvent, at now: WireInstant, into out: inout [ClientAction]) {
        self.now = max(self.now, now)
        guard phase != .over else { return }
        if event.slot == posts.slot { return posted(event, into: &out) }
        guard event.slot == connection.slot else { return }
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
            let slot = connection.slot
            connection.heard(at: now)
            if !body.isEmpty { hear(body, .text, into: &out) }
            if connection.slot == slot, phase != .waiting, phase != .over { poll(into: &out) }
        case .waiting, .over: break
        }
    }

    private func posted(_ event: ClientEvent, into out: inout [ClientAction]) {
        guard case .answered(_, let status, _, _) = event else {
            if case .ended = event { posts.ended() } else { posts.answered() }
            return flushPosts(into: &out)
        }
        posts.answered()
        if phase == .leaving, status == 202 { return finishLeaving(into: &out) }
        guard status == 200 else {
            refusals.append(status)
            if phase == .leaving { return }
            guard habits.transport == .sse, connection.slot != nil else { return ended("\(status)", into: &out) }
            // Real clients do not leave for that: the stream's end is on its way, on a connection of its own.
            posts.refused(until: now.advanced(by: 1_000_000_000))
            return
        }
        flushPosts(into: &out)
        if phase == .ready { proceed(into: &out) }
    }

    private func hearEvents(_ bytes: [UInt8], into out: inout [ClientAction]) {
        var at = 0
        let slot = connection.slot
        while connection.slot == slot, let data = connection.nextEvent(of: bytes, from: &at) {
            hear(data, .text, into: &out)
        }
    }

    /// Whole messages of the server.
    private func hear(_ bytes: [UInt8], _ opcode: Opcode, into out: inout [ClientAction]) {
        connection.heard(at: now)
        guard let messages = voice.read(bytes, opcode) else { return }
        let slot = connection.slot
        for message in messages {
            guard connection.slot == slot else { return }
            take(message, into: &out)
        }
        guard posts.refusedUntil == nil else { return }
        cutWhenDue(into: &out)
        if phase == .ready { proceed(into: &out) }
    }

    private func take(_ message: Message, into out: inout [ClientAction]) {
        if let violation = memory.receiving(message, at: now) {
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
            connection.isNews(at: now)
            let think = random.draw(in: habits.think)
            refused += voice.hand(message, to: &plays[current], at: now, think: think)
            connection.count()
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
