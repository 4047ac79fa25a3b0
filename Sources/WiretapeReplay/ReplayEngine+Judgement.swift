internal import WiretapeAttempts
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// Holds every session to every policy.
    func judgements(_ reports: [ReplayReport.Session], _ sessions: [SessionRun]) -> [Judgement] {
        guard !options.expectations.isEmpty else { return [] }
        return Judge.judge(
            zip(reports, sessions).map(judged), requests: record.requests, by: options.expectations)
    }

    /// The report with a note on a client that came back and left out what its first connection began with.
    func noted(_ report: ReplayReport.Session, _ session: SessionRun) -> ReplayReport.Session {
        guard !session.recorded.isOperation,
            let note = judged(report, session).openingNote(judgedBy: options.expectations)
        else { return report }
        var report = report
        report.notes.append(note)
        return report
    }

    private func judged(_ report: ReplayReport.Session, _ session: SessionRun) -> JudgedSession {
        JudgedSession(
            session: report.session, run: report.run, follows: session.follows?.recorded.number,
            attempts: report.attempts, finished: report.finished,
            speech: session.speech, overlaps: session.overlaps, silences: silences(of: report),
            signs: session.signs(at: now), credentials: session.credentials, elapsed: elapsed,
            isGone: record.clientsAreGone)
    }

    /// A client that stays away as a policy wants it has left nothing out: what it would have said is not reached.
    func relieved(_ report: ReplayReport.Session, _ session: SessionRun) -> ReplayReport.Session {
        guard !report.missing.isEmpty, !options.expectations.isEmpty, !session.isConnected, !session.isOver,
            Judge.mayStayAway(judged(report, session), by: options.expectations)
        else { return report }
        let own = session.cursor.neverCame(isGone: false, endedOperations: false).missing
        var report = report
        let count = report.missing.count - session.tally.missingElsewhere.count
        report.unreached += count - own.count
        report.missing =
            own.map { DivergenceText.describe(session, $0, tape: tapeName) } + session.tally.missingElsewhere
        return report
    }

    /// When rules made the session's connection go silent.
    private func silences(of report: ReplayReport.Session) -> [JudgedSession.Silence] {
        rules.firings.filter {
            $0.session == report.session && $0.run == report.run && $0.isSilence
        }.map { .init(time: $0.time, attempt: $0.attempt) }
    }

    // MARK: What clients say

    /// Tells the session's policies what the client said, and what stays away until it says it again.
    func spoke(_ message: Message, as step: Int, of session: SessionRun, arrives: Bool = true) {
        let chain = session.script.steps[step].group.map(SessionRun.speechChain)
        switch message.role {
        case .request, .send:
            let subscribes = session.recorded.codec.type.isSubscription(message)
            session.said(
                message, identity: messageIdentity(message, step, session),
                chain: message.role == .request ? chain : nil,
                subscribes: subscribes, isWatched: subscribers.contains(message), arrives: arrives)
            if arrives { session.cursor.bringBack(what: subscribers.pushes(behind: message)) }
        case .cancel: if let chain { session.cancelled(chain) }
        case .handshake, .reply, .push, .part, .keepalive, .ack, .close, .opaque: break
        }
    }

    /// Two messages that are taken for the same step, or for equal ones, have one identity: ``ClientSpeech/Saying/identity``.
    func messageIdentity(_ message: Message, _ step: Int, _ session: SessionRun) -> UInt64 {
        session.identity(of: step, key: session.key(of: message, options))
    }

    /// The same of a message that a rule takes away.
    func spokeInVain(_ message: Message, of session: SessionRun) {
        guard let step = session.counterpart(of: message, options) else { return }
        spoke(message, as: step, of: session, arrives: false)
    }

    // MARK: A second connection

    /// The session of the same client and route that has a connection, when the request asks for another one.
    mutating func rival(of head: RequestHead, on connection: ConnectionID) -> SessionRun? {
        guard options.expectations.contains(where: { $0.policy == .single }) else { return nil }
        let identity = identity(head, connection)
        return claims.clients[identity]?.sessions.first { session in
            guard let link = session.link, !isSilent(session) else { return false }
            let type = session.recorded.codec.type
            if session.recorded.isOperation {
                guard session.carriesEvents, head.method == "GET", type.mayBeTold(head) else { return false }
            } else {
                let kind = type.kind(head)
                if kind == .negotiate, type.reservesStreams { return false }
                guard [.negotiate, .upgrade, .stream].contains(kind) || kind == .poll && link.transport != .lp else {
                    return false
                }
            }
            return library.table.routes[claims[session].route].path == mapped(type.route(head))
        }
    }

    /// The request of ``rival(of:on:)`` was dealt with. It is no second connection where the recorded client had two.
    mutating func overlapped(_ rival: SessionRun, by head: RequestHead, on connection: ConnectionID) {
        let other = peers[connection]?.session
        // Two runs of one recorded session are not side by side on the tape.
        if let other, claims[other].recorded != claims[rival].recorded, other.script.overlaps(rival.script) { return }
        if rival.recorded.isOperation {
            // Only its answer shows whether a request has begun a stream.
            guard let other, other !== rival, other.carriesEvents else { return }
            return rival.overlapped(by: ExchangeKind.stream.rawValue, at: now, origin: start)
        }
        let kind = rival.recorded.codec.type.kind(head)
        // A negotiation that was answered is followed by what asks for the connection.
        let isAnswered = claims.clients[identity(head, connection)]?.sessions.contains {
            $0 !== rival && $0.negotiation.awaitsUpgrade
        }
        if kind == .negotiate, isAnswered == true { return }
        rival.overlapped(by: kind.rawValue, at: now, origin: start)
    }
}

extension SessionRun {
    /// Whether its connection is an event stream of no known protocol that a GET has asked for.
    fileprivate var carriesEvents: Bool {
        guard recorded.codec.type.isToldByAnswer, let link else { return false }
        return link.transport != .http && link.opening.request.method == "GET"
    }
}

extension Script {
    /// Whether both were under way at the same time on the tape.
    fileprivate func overlaps(_ other: Script) -> Bool {
        opened <= other.steps.last?.time ?? other.opened && other.opened <= steps.last?.time ?? opened
    }
}
