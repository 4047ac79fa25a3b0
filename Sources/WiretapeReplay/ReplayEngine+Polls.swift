internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// A poll: the one that opens a connection, or a further one.
    mutating func poll(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        if let parked = session.parked, parked.link.token == key, parked.link.transport == .lp {
            if !parked.isOver, session.faults.blocked.contains(.lp) {
                return refuse(connection, head, .notOffered, codec, into: &out)
            }
            return parked.isOver
                ? tellEnd(connection, head, of: session, into: &out) : resume(connection, head, of: session, into: &out)
        }
        guard let link = session.link else { return firstPoll(connection, head, key, of: session, into: &out) }
        guard link.token == key else { return refuse(connection, head, .unknownID, codec, into: &out) }
        guard link.transport == .lp else { return refuse(connection, head, .wrongTransport, codec, into: &out) }
        let hit = judge(head, .poll, opensAttempt: false, of: session)
        if let hit, hit.place != .after {
            carryOut(hit, on: connection, head, .poll, of: session, into: &out)
            // The client takes it for the end of its connection, or polls again.
            if session.link?.polls.waiting == nil, let end = hit.end, ReplayEngine.endsPolling(end.verdict) {
                leave(session, by: .fault(end.hit.name), how: how(end.verdict), .resumable)
            }
            return
        }
        wait(connection, head, of: session, then: hit, into: &out)
    }

    /// Whether a poll that gets this response ends the client's connection. After a success, the client polls again.
    private static func endsPolling(_ verdict: FaultEffect) -> Bool {
        guard case .respond(let answer) = verdict else { return true }
        return answer.status == 204 || answer.status >= 300
    }

    private mutating func firstPoll(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        guard case .goesOn(let after) = open(.lp, .poll, connection, head, of: session, into: &out) else { return }
        let codec = session.recorded.codec
        guard let polling = codec.type.polling else { return refuse(connection, head, .notOffered, codec, into: &out) }
        var link = Link(.lp, on: nil, token: key, StreamOpening(request: head), codec, at: now)
        link.polls.restartsClock(at: now)
        attach(link, connection, head, .poll, to: session, into: &out)
        if polling.opensAtOnce {
            out.append(
                .respond(connection, codec.type.answer(.pollOpened, to: head).readable(by: head), thenClose: false))
            if let after { cutAfterAnswer(after, on: connection, of: session, into: &out) }
        } else {
            wait(connection, head, of: session, then: after, into: &out)
        }
        hearEarly(of: session, into: &out)
        advance(session, into: &out)
    }

    /// Holds the poll until something is due. The one that waited before it is over.
    mutating func wait(
        _ connection: ConnectionID, _ head: RequestHead, of session: SessionRun, then hit: RequestFate?,
        into out: inout [ReplayAction]
    ) {
        let type = session.recorded.codec.type
        if session.link?.polls.waiting != nil {
            finishPoll(of: session, with: answer(.pollSuperseded, head, of: session), into: &out)
        }
        if type.hasTrackingIDs {
            let opening = StreamOpening(request: head)
            session.link?.serves(opening, by: session.recorded.writer.serving(opening))
            takeBackMissed(head, of: session)
        }
        carries(connection, session, into: &out)
        session.link?.goesOut(on: connection)
        session.link?.polls.waits(head, then: hit, at: now)
        session.link?.watch.heard(at: now)
        for effect in session.link?.faults.onNextPoll ?? [] { apply(effect, on: connection, into: &out) }
        session.link?.faults.pollIsThere()
        if type.polling?.beginsAtOnce == true {
            let begun = answer(.pollBegun, head, of: session)
            if !begun.body.isEmpty {
                session.link?.polls.headHasGone()
                out.append(.beginStream(connection, begun.readable(by: head)))
            }
        }
        answerPoll(of: session, isNew: true, into: &out)
        guard let (ending, complete) = session.link?.ending, session.link?.connection != nil else {
            return advance(session, into: &out)
        }
        if case .acknowledging = session.link?.cut { return }
        guard ending.hit?.place == .after else {
            if case .awaitingPoll = session.link?.cut { carryOut(ending, of: session, complete: complete, into: &out) }
            return
        }
        // The poll shows that the client has read what went before: its answers to that are on their way, too.
        settle(session, ending, complete: complete)
    }

    /// A poll of a connection that was lost: it goes on where it stood.
    private mutating func resume(
        _ connection: ConnectionID, _ head: RequestHead, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        let opensAttempt =
            session.parked?.end == nil && session.beginAttempt(at: now, origin: start)
        let hit = judge(head, .poll, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after { return carryOut(hit, on: connection, head, .poll, of: session, into: &out) }
        takeUp(session, .poll)
        wait(connection, head, of: session, then: hit, into: &out)
    }

    /// A request of the client shows that it takes its lost connection to go on.
    mutating func takeUp(_ session: SessionRun, _ kind: ExchangeKind) {
        guard let parked = session.parked else { return }
        var link = parked.link
        session.forgetParked()
        if parked.end == nil {
            _ = session.beginAttempt(at: now, origin: start)
            session.addStep(
                .init(request: kind.rawValue, status: 200, transport: .lp, time: elapsed), failed: nil, at: now)
        }
        link.polls.restartsClock(at: now)
        session.cursor.deliverAgain(link.underWay.steps)
        session.assign(by: .token)
        session.goOn(link, hasLost: parked.end == nil, at: now, options)
        session.link?.watch.excuse(at: now)
        if link.readyAt != nil, parked.end == nil { session.connected(at: now) }
    }

    /// The poll after the end: first what was still due, then that it is over.
    private mutating func tellEnd(
        _ connection: ConnectionID, _ head: RequestHead, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        let queue = session.takeParkedPolls()
        let what: CarrierAnswer
        if let last = queue.last {
            what = .poll(queue.flatMap(\.bytes), last.opcode)
        } else {
            what = .pollEnd
            forgetParked(of: session)
        }
        out.append(.respond(connection, codec.type.answer(what, to: head).readable(by: head), thenClose: false))
    }

    /// The client ends its session.
    mutating func endSession(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        let hit = judge(head, .end, opensAttempt: false, of: session)
        if let hit, hit.place != .after { return carryOut(hit, on: connection, head, .end, of: session, into: &out) }
        session.cursor.giveUpRepeats()
        session.departs(.inOrder)
        if let link = session.link {
            guard link.token == key else { return refuse(connection, head, .unknownID, codec, into: &out) }
            guard link.transport == .lp || codec.type.hasTrackingIDs else {
                return refuse(connection, head, .wrongTransport, codec, into: &out)
            }
            if let waiting = link.polls.waiting {
                finishPoll(of: session, with: answer(.pollEnd, waiting, of: session), into: &out)
            } else if link.transport != .lp, link.transport != .ws, let stream = link.connection {
                out.append(.endStream(stream))
            }
            // A WebSocket has an end of its own.
            if link.transport != .ws { leave(session, by: .client, how: .farewell, .gone) }
        } else {
            if session.parked?.end != nil { session.changeParkedEnd(to: ParkedLink.End(how: .farewell, at: now)) }
            forgetParked(of: session)
            ids.retire(key)
        }
        out.append(.respond(connection, codec.type.answer(.ended, to: head).readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
    }

    /// The poll that waits has waited long, or none has come for long.
    mutating func timeOutPoll(_ session: SessionRun, into out: inout [ReplayAction]) {
        guard let deadline = session.pollDeadline, deadline <= now else { return }
        if let head = session.link?.polls.waiting {
            finishPoll(of: session, with: answer(.pollEmpty, head, of: session), into: &out)
        } else {
            recordCut(of: session)
            leave(session, by: .client, how: .timeout, .gone)
        }
    }
}

extension SessionRun {
    /// When the poll that waits is answered without a message; without one, when the client counts as gone.
    var pollDeadline: WireInstant? {
        guard let link, link.transport == .lp, let polling = recorded.codec.type.polling else { return nil }
        let patience = link.polls.waiting == nil ? polling.patience : polling.timeout
        return patience == .max ? nil : link.polls.since.advanced(by: patience)
    }

    /// When something of the connection is due that is none of the script's.
    var carrierWake: WireInstant? {
        var next = pollDeadline
        if let link, !link.isCut, let due = link.memory?.acknowledgeAt { next = min(next ?? due, due) }
        if let link, !link.isCut, let due = link.watch.due?.at { next = min(next ?? due, due) }
        if let link, let due = link.faults.moments.next(opened: link.openedAt, ready: link.readyAt) {
            next = min(next ?? due, due)
        }
        if let until = parked?.until { next = min(next ?? until, until) }
        if let due = link?.faults.nextWake { next = min(next ?? due, due) }
        return next
    }
}

/// What a poll is answered with.
extension ReplayEngine {
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
}
