import Testing
import WiretapeAttempts
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// The mutation matrix: each client message of recorded sessions is dropped, sent late, doubled, swapped with the next, sent
/// only after the next push. The report names exactly that, nothing leaves before its causes, and the run ends in time.
@Suite struct MutationMatrixTests {
    static let tapes = ["chat", "chat-lp", "reconnect", "everything", "everything-lp"]
    static let sessions = Dictionary(uniqueKeysWithValues: tapes.map { ($0, (try? Recordings.sessions($0)) ?? []) })
    static let talks = sessions.mapValues { $0.map(Conversation.init) }
    private static let long: UInt64 = 3_600_000_000_000

    @Test(arguments: Mutation.all(tapes, .drop)) func dropped(_ cell: Mutation) throws { try check(cell) }

    @Test(arguments: Mutation.all(tapes, .late(2 * Mutation.second))) func late(_ cell: Mutation) throws {
        try check(cell)
    }

    @Test(arguments: Mutation.all(tapes, .late(45 * Mutation.second))) func tooLate(_ cell: Mutation) throws {
        try check(cell)
    }

    @Test(arguments: Mutation.all(tapes, .double)) func doubled(_ cell: Mutation) throws { try check(cell) }

    @Test(arguments: Mutation.all(tapes, .swap)) func swapped(_ cell: Mutation) throws { try check(cell) }

    @Test(arguments: Mutation.all(tapes, .afterNextPush)) func afterTheNextPush(_ cell: Mutation) throws {
        try check(cell)
    }

    /// `--match strict`: what comes before its turn is named beside the message whose turn it is.
    @Test(arguments: Mutation.all(["chat", "everything", "reconnect"], .swap))
    func swappedWhereTheOrderCounts(_ cell: Mutation) throws {
        let sessions = try #require(Self.sessions[cell.tape])
        let talk = try #require(Self.talks[cell.tape])[cell.session]
        // The last message, answers, and those that nobody can tell from the next have nothing to be swapped with.
        guard let next = cell.next(talk), talk.lines[cell.line].role != .reply,
            talk.lines[next].key != talk.lines[cell.line].key
        else { return }
        let run = MutationRun(cell.tape, sessions, habits(cell, sessions), forgiven: [:]) { $0.match = .strict }
        #expect(run.problems() == [])
        let text = run.report.divergences.first ?? ""
        #expect(text.contains("(\(cell.tape).tape.gz:\(try tapeLine(cell.line, sessions[cell.session])))"), "\(text)")
        #expect(text.contains("    received  \(talk.lines[next].message?.type ?? "")"), "\(text)")
        #expect(run.report.exitCode == 2 && run.report.divergences.count == 1)
    }

    /// Another argument, item, result or target instead.
    @Test(arguments: Mutation.all(["chat", "chat-lp", "reconnect", "everything"], .alter))
    func somethingElse(_ cell: Mutation) throws {
        let sessions = try #require(Self.sessions[cell.tape])
        let talk = try #require(Self.talks[cell.tape])[cell.session]
        let message = try #require(talk.lines[cell.line].message)
        // The others have nothing that could be something else; an upload's items would be one another.
        guard message.role != .handshake, message.role != .close, message.role != .part,
            ["target", "item", "result"].contains(where: { message.content[$0] != nil })
        else { return }
        let run = MutationRun(cell.tape, sessions, habits(cell, sessions))
        #expect(run.problems() == [])
        let text = run.report.divergences.first ?? ""
        #expect(text.contains("(\(cell.tape).tape.gz:\(try tapeLine(cell.line, sessions[cell.session])))"), "\(text)")
        #expect(text.contains("    recorded  \(message.title)\n    received  \(message.type)"), "\(text)")
        #expect(run.report.exitCode == 2 && run.report.divergences.count == 1)
        let session = try #require(run.report.sessions.first { $0.session == cell.session + 1 })
        #expect(session.unexpected.count == 1 && session.unexpected.allSatisfy { $0.hasPrefix(message.type) })
    }

    private func check(_ cell: Mutation) throws {
        let sessions = try #require(Self.sessions[cell.tape])
        let talk = try #require(Self.talks[cell.tape])[cell.session]
        if cell.outwaits(talk) { try checkOutwaiting(cell, sessions) }
        try checkFailing(cell, sessions, talk)
        // The other tapes have all of its messages.
        if cell.tape != "everything-lp" { try checkGoingOn(cell, sessions, talk, .warn) }
        if ["chat", "chat-lp", "reconnect"].contains(cell.tape) { try checkGoingOn(cell, sessions, talk, .ignore) }
    }

    private func habits(_ cell: Mutation, _ sessions: [RecordedSession]) -> ClientHabits {
        var habits = ClientHabits()
        habits.transport = sessions[0].transport
        habits.attempts = 1
        habits.ids = .opaque
        habits.mischief = .init(session: cell.session, line: cell.line, what: cell.what)
        return habits
    }

    /// The server does not wait so long for a handshake: it ends the connection, which is told, and whose client is back with
    /// its handshake gets all of the tape. What patience and matching make of such a client is seen without the server's.
    private func checkOutwaiting(_ cell: Mutation, _ sessions: [RecordedSession]) throws {
        let run = MutationRun(cell.tape, sessions, habits(cell, sessions))
        #expect(run.isEnded)
        let session = try #require(run.report.sessions.first { $0.session == cell.session + 1 })
        let first = try #require(session.attempts.first)
        #expect(first.outcome == .handshake)
        #expect(first.ended?.by == .server && first.ended?.reason == "handshake timeout 15s", "\(first)")
        #expect(first.ended.map { $0.time - first.start >= 15 * Mutation.second } == true)
        #expect(session.attempts.count == 2 && session.attempts.last?.outcome == .connected, "\(session.attempts)")
        #expect(run.report.verdict == .pass && session.finished && run.unheard == [], "\(run.report.reasons)")
    }

    /// `--on-divergence fail`: the first divergence ends the session, and says what it was.
    private func checkFailing(_ cell: Mutation, _ sessions: [RecordedSession], _ talk: Conversation) throws {
        let outcome = cell.outcome(talk, hasGrace: true)
        let forgiven = Set(cell.postponed(talk))
        let run = MutationRun(
            cell.tape, sessions, habits(cell, sessions), forgiven: [cell.session: forgiven]
        ) {
            if cell.outwaits(talk) { $0.serverLimits = .off }
        }
        if cell.twin(talk) == nil { #expect(run.problems(takenAway: [cell.session: hidden(talk, forgiven)]) == []) }
        // A farewell that comes late is the client's own time.
        let own = talk.lines[cell.line].role == .close ? 45 * Mutation.second : 3 * Mutation.second
        let bound = MutationRun.length(sessions) + 30 * Mutation.second + own
        #expect(run.elapsed <= bound, "took \(run.elapsed / 1_000_000) ms of \(bound / 1_000_000)")
        let session = try #require(run.report.sessions.first { $0.session == cell.session + 1 })
        if case .pass(let reordered) = outcome {
            #expect(run.report.verdict == .pass, "\(run.report.divergences) \(run.report.reasons)")
            #expect(run.report.sessions.map(\.reordered).reduce(0, +) == reordered)
            #expect(run.report.sessions.count == sessions.count && run.report.sessions.allSatisfy { $0.finished })
            #expect(session.missing + session.unexpected + session.late == [] && session.unreached == 0)
            #expect(run.unheard == [])
            return
        }
        #expect(run.report.verdict == .diverged && run.report.exitCode == 2)
        #expect(session.late == [] && session.reordered == 0)
        // Nobody waits for ever: who has not left by itself is told.
        if !run.report.divergences.isEmpty { #expect(session.attempts.contains { $0.ended?.by == .replay }) }
        let text = run.report.divergences.first ?? ""
        let place = try self.place(cell, sessions[cell.session], talk)
        switch outcome {
        case .pass: break
        case .missing:
            // A client that waits for nothing leaves before patience ends.
            let left = "session \(cell.session + 1): 1 client message never came, first \(place)"
            #expect(
                text.hasPrefix("wiretape: still waiting for \(place)")
                    || (cell.what == .drop && run.report.reasons == [left]), "\(run.report.reasons)")
            #expect(run.report.divergences.count <= 1)
            #expect(session.missing == [place] && session.unexpected == [])
        case .repeated:
            let message = try #require(talk.lines[cell.line].message)
            #expect(run.report.divergences.count == 1 && text.contains("    received  \(message.type)"), "\(text)")
            #expect(cell.names([cell.line], session.unexpected, talk) && session.missing == [])
        case .early, .unopened:
            #expect(run.report.divergences.count == 1)
            #expect(
                text.contains("(\(cell.tape).tape.gz:\(try tapeLine(cell.line, sessions[cell.session])))"), "\(text)")
            let strangers = cell.strangers(talk)
            #expect(
                cell.names(Array(strangers.prefix(1)), session.unexpected, talk)
                    && session.missing == [])
        }
    }

    /// `--on-divergence warn` and `ignore`: the session goes on, and the rest of it is as recorded.
    private func checkGoingOn(
        _ cell: Mutation, _ sessions: [RecordedSession], _ talk: Conversation, _ way: OnDivergence
    ) throws {
        let outcome = cell.outcome(talk, hasGrace: false)
        // Without an answer to its handshake no client says anything.
        if talk.lines[cell.line].role == .handshake, cell.what == .drop { return }
        // What waits for a push may wait for one that never comes: then all the rest is waited for, one after the other.
        let mayStop = cell.what == .afterNextPush && outcome == .missing
        let lines = Set(talk.lines.indices.filter { talk.lines[$0].direction == .toServer && $0 >= cell.line })
        let forgiven: Set<Int>
        switch outcome {
        case .pass, .repeated, .early: forgiven = []
        case _ where cell.what == .drop: forgiven = Set(talk.chain(of: cell.line, .toServer) + [cell.line])
        case .unopened, .missing: forgiven = lines
        }
        let run = MutationRun(
            cell.tape, sessions, habits(cell, sessions), forgiven: [cell.session: forgiven]
        ) {
            $0.onDivergence = way
            $0.grace = Self.long
            if cell.outwaits(talk) { $0.serverLimits = .off }
        }
        if cell.twin(talk) == nil, !mayStop {
            #expect(run.problems(takenAway: [cell.session: hidden(talk, forgiven)]) == [])
        }
        let session = try #require(run.report.sessions.first { $0.session == cell.session + 1 })
        let place = try self.place(cell, sessions[cell.session], talk)
        #expect(session.reordered == 0)
        let isPass = outcome == .pass(reordered: 0) || way == .ignore
        #expect(run.report.verdict == (isPass ? .pass : .diverged) && run.report.exitCode == (isPass ? 0 : 2))
        // Nobody waits for ever.
        let unasked = cell.what == .drop ? "session \(cell.session) line \(cell.line)" : ""
        if cell.twin(talk) == nil { #expect(run.unanswered.filter { $0 != unasked } == []) }
        switch outcome {
        case .pass:
            #expect(run.report.verdict == .pass && run.unheard == [])
            #expect(session.missing + session.unexpected + session.late == [] && session.unreached == 0)
        case _ where cell.what == .drop:
            // What belongs to a call that was not made is on no tape.
            #expect(session.missing == [place] && session.late == [])
            #expect(cell.names(cell.strangers(talk), session.unexpected, talk))
        case .missing:
            #expect(session.late + session.missing == [place] && session.unexpected == [])
        case .repeated:
            #expect(cell.names([cell.line], session.unexpected, talk))
            // It stands for an equal message that is recorded later. Who says that one then is refused.
            guard cell.twin(talk) == nil else { return }
            #expect(session.missing + session.late == [] && session.unreached == 0 && run.unheard == [])
            // Who calls twice is answered once, and refused once.
            let isCall = talk.lines[cell.line].message.map { $0.role == .request && $0.chain != nil } ?? false
            #expect(run.client.refused == (isCall ? 1 : 0))
        case .early:
            #expect(cell.names(cell.strangers(talk), session.unexpected, talk))
            #expect(session.missing + session.late == [] && run.unheard == [] && session.unreached == 0)
        case .unopened:
            // It came before its time, and not in time.
            #expect(cell.names(cell.strangers(talk), session.unexpected, talk))
            #expect(
                session.missing == [try self.place(cell.strangers(talk)[0], cell.tape, sessions[cell.session], talk)])
            #expect(session.late == [])
        }
        let texts = run.report.divergences
        #expect(texts.count <= session.unexpected.count + (session.missing + session.late).count, "\(texts)")
        let others = run.report.sessions.filter { $0.session != cell.session + 1 }
        #expect(others.allSatisfy { $0.finished && $0.missing + $0.unexpected + $0.late == [] } || mayStop)
        #expect(run.report.sessions.count == sessions.count || mayStop)
        guard !mayStop else { return }
        let bound = MutationRun.length(sessions) + 30 * Mutation.second + (cell.lateness ?? 3 * Mutation.second)
        #expect(run.elapsed <= bound, "took \(run.elapsed / 1_000_000) ms of \(bound / 1_000_000)")
    }

    /// What may be passed: the server's lines that wait for a forgiven one.
    private func hidden(_ talk: Conversation, _ forgiven: Set<Int>) -> Set<Int> {
        guard let first = forgiven.min() else { return [] }
        return Set(talk.lines.indices.filter { $0 >= first })
    }

    private func tapeLine(_ line: Int, _ session: RecordedSession) throws -> Int {
        try #require(
            session.entries.filter {
                guard case .message(let message) = $0.what else { return true }
                return message.role != .keepalive && message.role != .ack
            }.dropFirst(line).first?.line)
    }

    /// `client message 3 (chat.tape.gz:13, Invocation SendMessage)`.
    private func place(_ cell: Mutation, _ session: RecordedSession, _ talk: Conversation) throws -> String {
        // Of equal messages the last is missing.
        try place(cell.what == .drop ? cell.twin(talk) ?? cell.line : cell.line, cell.tape, session, talk)
    }

    private func place(
        _ line: Int, _ tape: String, _ session: RecordedSession, _ talk: Conversation
    ) throws -> String {
        let number = talk.lines[...line].count { $0.direction == .toServer }
        let message = try #require(talk.lines[line].message)
        let name = [message.type, message.label].compactMap(\.self).joined(separator: " ")
        return "client message \(number) (\(tape).tape.gz:\(try tapeLine(line, session)), \(name))"
    }
}
