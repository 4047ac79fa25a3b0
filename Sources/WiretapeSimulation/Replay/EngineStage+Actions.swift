internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeWire

/// What the engine wants done, held to what a server can do.
extension EngineStage {
    func perform() {
        while !actions.isEmpty {
            var batch = actions
            actions = []
            if mutant != nil { batch = tampered(batch) }
            for action in batch { perform(action) }
        }
    }

    private func tampered(_ batch: [ReplayAction]) -> [ReplayAction] {
        mutant?.tampered(batch) { c in
            let wire = wires[Int(c)]
            let referee = referees[wire.client][wire.session]
            let waiting = referee.talk.lines.indices.first { line in
                let step = referee.talk.lines[line]
                return step.role == .push && step.opener == nil && !referee.isFree(line)
            }
            let other = wires.indices.first { wires[$0].client != wire.client && wires[$0].isOpenSocket }
            return EngineMutant.Facts(
                client: wire.client, generation: referee.generation,
                waiting: waiting.flatMap { referee.talk.lines[$0].message },
                isTapesEnd: wire.isUpgraded && isTapesEnd(c), other: other.map(ConnectionID.init))
        } delay: { action in
            queue.add(.delayed(action), at: now.advanced(by: 1_000_000))
        } ?? batch
    }

    /// Whether nothing but the tape explains an end of the connection now.
    private func isTapesEnd(_ c: ConnectionID) -> Bool {
        let wire = wires[Int(c)]
        guard !wire.saidClose, !hasFaults, divergences == 0 else { return false }
        let play = clients[wire.client].plays[wire.session]
        let isLeaving = clients[wire.client].phase == .leaving || clients[wire.client].phase == .over
        return !play.farewellSaid && !play.isOver && !isLeaving
    }

    func perform(_ action: ReplayAction) {
        switch action {
        case .log(let text):
            logs.append(text)
            tell { "- \(text)" }
            if text.hasPrefix("wiretape: diverged") || text.hasPrefix("wiretape: still waiting") { divergences += 1 }
            return
        case .respond(let c, let answer, let thenClose, let ticket): respond(c, answer, thenClose, ticket)
        case .upgrade(let c, _, _, _):
            guard settle(c, "an upgrade") else { return }
            wires[Int(c)].isUpgraded = true
            wires[Int(c)].session = session(of: c)
            referees[wires[Int(c)].client][session(of: c)].connected(at: now)
            accounts[wires[Int(c)].client][session(of: c)].opened(c, at: now)
            send(c, .upgraded(slot: wires[Int(c)].slot))
        case .beginStream(let c, let answer):
            guard settle(c, "a stream") else { return }
            wires[Int(c)].isStreaming = true
            wires[Int(c)].session = session(of: c)
            referees[wires[Int(c)].client][session(of: c)].connected(at: now)
            accounts[wires[Int(c)].client][session(of: c)].opened(c, at: now)
            send(c, .streamOpened(slot: wires[Int(c)].slot, status: answer.status))
            if !answer.body.isEmpty { send(c, .streamBytes(slot: wires[Int(c)].slot, answer.body)) }
        case .piece(let c, let bytes, let ticket):
            guard isUsable(c, wires[Int(c)].isStreaming, "a piece") else { return }
            let payload = EngineStage.payload(of: bytes)
            send(c, .streamBytes(slot: wires[Int(c)].slot, bytes), ticket, judged(c, payload, .text))
        case .endStream(let c):
            guard isUsable(c, wires[Int(c)].isStreaming, "the end of a stream") else { return }
            wires[Int(c)].isStreaming = false
            accounts[wires[Int(c)].client][wires[Int(c)].session].serverEnded(c, nil, at: now)
            let line = ended(c, nil)
            send(c, .streamEnded(slot: wires[Int(c)].slot), ending: line)
        case .send(let c, let opcode, let bytes, let ticket, _, _):
            guard isUsable(c, wires[Int(c)].isUpgraded, "a message") else { return }
            send(c, .message(slot: wires[Int(c)].slot, opcode, bytes), ticket, judged(c, bytes, opcode))
        case .closeFrame(let c, let code, let reason):
            guard isUsable(c, wires[Int(c)].isUpgraded, "a close frame") else { return }
            accounts[wires[Int(c)].client][wires[Int(c)].session].serverEnded(c, .close(code), at: now)
            let line = ended(c, .close(code: code, reason: reason))
            send(c, .closeFrame(slot: wires[Int(c)].slot, code: code), ending: line)
            wires[Int(c)].isEnding = true
            over(c)
        case .disconnect(let c):
            guard isUsable(c, true, "a FIN") else { return }
            accounts[wires[Int(c)].client][wires[Int(c)].session].serverEnded(c, .fin, at: now)
            let line = endedHere(c, .disconnect)
            send(c, .ended(slot: wires[Int(c)].slot, reset: false), ending: line)
            wires[Int(c)].isEnding = true
            over(c)
        case .reset(let c):
            // Of a connection that we have ended: what is queued before that end is dropped.
            if wires[Int(c)].isEnding { return neverTaken(c) }
            guard isUsable(c, true, "an RST") else { return }
            accounts[wires[Int(c)].client][wires[Int(c)].session].serverEnded(c, .reset, at: now)
            _ = endedHere(c, .reset)
            neverTaken(c)
            send(c, .ended(slot: wires[Int(c)].slot, reset: true))
            over(c)
        case .awaitAcknowledged(let c, let ticket): enqueue(c, StageItem(event: nil, ticket: ticket))
        case .note: break
        case .passThrough: problems.append("pass-through without an upstream")
        case .stall(let c, let reads, let writes): stall(c, reads: reads, writes: writes)
        case .hold(let c, let time):
            wires[Int(c)].lastTaken = max(wires[Int(c)].lastTaken, now.advanced(by: time))
        case .raw, .limit, .pace, .mute: problems.append("\(action), which no rule here asks for")
        }
    }

    private func respond(_ c: ConnectionID, _ answer: HTTPAnswer, _ thenClose: Bool, _ ticket: UInt64?) {
        guard settle(c, "an answer") else { return }
        if wires[Int(c)].isPlain {
            if let ticket { engine.handedOver(c, ticket: ticket, at: now, into: &actions) }
            return
        }
        var lines: [Int] = []
        if isPoll(c), answer.status == 200, !answer.body.isEmpty { lines = judged(c, answer.body, .text) }
        if isPoll(c), answer.status == 204 { _ = ended(c, nil) }
        digest.combine(UInt64(answer.status))
        for byte in answer.body { digest.combine(byte) }
        let slot = wires[Int(c)].slot
        send(
            c, .answered(slot: slot, status: answer.status, headers: answer.headers, body: answer.body), ticket, lines)
        guard thenClose else { return }
        send(c, .ended(slot: slot, reset: false))
        over(c)
    }

    private func isPoll(_ c: ConnectionID) -> Bool {
        guard let head = wires[Int(c)].asked else { return false }
        return head.method == "GET" && clients[wires[Int(c)].client].habits.transport == .lp
    }

    /// A request gets exactly one answer.
    private func settle(_ c: ConnectionID, _ what: String) -> Bool {
        guard isUsable(c, wires[Int(c)].isAsked, what) else { return false }
        wires[Int(c)].isAsked = false
        return true
    }

    /// What is done on a connection that the client has ended is a legal drop; on one that the engine has ended it is not.
    private func isUsable(_ c: ConnectionID, _ condition: Bool, _ what: String) -> Bool {
        let wire = wires[Int(c)]
        if wire.isTold {
            queue.add(.wasGone(c), at: now.advanced(by: wire.latency))
            return false
        }
        if !condition || wire.isOver { problems.append("\(what) on connection \(c), which is not in that state") }
        return condition && !wire.isOver
    }

    /// Of the client's sessions, the one that a connection belongs to before anything was said on it.
    private func session(of c: ConnectionID) -> Int { clients[wires[Int(c)].client].current }

    private func judged(_ c: ConnectionID, _ bytes: [UInt8], _ opcode: Opcode) -> [Int] {
        let wire = wires[Int(c)]
        let session = isPoll(c) || wire.isStreaming ? session(of: c) : wire.session
        wires[Int(c)].session = session
        digest.combine(now.nanoseconds)
        digest.combine(UInt64(c))
        for byte in bytes { digest.combine(byte) }
        forgive(wire.client, session)
        tellHeld(wire.client, session)
        let lines = referees[wire.client][session].sent(bytes, opcode, at: now)
        checkCauses(of: lines, wire.client, session)
        return lines
    }

    /// The referee hears which lines wait for other connections.
    private func tellHeld(_ k: Int, _ session: Int) {
        guard causes.areKnown else { return }
        referees[k][session].terms.heldElsewhere = causes.held(client: k, session: session, referees, polls: polls)
    }

    /// No effect before its cause.
    private func checkCauses(of lines: [Int], _ k: Int, _ session: Int) {
        guard causes.areKnown else { return }
        let referee = referees[k][session]
        for line in lines where !referee.talk.lines[line].isOptional {
            let open = causes.open(before: line, client: k, session: session, referees, polls: polls, isSure: true)
            problems += open.map { "session \(referee.talk.session.number): \(referee.name(line)) left before \($0)" }
        }
    }

    /// The clients that use long polling.
    private var polls: Set<Int> { Set(clients.indices.filter { clients[$0].habits.transport == .lp }) }

    /// The engine ends a TCP connection.
    private func endedHere(_ c: ConnectionID, _ ending: RecordedSession.Ending) -> Int? {
        if isPoll(c) { return ended(c, nil) }
        return wires[Int(c)].isUpgraded || wires[Int(c)].isStreaming ? ended(c, ending) : nil
    }

    /// The engine ends the connection of a session: as the tape has it, unless something else explains it.
    /// - Returns: the line of the ending.
    private func ended(_ c: ConnectionID, _ ending: RecordedSession.Ending?) -> Int? {
        let wire = wires[Int(c)]
        if hasFaults { tellTakenAway(wire.client, wire.session) }
        guard isTapesEnd(c) else { return nil }
        forgive(wire.client, wire.session)
        tellHeld(wire.client, wire.session)
        let line = referees[wire.client][wire.session].ended(ending, at: now)
        checkCauses(of: line.map { [$0] } ?? [], wire.client, wire.session)
        return line
    }

    private func over(_ c: ConnectionID) {
        wires[Int(c)].isOver = true
        loseKept(c)
    }

    /// What a rule took away instead of letting it pass: the client need not wait for it.
    func tellTakenAway(_ k: Int, _ s: Int) {
        var copy = engine
        let talk = clients[k].plays[s].talk
        let lines = talk.lines.indices.filter { talk.lines[$0].direction == .toClient }
        for firing in copy.finish(at: now).faults where firing.session == talk.session.number {
            let rule = engine.faults.rules.first { $0.name == firing.rule }
            guard rule?.place == .instead, let n = firing.message, lines.indices.contains(n - 1) else { continue }
            clients[k].lost(.heard(lines[n - 1]), session: s)
        }
    }

    // MARK: Towards the client

    private func send(
        _ c: ConnectionID, _ event: ClientEvent, _ ticket: UInt64? = nil, _ lines: [Int] = [], ending: Int? = nil
    ) {
        enqueue(c, StageItem(event: event, ticket: ticket, lines: lines, ending: ending))
    }

    private func enqueue(_ c: ConnectionID, _ item: StageItem) {
        let i = Int(c)
        wires[i].untaken.append(item)
        wires[i].lastTaken = max(wires[i].lastTaken, now.advanced(by: random.draw(in: weather.taking)))
        queue.add(.taken(c), at: wires[i].lastTaken)
    }

    /// The kernel has the next thing.
    func take(_ c: ConnectionID) {
        let i = Int(c)
        guard !wires[i].untaken.isEmpty, !wires[i].isStopped else { return }
        let item = wires[i].untaken.removeFirst()
        referees[wires[i].client][wires[i].session].taken(item.lines)
        if item.event != nil, let ticket = item.ticket {
            mutant?.taken(c, ticket: ticket)
            engine.handedOver(c, ticket: ticket, at: now, into: &actions)
            perform()
        }
        wires[i].lastDown = max(wires[i].lastDown, now.advanced(by: wires[i].latency))
        queue.add(.delivered(c, item), at: wires[i].lastDown)
    }

    func deliver(_ c: ConnectionID, _ item: StageItem) {
        let i = Int(c)
        let k = wires[i].client
        guard let event = item.event else {
            guard let ticket = item.ticket else { return }
            let complete = wires[i].isHeard
            queue.add(.acknowledged(c, ticket: ticket, complete: complete), at: now.advanced(by: wires[i].latency))
            return
        }
        tell { "\(k) < \(c) \(wires[i].isHeard ? "" : "LOST ")\(event.words)" }
        guard wires[i].isHeard else {
            for line in item.lines { clients[k].lost(.heard(line), session: wires[i].session) }
            return
        }
        var out: [ClientAction] = []
        clients[k].hear(event, at: now, into: &out)
        act(k, out)
    }

    /// The data of an event.
    private static func payload(of bytes: [UInt8]) -> [UInt8] {
        var reader = SSEReader()
        var at = 0
        var data: [UInt8] = []
        while true {
            switch reader.feed(bytes.span, from: at) {
            case .more: return data
            case .event(let event, let next):
                data += event.data
                at = next
            case .comment(_, let next), .retry(_, let next), .tooLong(let next): at = next
            }
        }
    }
}
