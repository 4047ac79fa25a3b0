package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

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
    ///   - isPlain: never compressed, since it is cut at a place of its bytes.
    mutating func pass(
        _ payload: [UInt8], _ opcode: Opcode, steps: [Int] = [], damage: Corruption? = nil, isPlain: Bool = false,
        to session: SessionRun,
        into out: inout [ReplayAction]
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
                out.append(.send(connection, opcode, payload, ticket: ticket, deflated: deflated))
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

    /// Answers the poll that waits with what is due: all of it, unless the protocol has other rules.
    /// - Parameter isNew: the poll has just come, and what is due was there before it.
    mutating func answerPoll(of session: SessionRun, isNew: Bool = false, into out: inout [ReplayAction]) {
        guard session.link?.transport == .lp, let polls = session.link?.polls, !polls.queue.isEmpty,
            let head = polls.waiting, let connection = session.link?.connection
        else { return }
        let isFirstOnly = !isNew && session.recorded.codec.type.polling?.answersFirst == true
        let isOne = isFirstOnly || !writer(of: session).joinsPayloads
        guard let body = session.link?.polls.takeBody(isOne: isOne), let last = body.last else { return }
        let acknowledgement = session.link?.polls.takeAcknowledgement()
        let answer = answer(.poll(body.flatMap(\.bytes), last.opcode), head, of: session)
        let isLengthWrong = body.contains(where: \.isLengthWrong)
        finishPoll(of: session, with: answer, ticket: last.ticket, isLengthWrong: isLengthWrong, into: &out)
        guard let acknowledgement else { return }
        out.append(.awaitAcknowledged(connection, ticket: acknowledgement))
    }

    /// Gives the poll that waits its answer; the session goes on without one.
    mutating func finishPoll(
        of session: SessionRun, with answer: HTTPAnswer, ticket: UInt64? = nil, isLengthWrong: Bool = false,
        into out: inout [ReplayAction]
    ) {
        guard let connection = session.link?.connection,
            let poll = session.link?.polls.finish(on: connection, at: now)
        else { return }
        session.link?.waitsForPoll()
        peers.answered(connection, pollOf: session)
        if poll.isBegun {
            if !answer.body.isEmpty { out.append(.piece(connection, answer.body, ticket: ticket ?? self.ticket())) }
            out.append(.endStream(connection))
        } else if isLengthWrong {
            out.append(.raw(connection, ReplayEngine.tooLong(answer.readable(by: poll.head)), ticket: ticket))
        } else {
            out.append(.respond(connection, answer.readable(by: poll.head), thenClose: false, ticket: ticket))
        }
        noteAnswered(on: connection, of: session, into: &out)
        if let hit = poll.hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
    }

    /// An answer whose length is told one byte too large.
    private static func tooLong(_ answer: HTTPAnswer) -> [UInt8] {
        let length = HeaderField("Content-Length", "\(answer.body.count + 1)")
        let reason = answer.reason.isEmpty ? statusText(answer.status) : answer.reason
        var bytes: [UInt8] = []
        HTTPHeadWriter.append(
            ResponseHead(status: answer.status, reason: reason, headers: answer.headers + [length]), into: &bytes)
        return bytes + answer.body
    }

    /// All bytes of that send are in the kernel, and so are those of every send before it on the connection.
    package mutating func handedOver(
        _ connection: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.reach(now)
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
        if wasFull, session.link?.underWay.isFull == false { advance(session, into: &out) }
    }
}
