internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    var isCutDue: Bool {
        guard generation >= 1, generation <= habits.cuts.count else { return false }
        return eventCount >= habits.cuts[generation - 1].after
    }

    /// Cuts the connection itself where its habits say so.
    func cutWhenDue(into out: inout [ClientAction]) {
        guard phase == .ready, isCutDue, !play.isComplete else { return }
        cut(habits.cuts[generation - 1].how, into: &out)
    }

    func cut(_ how: ClientHabits.Cut.How, into out: inout [ClientAction]) {
        if let slot = mainSlot {
            if how == .closeFrame, habits.transport == .ws { out.append(.closeFrame(slot: slot, code: 1000)) }
            out.append(.end(slot: slot, reset: how == .reset))
        }
        if how == .closeFrame {
            // Who leaves in order asks no more for what it has not asked again by then, and goes on with nothing.
            play.giveUpRepeats()
            settle()
            memory = nil
            token = nil
        }
        if let slot = postSlot { out.append(.end(slot: slot, reset: how == .reset)) }
        lose(into: &out)
    }

    /// The server ended the connection, or answered that it is over.
    func ended(_ how: String, into out: inout [ClientAction]) {
        play.heardEnd()
        if let slot = postSlot { out.append(.end(slot: slot, reset: false)) }
        lose(into: &out)
    }

    /// There is no connection any more: the session is over, or it comes back.
    func lose(into out: inout [ClientAction]) {
        let wasLeaving = phase == .leaving
        mainSlot = nil
        postSlot = nil
        refusedUntil = nil
        outbox = []
        dueLine = nil
        lostAt = now
        if wasLeaving || (play.isComplete && !play.awaitsEnding), !hasUnsaid {
            play.isOver = true
            guard current + 1 < plays.count else { return finish() }
            current += 1
            memory = nil
            token = nil
            tries = 0
        } else if tries > habits.attempts {
            hasGivenUp = true
            return finish()
        }
        phase = .waiting
        let delay = habits.delays[min(tries, habits.delays.count - 1)]
        dueAt = now.advanced(by: delay)
    }

    private func finish() {
        phase = .over
        dueAt = nil
    }

    /// Leaves once everything is said and heard; says its farewell first when the tape has one.
    func leaveWhenDone(into out: inout [ClientAction]) {
        guard play.isComplete, !isPosting, outbox.isEmpty else { return }
        if let farewell = play.talk.farewell, !play.farewellSaid {
            if lateness(farewell) > 0, !wasMischievous {
                wasMischievous = true
                lateFarewell = now.advanced(by: lateness(farewell))
            }
            if let due = lateFarewell, due > now {
                dueAt = due
                return
            }
            play.farewellSaid = true
            play.said[farewell] = true
            for _ in 0..<farewells(farewell) {
                guard let message = play.talk.lines[farewell].message else { break }
                let saying = Saying(session: current, line: farewell, generation: generation)
                transmit(message.bytes, [saying], into: &out)
            }
        } else if !play.farewellSaid, play.awaitsEnding {
            // It may have come while the client was gone: then the server has let it in, and says nothing more.
            guard generation > 1 else { return }
            let limit = lastNews.advanced(by: play.longestSilence)
            guard limit <= now else {
                dueAt = limit
                return
            }
        }
        guard !isPosting, outbox.isEmpty else { return }
        phase = .leaving
        if habits.transport == .lp, let token {
            let slot = newSlot()
            if let postSlot { out.append(.end(slot: postSlot, reset: false)) }
            postSlot = slot
            out.append(.request(slot: slot, head("DELETE", "\(play.talk.session.route)?id=\(token)"), body: [], []))
        }
        dueAt = now.advanced(by: play.farewellSaid ? 5_000_000_000 : 0)
        if !play.farewellSaid, habits.transport != .lp { return finishLeaving(into: &out) }
        if habits.transport == .lp { dueAt = now.advanced(by: 5_000_000_000) }
    }

    /// The client's own end of the connection.
    func finishLeaving(into out: inout [ClientAction]) {
        if let slot = mainSlot {
            if habits.transport == .ws { out.append(.closeFrame(slot: slot, code: 1000)) }
            out.append(.end(slot: slot, reset: false))
        }
        if let slot = postSlot { out.append(.end(slot: slot, reset: false)) }
        lose(into: &out)
    }
}
