internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// Faults that last.
extension ReplayEngine {
    /// - Parameter c: the connection that is meant; nil between two polls: the next one is.
    mutating func apply(_ effect: FaultEffect, on c: ConnectionID?, of r: Int, into out: inout [ReplayAction]) {
        switch effect {
        case .downgrade(let transports):
            runs[r].faults.block(transports)
            return
        case .expire: return expireSession(r, into: &out)
        case .mute(let scope, let duration) where scope.coversProtocol:
            runs[r].faults.mutedUntil = now.advanced(by: duration ?? .max)
            runs[r].excused(for: duration, at: now)
        case .stall, .mute, .throttle, .slice: break
        case .reset, .disconnect, .close, .respond, .malformed, .redirectLoop, .refuse, .outage, .wrongAccept,
            .wrongSubprotocol, .delay, .drop, .duplicate, .reorder, .replace, .inject, .corrupt, .truncate, .tls:
            // What is done to a message, a request or its end is no effect.
            return
        }
        guard let c else {
            if runs[r].link?.transport == .lp { runs[r].link?.faults.onNextPoll.append(effect) }
            return
        }
        if case .stall = effect, runs[r].link?.connection == c {
            runs[r].link?.faults.isSilent = true
            runs[r].excused(for: effect.duration, at: now)
        }
        apply(effect, on: c, into: &out)
    }

    /// What concerns the connection alone.
    mutating func apply(_ effect: FaultEffect, on c: ConnectionID, into out: inout [ReplayAction]) {
        switch effect {
        case .stall(let stall): out.append(.stall(c, reads: stall.reads, writes: stall.writes))
        case .mute(let scope, _):
            guard scope.coversWebSocket else { return }
            out.append(.mute(c, true))
        case .throttle(let rate, _): out.append(.pace(c, .rate(rate)))
        case .slice(let size, let every, _): out.append(.pace(c, .slices(size, every: every)))
        case .downgrade, .expire: return
        case .reset, .disconnect, .close, .respond, .malformed, .redirectLoop, .refuse, .outage, .wrongAccept,
            .wrongSubprotocol, .delay, .drop, .duplicate, .reorder, .replace, .inject, .corrupt, .truncate, .tls:
            return
        }
        guard let duration = effect.duration else { return }
        rules.begin(effect, on: c, until: now.advanced(by: duration))
    }

    /// Ends what has lasted long enough.
    mutating func finishLasting(into out: inout [ReplayAction]) {
        for one in rules.takeOver(by: now) {
            switch one.effect {
            case .stall:
                out.append(.stall(one.connection, reads: false, writes: false))
                if let r = peers[one.connection]?.run, runs[r].link?.faults.isSilent == true { isHeardAgain(r) }
            case .mute: out.append(.mute(one.connection, false))
            default: out.append(.pace(one.connection, .free))
            }
        }
    }

    /// The client's time begins anew: it could not be heard.
    mutating func isHeardAgain(_ r: Int) {
        runs[r].link?.faults.isSilent = false
        runs[r].tally.progressed(at: now)
        runs[r].link?.watch.excuse(at: now)
        // An end that is on its way has its own time.
        if runs[r].link?.isCut == false { runs[r].wakeAt = now }
        runs[r].noteChange()
    }

    /// The server forgets the session: its ids are unknown from now on. A connection that is open goes on; polling has none.
    private mutating func expireSession(_ r: Int, into out: inout [ReplayAction]) {
        if let link = runs[r].link, let c = link.connection ?? link.polls.carrier {
            noteExpired(link.opening.request, c)
        }
        forgetNames(of: r)
        guard let link = runs[r].link, link.transport == .lp else { return }
        let type = runs[r].session.codec.type
        if let head = link.polls.waiting { finishPoll(of: r, with: type.answer(.unknownID, to: head), into: &out) }
        leave(r, by: "fault:expire", how: "expired", .gone)
    }

    /// What names the session names nothing any more, and nothing of it can be resumed.
    mutating func forgetNames(of r: Int) {
        ids.retireAll(of: r)
        forgetParked(of: r)
        runs[r].link?.memory = nil
    }

    /// What the connection of a session has under way.
    mutating func tendFaults(_ r: Int, into out: inout [ReplayAction]) {
        let now = now
        guard runs[r].link?.faults.nextWake.map({ $0 <= now }) ?? false else { return }
        sendPassed(of: r, into: &out)
        for one in runs[r].link?.faults.later.filter({ $0.until <= now }) ?? [] {
            pass(one.bytes, one.opcode, to: r, into: &out)
        }
        runs[r].link?.faults.later.removeAll { $0.until <= now }
        takeIncoming(of: r, into: &out)
        answerPoll(of: r, into: &out)
    }

    /// Sends a keepalive, unless rules that name it, or mute it, have something else in mind.
    mutating func sendKeepalive(_ payload: [UInt8], _ opcode: Opcode, to r: Int, into out: inout [ReplayAction]) {
        if runs[r].faults.isMuted(at: now) { return }
        var payload = payload
        var opcode = opcode
        guard let fate = judgeKeepalive(payload, opcode, of: r) else {
            runs[r].link?.watch.asked(at: now)
            return pass(payload, opcode, to: r, into: &out)
        }
        for hit in fate.hits {
            record(hit, moment(of: r), cut: false)
            if hit != fate.end?.hit { noteFault(hit, .none, on: runs[r].link?.connection, into: &out) }
        }
        for effect in fate.effectsBefore + fate.effectsAfter {
            apply(effect, on: runs[r].link?.connection, of: r, into: &out)
        }
        if let end = fate.end {
            return cut(
                r, Link.Ending(verdict: end.verdict, hit: end.hit, isToldAlready: true), following: false, into: &out)
        }
        guard !fate.isLost else { return }
        let damage = edit(&payload, &opcode, by: fate.edits, like: nil, of: r)
        guard fate.delay == 0 else {
            let until = now.advanced(by: fate.delay)
            runs[r].link?.faults.later.append(.init(until: until, bytes: payload, opcode: opcode))
            return runs[r].noteChange()
        }
        if fate.edits.isEmpty { runs[r].link?.watch.asked(at: now) }
        for _ in 0...fate.copies { pass(payload, opcode, damage: damage, to: r, into: &out) }
    }

    /// Only a rule that names the keepalive's type means it.
    private mutating func judgeKeepalive(_ payload: [UInt8], _ opcode: Opcode, of r: Int) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        var codec = runs[r].session.writer.anew()
        var messages: [Message] = []
        codec.decode(payload.span, opcode, .toClient, into: &messages)
        guard let message = messages.first else { return nil }
        runs[r].link?.faults.keepalives += 1
        let ordinal = runs[r].link?.faults.keepalives ?? 1
        let moment = moment(of: r, message)
        return rules.judge(message, ordinal: ordinal, moment)
    }
}
