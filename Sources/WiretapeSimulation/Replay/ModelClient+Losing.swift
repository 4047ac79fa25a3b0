internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    var isCutDue: Bool {
        guard generation >= 1, generation <= habits.cuts.count else { return false }
        return connection.messages >= habits.cuts[generation - 1].after
    }

    /// Cuts the connection itself where its habits say so.
    func cutWhenDue(into out: inout [ClientAction]) {
        guard phase == .ready, isCutDue, !play.isComplete else { return }
        cut(habits.cuts[generation - 1].how, into: &out)
    }

    func cut(_ how: ClientHabits.Cut.How, into out: inout [ClientAction]) {
        if let slot = connection.slot {
            if how == .closeFrame, habits.transport == .ws { out.append(.closeFrame(slot: slot, code: 1000)) }
            out.append(.end(slot: slot, reset: how == .reset))
        }
        if how == .closeFrame {
            // Who leaves in order asks no more for what it has not asked again by then, and goes on with nothing.
            play.giveUpRepeats()
            settle()
            forgetSession()
        }
        if let slot = posts.slot { out.append(.end(slot: slot, reset: how == .reset)) }
        lose(into: &out)
    }

    /// The server ended the connection, or answered that it is over.
    func ended(_ how: String, into out: inout [ClientAction]) {
        play.heardEnd()
        if let slot = posts.slot { out.append(.end(slot: slot, reset: false)) }
        lose(into: &out)
    }

    /// There is no connection any more: the session is over, or it comes back.
    func lose(into out: inout [ClientAction]) {
        let wasLeaving = phase == .leaving
        connection = ClientConnection()
        posts = ClientPosts()
        agenda.clear()
        retries.lost(at: now)
        let isSessionOver = (wasLeaving || (play.isComplete && !play.awaitsEnding)) && !hasUnsaid
        if isSessionOver {
            play.isOver = true
            guard current + 1 < plays.count else {
                phase = .over
                return
            }
            current += 1
            forgetSession()
        }
        guard let delay = retries.next(habits, isNewSession: isSessionOver) else {
            phase = .over
            return
        }
        phase = .waiting
        agenda.wait(until: now.advanced(by: delay))
    }

    /// Leaves once everything is said and heard; says its farewell first when the tape has one.
    func leaveWhenDone(into out: inout [ClientAction]) {
        guard play.isComplete, posts.isIdle else { return }
        if let farewell = play.talk.farewell, !play.farewellSaid {
            if let due = mischief.delay(ofFarewell: farewell, of: current, at: now) { return agenda.wait(until: due) }
            play.farewellSaid = true
            play.said[farewell] = true
            for _ in 0..<mischief.farewells(farewell, of: current) {
                guard let message = play.talk.lines[farewell].message else { break }
                let saying = Saying(session: current, line: farewell, generation: generation)
                transmit(message.bytes, [saying], into: &out)
            }
        } else if !play.farewellSaid, play.awaitsEnding {
            // It may have come while the client was gone: then the server has let it in, and says nothing more.
            guard generation > 1 else { return }
            let limit = connection.lastNews.advanced(by: play.longestSilence)
            guard limit <= now else { return agenda.wait(until: limit) }
        }
        guard posts.isIdle else { return }
        phase = .leaving
        if habits.transport == .lp, let token {
            let slot = newSlot()
            if let before = posts.turn(to: slot) { out.append(.end(slot: before, reset: false)) }
            out.append(.request(slot: slot, head("DELETE", "\(play.talk.session.route)?id=\(token)"), body: [], []))
        }
        agenda.wait(until: now.advanced(by: play.farewellSaid ? 5_000_000_000 : 0))
        if !play.farewellSaid, habits.transport != .lp { return finishLeaving(into: &out) }
        if habits.transport == .lp { agenda.wait(until: now.advanced(by: 5_000_000_000)) }
    }

    /// The client's own end of the connection.
    func finishLeaving(into out: inout [ClientAction]) {
        if let slot = connection.slot {
            if habits.transport == .ws { out.append(.closeFrame(slot: slot, code: 1000)) }
            out.append(.end(slot: slot, reset: false))
        }
        if let slot = posts.slot { out.append(.end(slot: slot, reset: false)) }
        lose(into: &out)
    }
}
