internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// Sends what is due in a session and works out when to wake next.
    mutating func advance(_ session: SessionRun, into out: inout [ReplayAction]) {
        advanceAlone(session, into: &out)
        advanceOthers(than: session, into: &out)
    }

    mutating func advanceAlone(_ session: SessionRun, into out: inout [ReplayAction]) {
        if finishSettling(session, into: &out) { return }
        guard session.isConnected, !endPatience(session, into: &out) else { return }
        release(session, into: &out)
        answerPoll(of: session, into: &out)
    }

    private mutating func release(_ session: SessionRun, into out: inout [ReplayAction]) {
        var batch = Batch()
        sending: while true {
            if session.link?.readyAt != nil, session.link?.hearing.hasStrangers == true {
                flush(&batch, of: session, into: &out)
                refuseStrangers(of: session, into: &out)
            }
            if session.link?.underWay.isFull == true {
                // Goes on when the client has taken some.
                flush(&batch, of: session, into: &out)
                session.wakeAt = nil
                return
            }
            if let held = session.link?.faults.heldUntil, held > now {
                flush(&batch, of: session, into: &out)
                session.wakeAt = held
                keepAlive(session, into: &out)
                return
            }
            if session.isStopped {
                // What falls due in a silence leaves when it is over.
                flush(&batch, of: session, into: &out)
                session.wakeAt = nil
                keepAlive(session, into: &out)
                return
            }
            let (next, open) = next(of: session)
            switch next {
            case .send(let step, let due):
                guard send(step, due: due, of: session, &batch, into: &out) else { break sending }
            case .wait(let until):
                flush(&batch, of: session, into: &out)
                session.wakeAt = until
                keepAlive(session, into: &out)
                return
            case .held, .idle:
                flush(&batch, of: session, into: &out)
                if endsHalfClosed(session, into: &out) { return }
                let expiry = session.expiry(options, elsewhere: expiry(of: open, for: session))
                if let expiry, expiry.at <= now {
                    guard expire(session, expiry.what, into: &out) else { return }
                    continue sending
                }
                session.wakeAt = expiry?.at
                keepAlive(session, into: &out)
                return
            }
        }
    }

    /// Messages of one recorded frame that leave together.
    struct Batch {
        var frame: Int?
        var opcode = Opcode.text
        var bytes: [UInt8] = []
        var steps: [Int] = []
    }

    /// One step of the script that is due.
    /// - Returns: false when the session sends nothing after it for now.
    private mutating func send(
        _ step: Int, due: WireInstant, of session: SessionRun, _ batch: inout Batch, into out: inout [ReplayAction]
    ) -> Bool {
        guard let message = session.script.message(step) else {
            flush(&batch, of: session, into: &out)
            letPass(.max, of: session, into: &out)
            let ending = session.script.ending(step) ?? .disconnect
            if let fate = judgeEnding(step, ending, of: session) {
                return carryOut(fate, ending: step, due: due, of: session, into: &out)
            }
            session.sent(step, at: now, due: due)
            end(session, with: ending, into: &out)
            return false
        }
        if let fate = judge(step, message, of: session) {
            flush(&batch, of: session, into: &out)
            return carryOut(fate, step, message, due: due, of: session, into: &out)
        }
        let isShared = session.recorded.codec.type.sharesFrames
        if !isShared || batch.frame != Int(session.script.steps[step].frame) { flush(&batch, of: session, into: &out) }
        if writer(of: session).has(message) {
            let isGreeting = session.greeting?.steps.contains(step) == true
            append(step, isGreeting ? addressed(message, to: session) : message, of: session, &batch)
            noteGoodbye(message, of: session)
        } else {
            letPass(1, of: session, into: &out)
        }
        session.sent(step, at: now, due: due)
        noteReady(message, of: session)
        return true
    }

    mutating func append(_ step: Int, _ message: Message, of session: SessionRun, _ batch: inout Batch) {
        // Not a copy of the whole link: it would be copied again by the changes below.
        guard let ids = session.link?.chains.ids, let transport = session.link?.transport else { return }
        // Only a reply can change. The call copies the cursor.
        let isReply = message.role == .reply
        let message = isReply ? session.cursor.upToDate(message, step, session.recorded.codec.type) : message
        var bytes: [UInt8] = []
        let opcode = writer(of: session).write(message, ids: ids, on: transport, into: &bytes)
        if message.role == .request, let chain = message.chain, let place = session.script.steps[step].place {
            session.link?.chains.open(chain, at: place)
            // The codec tells an answer to the server from the end of an upload by knowing what was asked.
            tell(bytes, opcode, of: session)
        }
        if message.role == .handshake { tell(bytes, opcode, of: session) }
        let live = message.chain.map { Chain(ids.live($0), origin: $0.origin) }
        session.link?.rules?.said(message, on: live)
        if message.role == .reply { answered(step, of: session) }
        session.answered(step)
        if message.role == .reply, let chain = message.chain, let place = session.script.steps[step].place {
            session.link?.chains.end(chain, at: place)
        }
        batch.frame = Int(session.script.steps[step].frame)
        batch.opcode = opcode
        batch.bytes += bytes
        batch.steps.append(step)
    }

    /// The codec that reads the client hears what the server says, where later messages need it to be understood.
    private mutating func tell(_ bytes: [UInt8], _ opcode: Opcode, of session: SessionRun) {
        var seen: [Message] = []
        session.link?.codec.decode(bytes.span, opcode, .toClient, into: &seen)
    }

    /// Hands the collected messages to the connection.
    mutating func flush(_ batch: inout Batch, of session: SessionRun, into out: inout [ReplayAction]) {
        guard !batch.steps.isEmpty else { return }
        let messages =
            session.link?.memory == nil ? [] : batch.steps.compactMap { session.script.message($0) }
        // What an earlier connection has had is not lost with this one.
        let greeted = session.link?.repeats.greeted ?? []
        let steps = greeted.isEmpty ? batch.steps : batch.steps.filter { !greeted.contains($0) }
        deliver(batch.bytes, batch.opcode, messages, steps: steps, to: session, into: &out)
        letPass(batch.steps.count, of: session, into: &out)
        clock.acted()
        batch.bytes = []
        batch.steps = []
        batch.frame = nil
    }

    private mutating func keepAlive(_ session: SessionRun, into out: inout [ReplayAction]) {
        if let own = session.keepalive(at: now, options), !session.faults.isMuted(at: now) {
            sendGenerated(own.payload, own.opcode, expectsResponse: true, to: session, into: &out)
        }
        if let next = session.link?.nextKeepalive { session.wakeAt = min(session.wakeAt ?? next, next) }
    }

    /// Where the session is, for rules.
    /// - Parameter message: what is asked about.
    func moment(of session: SessionRun, _ message: Message? = nil) -> FaultMoment {
        let (attempt, retry) = session.attemptNumbers
        var context = SelectorContext(protocolID: session.recorded.codec.id, transport: session.link?.transport)
        if let message, !rules.isEmpty { context.subscribes = session.recorded.codec.type.subscribes(message) }
        return FaultMoment(
            session: session.recorded.number, run: session.run, attempt: attempt, retry: retry,
            connection: Swift.max(1, session.generation + (!session.isConnected ? 1 : 0)), context: context,
            sinceRun: clock.sinceOrigin, sinceConnect: session.link.map { now.since($0.openedAt) },
            sinceHandshake: session.link?.readyAt.map { now.since($0) })
    }
}

/// How what is due reaches the client.
extension ReplayEngine {
    /// Gives one payload of whole messages to the client of a session, over whatever carries it. What is due at one moment
    /// on long polling goes with one poll: ``answerPoll(of:into:)`` follows.
    /// - Parameters:
    ///   - messages: those of the payload, for protocols that remember them.
    ///   - steps: those of the script that it carries; they are done once the kernel has it.
    mutating func deliver(
        _ payload: [UInt8], _ opcode: Opcode, _ messages: [Message], steps: [Int] = [], to session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        if session.link?.memory != nil { session.link?.memory?.sending(messages, payload, opcode) }
        pass(payload, opcode, steps: steps, to: session, into: &out)
    }

    /// As `deliver`, for what the protocol does not count: keepalives, acknowledgements, repetitions.
    /// - Parameters:
    ///   - damage: of the header; the frame, the chunk or the body's length is told wrong.
    ///   - isPlain: uncompressed and in one frame, because a rule cuts the message after a number of bytes.
    ///   - frameSize: the maximum byte count of a WebSocket frame. If it is nil, the recorded frame sizes apply.
    mutating func pass(
        _ payload: [UInt8], _ opcode: Opcode, steps: [Int] = [], damage: Corruption? = nil, isPlain: Bool = false,
        frameSize: Int? = nil, to session: SessionRun, into out: inout [ReplayAction]
    ) {
        guard let transport = session.link?.transport else { return }
        let connection = session.link?.connection
        let ticket = ticket()
        // A single answer leaves as a whole: nothing of it is on its way yet.
        let isGathered = session.link?.gathered != nil
        session.link?.underWay.gave(ticket, steps, bytes: isGathered ? 0 : payload.count)
        switch transport {
        case .lp:
            session.link?.polls.add(
                .init(
                    bytes: payload, opcode: opcode, ticket: ticket, messages: steps.count,
                    isLengthWrong: damage == .length))
        case .ws:
            guard let connection else { return }
            if let damage {
                out.append(.raw(connection, damage.frame(opcode, payload, mask: nil), ticket: ticket))
            } else {
                let deflated = !isPlain && isDeflated(steps, count: payload.count, of: session)
                let isSplit = session.script.hasFrameSizes && !isPlain
                let recorded = isSplit ? session.script.frameSizes(of: steps) : []
                let frames = frameSize.map { MessageFrames.atMost($0) } ?? .sizes(recorded)
                out.append(
                    .send(connection, opcode, payload, ticket: ticket, deflated: deflated, frames: frames))
            }
        case .http where isGathered:
            var piece: [UInt8] = []
            session.recorded.codec.type.frame(payload.span, on: .http, into: &piece)
            session.link?.gather(piece)
        case .sse, .stream, .multipart, .http:
            guard let connection else { return }
            var piece: [UInt8] = []
            if case .parts = session.link?.body {
                // A part may tell its length.
                let said = spoken(payload, on: connection)
                session.link?.addPart(said.span, session.recorded.codec.type, into: &piece)
            } else {
                session.recorded.codec.type.frame(payload.span, on: transport, into: &piece)
            }
            if damage == .length {
                let length = String(piece.count + 1, radix: 16)
                out.append(.raw(connection, Array("\(length)\r\n".utf8) + piece + [13, 10], ticket: ticket))
            } else {
                out.append(.piece(connection, piece, ticket: ticket))
            }
        }
    }

    /// All bytes of that send are in the kernel, and so are those of every send before it on the connection.
    package mutating func handedOver(
        _ connection: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.reach(now)
        exchanges.handedOver(connection, ticket)
        if let session = peers[connection]?.trails, session.trailing?.connection == connection {
            guard session.trailingHandedOver(ticket) else { return }
            peers.endTrail(connection)
            return
        }
        guard let session = peers[connection]?.session ?? peers[connection]?.carried, session.isConnected else {
            return
        }
        let wasFull = session.link?.underWay.isFull ?? false
        session.link?.underWay.handedOver(ticket)
        if session.link?.transport == .lp { session.link?.polls.handedOver(ticket) }
        if wasFull && session.link?.underWay.isFull == false || session.link?.halfClosedAt != nil {
            advance(session, into: &out)
        }
    }
}
