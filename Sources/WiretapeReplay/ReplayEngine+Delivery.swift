package import WiretapeBytes
internal import WiretapeFaults
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
        _ payload: [UInt8], _ opcode: Opcode, _ messages: [Message], steps: [Int] = [], to r: Int,
        into out: inout [ReplayAction]
    ) {
        if runs[r].link?.memory != nil { runs[r].link?.memory?.sending(messages, payload, opcode) }
        pass(payload, opcode, steps: steps, to: r, into: &out)
    }

    /// As `deliver`, for what the protocol does not count: keepalives, acknowledgements, repetitions.
    /// - Parameters:
    ///   - damage: of the header; the frame, the chunk or the body's length is told wrong.
    ///   - isPlain: never compressed, since it is cut at a place of its bytes.
    mutating func pass(
        _ payload: [UInt8], _ opcode: Opcode, steps: [Int] = [], damage: Corruption? = nil, isPlain: Bool = false,
        to r: Int,
        into out: inout [ReplayAction]
    ) {
        guard let transport = runs[r].link?.transport else { return }
        let connection = runs[r].link?.connection
        let ticket = ticket()
        // A single answer leaves as a whole: nothing of it is on its way yet.
        let isGathered = runs[r].link?.gathered != nil
        runs[r].link?.underWay.gave(ticket, steps, bytes: isGathered ? 0 : payload.count)
        switch transport {
        case .lp:
            runs[r].link?.polls.queue.append(
                .init(
                    bytes: payload, opcode: opcode, ticket: ticket, messages: steps.count,
                    isLengthWrong: damage == .length))
        case .ws:
            guard let connection else { return }
            if let damage {
                out.append(.raw(connection, damage.frame(opcode, payload, mask: nil), ticket: ticket))
            } else {
                let deflated = !isPlain && isDeflated(steps, count: payload.count, of: r)
                out.append(.send(connection, opcode, payload, ticket: ticket, deflated: deflated))
            }
        case .http where isGathered:
            var piece: [UInt8] = []
            runs[r].session.codec.type.frame(payload.span, on: .http, into: &piece)
            runs[r].link?.gather(piece)
        case .sse, .stream, .multipart, .http:
            guard let connection else { return }
            var piece: [UInt8] = []
            if case .parts = runs[r].link?.body {
                runs[r].link?.addPart(payload.span, runs[r].session.codec.type, into: &piece)
            } else {
                runs[r].session.codec.type.frame(payload.span, on: transport, into: &piece)
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
    mutating func answerPoll(of r: Int, isNew: Bool = false, into out: inout [ReplayAction]) {
        guard runs[r].link?.transport == .lp, let polls = runs[r].link?.polls, !polls.queue.isEmpty,
            let head = polls.waiting, let c = runs[r].link?.connection
        else { return }
        let isFirstOnly = !isNew && runs[r].session.codec.type.polling?.answersFirst == true
        let body = isFirstOnly || !writer(of: r).joinsPayloads ? Array(polls.queue.prefix(1)) : polls.queue
        let last = body[body.count - 1]
        runs[r].link?.polls.body = body
        runs[r].link?.polls.queue.removeFirst(body.count)
        let answer = answer(.poll(body.flatMap(\.bytes), last.opcode), head, of: r)
        let isLengthWrong = body.contains(where: \.isLengthWrong)
        finishPoll(of: r, with: answer, ticket: last.ticket, isLengthWrong: isLengthWrong, into: &out)
        guard let ticket = polls.acknowledgement, body.count == polls.queue.count else { return }
        runs[r].link?.polls.acknowledgement = nil
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    /// Gives the poll that waits its answer; the session goes on without one.
    mutating func finishPoll(
        of r: Int, with answer: HTTPAnswer, ticket: UInt64? = nil, isLengthWrong: Bool = false,
        into out: inout [ReplayAction]
    ) {
        guard let c = runs[r].link?.connection, let head = runs[r].link?.polls.waiting else { return }
        let hit = runs[r].link?.polls.afterAnswer
        let isBegun = runs[r].link?.polls.isBegun ?? false
        runs[r].link?.polls.isBegun = false
        runs[r].link?.polls.waiting = nil
        runs[r].link?.polls.afterAnswer = nil
        runs[r].link?.polls.since = now
        runs[r].link?.polls.carrier = c
        runs[r].link?.connection = nil
        peers[c]?.run = nil
        peers[c]?.carried = r
        if isBegun {
            if !answer.body.isEmpty { out.append(.piece(c, answer.body, ticket: ticket ?? self.ticket())) }
            out.append(.endStream(c))
        } else if isLengthWrong {
            out.append(.raw(c, ReplayEngine.tooLong(answer.readable(by: head)), ticket: ticket))
        } else {
            out.append(.respond(c, answer.readable(by: head), thenClose: false, ticket: ticket))
        }
        noteAnswered(on: c, of: r, into: &out)
        if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
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
        _ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.reach(now)
        if let r = peers[c]?.trails, runs[r].trailing?.connection == c {
            runs[r].trailing?.underWay.handedOver(ticket)
            guard runs[r].trailing?.underWay.isEmpty == true else { return }
            runs[r].trailing = nil
            peers[c]?.trails = nil
            return
        }
        guard let r = peers[c]?.run ?? peers[c]?.carried, runs[r].isConnected else { return }
        let wasFull = runs[r].link?.underWay.isFull ?? false
        runs[r].link?.underWay.handedOver(ticket)
        if runs[r].link?.transport == .lp { runs[r].link?.polls.handedOver(ticket) }
        if wasFull, runs[r].link?.underWay.isFull == false { advance(r, into: &out) }
    }
}
