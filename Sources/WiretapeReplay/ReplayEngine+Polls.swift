internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// A poll: the one that opens a connection, or a further one.
    mutating func poll(
        _ c: ConnectionID, _ head: RequestHead, _ key: String, of r: Int, into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        if let parked = runs[r].parked, parked.link.token == key, parked.link.transport == .lp {
            if !parked.isOver, runs[r].faults.blocked.contains(.lp) {
                return refuse(c, head, .notOffered, codec, into: &out)
            }
            return parked.isOver ? tellEnd(c, head, of: r, into: &out) : resume(c, head, of: r, into: &out)
        }
        guard let link = runs[r].link else { return firstPoll(c, head, key, of: r, into: &out) }
        guard link.token == key else { return refuse(c, head, .unknownID, codec, into: &out) }
        guard link.transport == .lp else { return refuse(c, head, .wrongTransport, codec, into: &out) }
        let hit = judge(head, .poll, opensAttempt: false, of: r)
        if let hit, hit.place != .after {
            carryOut(hit, on: c, head, .poll, of: r, into: &out)
            // The client takes it for the end of its connection, or polls again.
            if runs[r].link?.polls.waiting == nil, let end = hit.end {
                leave(r, by: .fault(end.hit.name), how: how(end.verdict), .resumable)
            }
            return
        }
        wait(c, head, of: r, then: hit, into: &out)
    }

    private mutating func firstPoll(
        _ c: ConnectionID, _ head: RequestHead, _ key: String, of r: Int, into out: inout [ReplayAction]
    ) {
        guard case .goesOn(let after) = open(.lp, .poll, c, head, of: r, into: &out) else { return }
        let codec = runs[r].session.codec
        guard let polling = codec.type.polling else { return refuse(c, head, .notOffered, codec, into: &out) }
        var link = Link(.lp, on: nil, token: key, StreamOpening(request: head), codec, at: now)
        link.polls.since = now
        attach(link, c, head, .poll, to: r, into: &out)
        if polling.opensAtOnce {
            out.append(.respond(c, codec.type.answer(.pollOpened, to: head).readable(by: head), thenClose: false))
            if let after { cutAfterAnswer(after, on: c, of: r, into: &out) }
        } else {
            wait(c, head, of: r, then: after, into: &out)
        }
        hearEarly(of: r, into: &out)
        advance(r, into: &out)
    }

    /// Holds the poll until something is due. The one that waited before it is over.
    mutating func wait(
        _ c: ConnectionID, _ head: RequestHead, of r: Int, then hit: RequestFate?, into out: inout [ReplayAction]
    ) {
        let type = runs[r].session.codec.type
        if runs[r].link?.polls.waiting != nil {
            finishPoll(of: r, with: answer(.pollSuperseded, head, of: r), into: &out)
        }
        if type.hasTrackingIDs {
            runs[r].link?.writer = runs[r].session.writer.serving(StreamOpening(request: head))
            runs[r].link?.opening = StreamOpening(request: head)
            takeBackMissed(head, of: r)
        }
        carries(c, r, into: &out)
        runs[r].link?.connection = c
        runs[r].link?.polls.waiting = head
        runs[r].link?.watch.heard(at: now)
        runs[r].link?.polls.since = now
        runs[r].link?.polls.afterAnswer = hit
        for effect in runs[r].link?.faults.onNextPoll ?? [] { apply(effect, on: c, into: &out) }
        runs[r].link?.faults.onNextPoll = []
        if type.polling?.beginsAtOnce == true {
            let begun = answer(.pollBegun, head, of: r)
            runs[r].link?.polls.isBegun = !begun.body.isEmpty
            if !begun.body.isEmpty { out.append(.beginStream(c, begun.readable(by: head))) }
        }
        answerPoll(of: r, isNew: true, into: &out)
        guard let (ending, complete) = runs[r].link?.ending, runs[r].link?.connection != nil else {
            return advance(r, into: &out)
        }
        if case .acknowledging = runs[r].link?.cut { return }
        guard ending.hit?.place == .after else {
            if case .awaitingPoll = runs[r].link?.cut { carryOut(ending, of: r, complete: complete, into: &out) }
            return
        }
        // The poll shows that the client has read what went before: its answers to that are on their way, too.
        let until = now.advanced(by: settleTime)
        runs[r].link?.cut = .settling(until: until, ending, complete: complete)
        runs[r].wakeAt = until
    }

    /// A poll of a connection that was lost: it goes on where it stood.
    private mutating func resume(
        _ c: ConnectionID, _ head: RequestHead, of r: Int, into out: inout [ReplayAction]
    ) {
        let opensAttempt =
            runs[r].parked?.end == nil && runs[r].beginAttempt(at: now, origin: start)
        let hit = judge(head, .poll, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .poll, of: r, into: &out) }
        takeUp(r, .poll)
        wait(c, head, of: r, then: hit, into: &out)
    }

    /// A request of the client shows that it takes its lost connection to go on.
    mutating func takeUp(_ r: Int, _ kind: ExchangeKind) {
        guard let parked = runs[r].parked else { return }
        var link = parked.link
        runs[r].parked = nil
        if parked.end == nil {
            _ = runs[r].beginAttempt(at: now, origin: start)
            runs[r].addStep(
                .init(request: kind.rawValue, status: 200, transport: .lp, time: elapsed), failed: nil, at: now)
        }
        link.polls.since = now
        runs[r].cursor.deliverAgain(link.underWay.steps)
        runs[r].client.assigned = .token
        runs[r].goOn(link, hasLost: parked.end == nil, at: now, options)
        runs[r].link?.watch.excuse(at: now)
        if link.readyAt != nil, parked.end == nil { runs[r].connected(at: now) }
    }

    /// The poll after the end: first what was still due, then that it is over.
    private mutating func tellEnd(
        _ c: ConnectionID, _ head: RequestHead, of r: Int, into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        let queue = runs[r].parked?.link.polls.queue ?? []
        let what: CarrierAnswer
        if let last = queue.last {
            runs[r].parked?.link.polls.queue = []
            what = .poll(queue.flatMap(\.bytes), last.opcode)
        } else {
            what = .pollEnd
            forgetParked(of: r)
        }
        out.append(.respond(c, codec.type.answer(what, to: head).readable(by: head), thenClose: false))
    }

    /// The client ends its session.
    mutating func endSession(
        _ c: ConnectionID, _ head: RequestHead, _ key: String, of r: Int, into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        let hit = judge(head, .end, opensAttempt: false, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .end, of: r, into: &out) }
        runs[r].cursor.giveUpRepeats()
        runs[r].standing.departure = .inOrder
        if let link = runs[r].link {
            guard link.token == key else { return refuse(c, head, .unknownID, codec, into: &out) }
            guard link.transport == .lp || codec.type.hasTrackingIDs else {
                return refuse(c, head, .wrongTransport, codec, into: &out)
            }
            if let waiting = link.polls.waiting {
                finishPoll(of: r, with: answer(.pollEnd, waiting, of: r), into: &out)
            } else if link.transport != .lp, link.transport != .ws, let stream = link.connection {
                out.append(.endStream(stream))
            }
            // A WebSocket has an end of its own.
            if link.transport != .ws { leave(r, by: .client, how: .farewell, .gone) }
        } else {
            if runs[r].parked?.end != nil { runs[r].parked?.end = ParkedLink.End(how: .farewell, at: now) }
            forgetParked(of: r)
            ids.retire(key)
        }
        out.append(.respond(c, codec.type.answer(.ended, to: head).readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
    }

    /// The poll that waits has waited long, or none has come for long.
    mutating func timeOutPoll(_ r: Int, into out: inout [ReplayAction]) {
        guard let deadline = runs[r].pollDeadline, deadline <= now else { return }
        if let head = runs[r].link?.polls.waiting {
            finishPoll(of: r, with: answer(.pollEmpty, head, of: r), into: &out)
        } else {
            recordCut(of: r)
            leave(r, by: .client, how: .timeout, .gone)
        }
    }
}

extension SessionRun {
    /// When the poll that waits is answered without a message; without one, when the client counts as gone.
    var pollDeadline: WireInstant? {
        guard let link, link.transport == .lp, let polling = session.codec.type.polling else { return nil }
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
