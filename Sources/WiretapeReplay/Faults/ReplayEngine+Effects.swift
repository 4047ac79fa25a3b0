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
        let site = carryOut(effect, .connection, on: c, of: r, into: &out)
        if site.awaitsPoll, runs[r].link?.transport == .lp { runs[r].link?.faults.onNextPoll.append(effect) }
    }

    /// What concerns the connection alone.
    mutating func apply(_ effect: FaultEffect, on c: ConnectionID, into out: inout [ReplayAction]) {
        carryOut(effect, .connection, on: c, of: nil, into: &out)
    }

    /// Ends what has lasted long enough.
    mutating func finishLasting(into out: inout [ReplayAction]) {
        for one in rules.takeOver(by: now) {
            let c = one.place
            switch one.change {
            case .stall:
                out.append(.stall(c, reads: false, writes: false))
                if let r = peers[c]?.run, runs[r].link?.faults.isSilent == true { isHeardAgain(r) }
            case .mute: out.append(.mute(c, false))
            case .pace: out.append(.pace(c, .free))
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
    mutating func expireSession(_ r: Int, into out: inout [ReplayAction]) {
        if let link = runs[r].link, let c = link.connection ?? link.polls.carrier {
            noteExpired(link.opening.request, c)
        }
        forgetNames(of: r)
        guard let link = runs[r].link, link.transport == .lp else { return }
        let type = runs[r].session.codec.type
        if let head = link.polls.waiting { finishPoll(of: r, with: type.answer(.unknownID, to: head), into: &out) }
        leave(r, by: .fault("expire"), how: .expired, .gone)
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
        for one in runs[r].link?.faults.later.takeReleased(at: now) ?? [] {
            pass(one.bytes, one.opcode, to: r, into: &out)
        }
        takeIncoming(of: r, into: &out)
        answerPoll(of: r, into: &out)
    }

    /// Sends a keepalive, unless rules that name it, or mute it, have something else in mind.
    mutating func sendKeepalive(_ payload: [UInt8], _ opcode: Opcode, to r: Int, into out: inout [ReplayAction]) {
        if runs[r].faults.isMuted(at: now) { return }
        guard let fate = judgeKeepalive(payload, opcode, of: r) else {
            runs[r].link?.watch.asked(at: now)
            return pass(payload, opcode, to: r, into: &out)
        }
        for hit in fate.hits where hit != fate.end?.hit {
            record(hit, moment(of: r), cut: false)
            noteFault(hit, .none, on: runs[r].link?.connection, into: &out)
        }
        carryOut(fate, .keepalive(payload, opcode), of: r, into: &out)
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
