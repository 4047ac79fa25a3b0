internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    /// Begins an attempt: negotiation, or the transport at once.
    func connect(into out: inout [ClientAction]) {
        retries.begin(at: now)
        if habits.usesStatefulReconnect, memory.isKept, token != nil { return open(into: &out) }
        memory.drop()
        let session = play.talk.session
        guard let version = habits.negotiateVersion else {
            token = nil
            return open(into: &out)
        }
        var target = session.route + "/negotiate?negotiateVersion=\(version)"
        if habits.usesStatefulReconnect { target += "&useStatefulReconnect=true" }
        phase = .negotiating
        limitOpening()
        let slot = newSlot()
        connection.turn(to: slot)
        out.append(.request(slot: slot, head("POST", target), body: [], []))
    }

    /// The answer to a negotiation.
    func negotiated(_ status: Int, _ body: [UInt8], into out: inout [ClientAction]) {
        guard status == 200, let answer = try? JSONValue(parsing: body) else { return refused(status, into: &out) }
        guard let id = (answer["connectionToken"] ?? answer["connectionId"])?.string else {
            refused += 1
            return refused(status, into: &out)
        }
        let offers = (answer["availableTransports"]?.array ?? []).compactMap { $0["transport"]?.string }
        guard offers.contains(ModelClient.name(of: habits.transport)) else { return refused(status, into: &out) }
        token = id
        turn(to: id)
        open(into: &out)
    }

    /// The ids of a drawn tape end with the session's number, which `vary` leaves alone: so the client knows which session
    /// it got, and that the one before is over for the server.
    private func turn(to id: String) {
        guard
            let got = plays.indices.first(where: {
                guard let recorded = plays[$0].talk.session.serverIDs?.token else { return false }
                return recorded.suffix(4) == id.suffix(4)
            })
        else { return }
        guard got > current else {
            guard got < current else { return }
            // What it took for the tape's ending was made by a rule, or was the silence of a stalled connection.
            let mayBeMistaken = plays[got].hasEnded || habits.serverTimeout > 0
            if !mayBeMistaken || got + 1 < current { violations.append("got session \(got) after \(current)") }
            plays[got].reopenEnd()
            current = got
            return
        }
        play.isOver = true
        if got > current + 1 { violations.append("session \(current + 1) was passed over") }
        current = got
    }

    private static func name(of transport: Transport) -> String {
        switch transport {
        case .sse: "ServerSentEvents"
        case .lp: "LongPolling"
        case .ws, .stream, .multipart, .http: "WebSockets"
        }
    }

    /// Opens the transport.
    private func open(into out: inout [ClientAction]) {
        phase = .opening
        limitOpening()
        let slot = newSlot()
        connection.turn(to: slot)
        var target = play.talk.session.route
        if let token { target += "?id=\(token)" }
        switch habits.transport {
        case .sse:
            out.append(
                .request(slot: slot, head("GET", target, [HeaderField("Accept", "text/event-stream")]), body: [], []))
        case .lp: poll(into: &out)
        case .ws, .stream, .multipart, .http:
            let headers = [
                HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket"),
                HeaderField("Sec-WebSocket-Version", "13"),
                HeaderField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]
            out.append(.request(slot: slot, head("GET", target, headers), body: [], []))
        }
    }

    /// It waits no longer for the response.
    private func limitOpening() {
        if habits.openTimeout > 0 { agenda.wait(until: now.advanced(by: habits.openTimeout)) }
    }

    func poll(into out: inout [ClientAction]) {
        guard let slot = connection.slot, let token else { return }
        let target = "\(play.talk.session.route)?id=\(token)&_=\(now.nanoseconds / 1_000_000)"
        out.append(.request(slot: slot, head("GET", target), body: [], []))
    }

    /// The transport is open: the handshake, or what a stateful reconnect goes on with.
    func opened(into out: inout [ClientAction]) {
        phase = .handshaking
        agenda.clear()
        connection.opened(at: now)
        generation += 1
        if habits.transport == .lp { poll(into: &out) }
        if memory.isKept {
            keepWhatIsCounted()
            for (payload, sayings) in memory.reopened(generation, session: current) {
                transmit(payload, sayings, into: &out)
            }
            phase = .ready
            retries.succeeded()
            return proceed(into: &out)
        }
        voice.reconnect(play.talk.session.codec.type, StreamOpening(request: head("GET", "/")))
        guard let line = play.talk.clientHandshake else { return becomeReady(into: &out) }
        for _ in 0..<handshakes(line, into: &out) { sayHandshake(into: &out) }
    }

    func sayHandshake(into out: inout [ClientAction]) {
        guard let line = play.talk.clientHandshake, let message = play.talk.lines[line].message else { return }
        let bytes = handshake(message)
        voice.greets(bytes, hubProtocol: message.content["protocol"]?.string)
        transmit(bytes, [Saying(session: current, line: line, generation: generation)], opcode: .text, into: &out)
    }

    /// The recorded handshake; version 2 asks for a stateful reconnect.
    private func handshake(_ message: Message) -> [UInt8] {
        guard habits.usesStatefulReconnect, let name = message.content["protocol"]?.string else { return message.bytes }
        return Array("{\"protocol\":\"\(name)\",\"version\":2}\u{1e}".utf8)
    }

    func becomeReady(into out: inout [ClientAction]) {
        phase = .ready
        retries.succeeded()
        connection.isNews(at: now)
        settle()
        if generation > 1 { play.reconnect(habits, &random) }
        if habits.usesStatefulReconnect { memory.begin(isBinary: voice.isBinary) }
        proceed(into: &out)
    }

    /// No connection this time.
    func refused(_ status: Int, into out: inout [ClientAction]) {
        refusals.append(status)
        if memory.isKept {
            // The server has forgotten the session: a full reconnect at once.
            settle()
            forgetSession()
            return lose(into: &out)
        }
        if status == 404, generation > 0, play.isComplete {
            // All is said, and what did not come was sent: for the server the session is over.
            phase = .leaving
            return lose(into: &out)
        }
        lose(into: &out)
    }
}
