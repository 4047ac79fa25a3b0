internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

extension InterceptedConnection {
    // MARK: The peers' ends

    func clientEnded(at now: WireInstant) {
        endsUnheard()
        passRest(.toServer, at: now)
        passRequest(at: now)
        connection.record(gone: .client, .fin, at: now)
        if isOver { connection.client?.halfClose() }
        if let live = socket?.live, socket?.closedBy == nil,
            !carryEnd(faults.closing(by: .toServer, code: nil, of: live, at: now), live, .toServer, at: now)
        {
            return
        }
        closed(.client, .fin, at: now)
        if toClient.queue.pacer.isStopped || isDeaf, !isOver {
            // A half-open connection that its client has left: what waits for it is nobody's.
            stopsRelaying()
            toClient.queue.clear()
            connection.client?.halfClose()
        }
        // What the client sent ahead goes before its end, each request when the answer before it is there.
        ends.clientEnded(isOwed: !isOver && !ends.toClient && !http.early.isEmpty)
        if !ends.toServer { endToServer(at: now) }
    }

    /// The server gets the client's end, and nothing behind it.
    func endToServer(at now: WireInstant) {
        ends.serverHears()
        guard connection.server != nil else {
            writeGathered()
            connection.client?.halfClose()
            return
        }
        mark(.fin, .toServer, at: now)
        update(.toServer) { $0.queue.seal() }
    }

    func serverEnded(at now: WireInstant) {
        passRest(.toClient, at: now)
        connection.record(gone: .server, .fin, at: now)
        if let live = http.live, socket == nil, !isTunnel {
            let end = http.response.serverEnds()
            passAnswer(cutBy: end, at: now)
            if http.response.head != nil, end == .endOfBody {
                node.tap?.record(
                    .bodyEnd, connection.id, flags: RecordFlags.toClient, x: http.lastX, at: now, Span())
                endOfBody(at: now)
            } else if http.response.head == nil {
                faults.failed(live, by: .server, how: .fin, at: now)
            }
        }
        if let live = socket?.live, socket?.closedBy == nil,
            !carryEnd(faults.closing(by: .toClient, code: nil, of: live, at: now), live, .toClient, at: now)
        {
            return
        }
        closed(.server, .fin, at: now)
        ends.serverEnded()
        // Nobody answers what was sent ahead.
        if ends.toServer { http.dropEarly() }
        mark(.fin, .toClient, at: now)
        connection.client?.unblock(.pipeline)
    }

    /// What carried the session's messages is over.
    func closed(_ party: TapeEvent.Party, _ how: Attempt.End.Manner, at now: WireInstant) {
        if let pending = ends.pending {
            // A server that leaves before it does not change what the client sees.
            guard party == .client else { return }
            // The fault comes too late: what it followed may have been lost.
            ends.settles()
            record(pending.end, on: pending.exchange, cut: true, isTold: ends.isTold, at: now)
        }
        let by: Attempt.End.Party = party == .client ? .client : .server
        if let live = socket?.live {
            faults.ended(live, by: by, how: how, at: now)
        } else if let live = http.live, live.framing != nil {
            faults.ended(live, by: by, how: how, at: now)
        } else if let live = http.live, http.response.head == nil {
            faults.failed(live, by: by, how: how, at: now)
        }
    }

    // MARK: Marks

    func reached(_ mark: QueueMark, _ direction: Direction, at now: WireInstant) {
        switch mark {
        case .fin: side(direction)?.halfClose()
        case .effects(let verdicts, let live, let side, let rule):
            apply(verdicts, live, side, rule: rule, at: now)
            tellEnd(of: rule, at: now)
        case .sessionEnd(let end, let live):
            // Its client may close this connection with the answer.
            held(carrying: live)?.endSession(end, live, after: InterceptedConnection.settleTime, at: now)
        case .end(let end, let live):
            // A reset never eats what was sent before it.
            if end.place == .after || end.verdict == .reset {
                awaitAcknowledged(mark, direction, at: now)
            } else {
                perform(end, live, cut: false, at: now)
            }
        }
    }

    func acknowledged(_ mark: QueueMark, isThere: Bool, at now: WireInstant) {
        if case .end(let end, let live) = mark { perform(end, live, cut: !isThere, at: now) }
    }

    /// The end that a rule wants, once what goes before it in that direction has gone. Nothing later does.
    /// - Parameter isOfMessage: whether what carried the event has gone that way since the rule fired.
    func finish(
        with end: MessageFate.End, _ live: LiveExchange, _ direction: Direction, after gap: UInt64,
        isOfMessage: Bool = false, at now: WireInstant
    ) {
        if isOfMessage { carried(by: end, direction) }
        ends.begins()
        mark(.end(end, live), direction, delay: gap, at: now)
        guard end.cutsConnections else { return }
        ends.awaits(end, of: live)
        update(direction) { $0.queue.seal() }
    }

    // MARK: Ends

    /// What a rule does before its end has begun: that is when it fires.
    func tellEnd(of rule: String, at now: WireInstant) {
        guard let pending = ends.pending, !ends.isTold, pending.end.hit.name == rule else { return }
        faults.record(pending.end.hit, on: pending.exchange, at: now)
        ends.tells()
    }

    private func perform(_ end: MessageFate.End, _ live: LiveExchange?, cut: Bool, at now: WireInstant) {
        guard !isOver else { return }
        // Else it was told when the client left before it.
        if ends.pending != nil || !end.cutsConnections {
            record(end, on: live, cut: cut, isTold: ends.isTold, at: now)
        }
        // Where a client connects there is no request yet, and whose attempt it was can only be told by the address.
        if live == nil, case .end = end.verdict.kind {
            faults.refused(connection.id, by: end.hit.name, at: now)
        }
        let wasPending = ends.pending != nil
        ends.settles()
        carryOut(end.verdict, LiveFaultSite(live, rule: end.hit.name, isEnding: wasPending, at: now))
    }

    /// Cuts the connection to both sides.
    func over(_ live: LiveExchange?, _ by: Attempt.End.Party, _ how: Attempt.End.Manner, at now: WireInstant) {
        guard !isOver else { return }
        let reset = how == .reset
        writeGathered()
        if let live { faults.ended(live, by: by, how: how, at: now) }
        connection.record(gone: .proxy, reset ? .rst : .fin, by.text, at: now)
        stopsRelaying()
        if reset {
            connection.abort()
        } else {
            toClient.queue.clear()
            toServer.queue.clear()
            connection.client?.halfClose()
            if connection.isServerConnected {
                connection.server?.halfClose()
            } else {
                connection.leaveServer()
            }
            readOn()
            sayGoodbye(at: now)
        }
    }

    /// What is put together takes too much memory: nothing more is read. A request is answered with 503, a WebSocket ends with
    /// 1009, anything else is reset.
    func refused(_ why: String, at now: WireInstant) {
        writeGathered()
        toServer.queue.clear()
        let isRequest = http.state == .request && http.request.kind == .collect && socket == nil && !isTunnel
        http.dropHeld()
        if let live = socket?.live {
            close(1009, why, live, .memory, at: now)
            _ = socket?.takeRest(.toServer)
            _ = socket?.takeRest(.toClient)
        } else if isRequest {
            http.refuses()
            say(OwnAnswer.bytes(503, why), x: http.lastX, at: now)
            leave(at: now)
        } else {
            over(http.live, .memory, .reset, at: now)
        }
    }

    func close(
        _ code: UInt16?, _ reason: String, _ live: LiveExchange?, _ by: Attempt.End.Party, at now: WireInstant
    ) {
        writeGathered()
        if let live { faults.ended(live, by: by, how: .close(code), at: now) }
        connection.record(gone: .proxy, .fin, by.text, at: now)
        if let frame = socket?.close(code, reason) {
            stopsRelaying()
            connection.client?.stream?.write(frame.span)
            if connection.isServerConnected { connection.server?.halfClose() }
            readOn()
            return sayGoodbye(at: now)
        }
        stopsRelaying()
        if let stream = http.stream {
            let last = stream.codec.closing(stream.transport)
            var bytes = http.response.isChunked ? InterceptedStream.chunk(last) : last
            if http.response.isChunked { bytes += InterceptedStream.lastChunk([]) }
            if !bytes.isEmpty { connection.client?.stream?.write(bytes.span) }
        } else if let live, let codec = faults.codec(of: live), live.kind == .poll {
            var bytes: [UInt8] = []
            HTTPHeadWriter.append(codec.answer(.pollEnd, to: live.head), keepAlive: false, into: &bytes)
            connection.client?.stream?.write(bytes.span)
        }
        connection.client?.halfClose()
        connection.leaveServer()
        sayGoodbye(at: now)
    }

    /// Nothing more is relayed; what the client is told stands in its queue already, its end behind it.
    func leave(at now: WireInstant) {
        guard !isOver else { return }
        writeGathered()
        mark(.fin, .toClient, at: now)
        update(.toClient) { $0.queue.seal() }
        // Nothing of what it said, or will say, goes on: also when the server is not there yet.
        http.refuses()
        toServer.queue.clear()
        connection.leaveServer()
        sayGoodbye(at: now)
    }

    /// What the peers still say is read, so that their ends are heard.
    private func readOn() {
        if let kept = takeKept() { lookForGoodbye(kept.span, .toServer) }
        for side in [connection.client, connection.server] {
            side?.unblock(.pipeline)
            side?.unblock(.pressure)
            side?.unblock(.fault)
        }
    }

    /// The client's answer to our close frame: both have said all.
    func lookForGoodbye(_ bytes: Span<UInt8>, _ direction: Direction) {
        guard direction == .toServer, connection.client?.sentEnd == false else { return }
        var at = 0
        while let found = socket?.feed(bytes, from: at, .toServer) {
            switch found {
            case .more: return
            case .message(_, let next), .piece(_, let next), .later(let next): at = next
            case .control(let control, let next):
                at = next
                if control.opcode == 8 { connection.client?.halfClose() }
            }
        }
    }

    /// The peers had their time.
    func goodbyeIsOver() {
        if connection.client?.sentEnd == false {
            // A close frame was not answered: FIN, and then five seconds more.
            connection.client?.halfClose()
            return sayGoodbye(at: now)
        }
        connection.abort()
    }

    // MARK: Beside the bytes

    /// What rules say to a client that has just connected.
    func accepted(_ fate: RequestFate, at now: WireInstant) {
        for hit in fate.hits {
            write(hit, at: now)
            if hit != fate.end?.hit, hit != fate.endAfter?.hit { faults.record(hit, on: nil, at: now) }
        }
        if fate.delay > 0 {
            connection.client?.block(.fault)
            last(.stall(Stall(writes: false)), for: fate.delay, at: now)
        }
        apply(fate.effectsBefore + fate.effectsAfter, nil, nil, rule: fate.hits[0].name, at: now)
        if let end = fate.end ?? fate.endAfter {
            ends.awaits(end, of: nil)
            mark(.end(end, nil), .toClient, delay: fate.delay + fate.lingering, at: now)
        }
        pump()
    }

    /// What a rule about a moment says.
    func carryOut(_ hit: FaultHit) {
        let now = now
        guard !isOver else { return }
        guard let live = socket?.live ?? http.live else { return carryOut(hit, behind: lastPoll) }
        for case .message(.inject(let edit)) in hit.actions.map(\.verdict) {
            inject(edit, by: hit.name, live, at: now)
        }
        _ = carryEnd([hit], live, .toClient, at: now)
        pump()
    }

    /// The moment comes between two polls: the next one is told.
    private func carryOut(_ hit: FaultHit, behind poll: LiveExchange?) {
        guard let poll, let fate = MessageFate([hit]) else { return }
        record([hit], of: fate.end, poll, at: now)
        let effects = fate.effectsBefore + fate.effectsAfter
        faults.await(AwaitedEnd(effects: effects, rule: hit.name, end: fate.end, lingering: fate.lingering), poll)
    }

    /// The connection ends by something that happens elsewhere: the server is away, or somebody wants it so.
    /// - Parameter exchange: what is lost with the connection, when it is under way no more.
    func cut(_ end: ConnectionEnd, by rule: String, _ exchange: LiveExchange? = nil) {
        var site = LiveFaultSite(exchange ?? socket?.live ?? http.live, rule: rule, at: now)
        self.end(end, &site)
        pump()
    }

    var mutesProtocol: Bool { muted?.coversProtocol ?? false }
    var mutesWebSocket: Bool { muted?.coversWebSocket ?? false }
}
