internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// A server message may be the effect of a request or a message on another connection. It waits for those that precede it on the tape
/// (`--causality`).
extension ReplayEngine {
    /// Something on another connection that a step of a session waits for.
    struct OpenCause {
        /// An index of ``CauseTable``.
        let cause: Int
        let step: Int
        /// The time at which the session began to wait.
        let since: WireInstant
    }

    /// The next action of a session, with the cause on another connection that holds it back.
    mutating func next(of session: SessionRun) -> (next: SessionRun.Next, open: OpenCause?) {
        guard options.causality != .session, !causes.isEmpty else { return (session.next(at: now, options), nil) }
        let claim = claims[session]
        let run = claim.tapeRun
        if causes.played(by: session.id, in: run) != claim.recorded {
            causes.plays(claim.recorded, library.sources(of: claim.recorded), session.id, in: run)
        }
        var open: (cause: Int, step: Int)?
        let next = session.next(at: now, options) { step in
            let line = session.script.steps[step].line
            guard let after = causesBegin(step, of: session) else { return .free(since: nil) }
            if let cause = causes.firstOpen(after: after, before: line, for: session.id, in: run, claims) {
                if open == nil { open = (cause, step) }
                return .held
            }
            return .free(since: causes.latest(before: line, for: session.id, in: run, claims))
        }
        guard let open else {
            causes.waitsNoMore(session.id, in: run)
            return (next, nil)
        }
        let since = causes.waits(session.id, in: run, at: now)
        return (next, OpenCause(cause: open.cause, step: open.step, since: since))
    }

    /// The step waits only for causes behind this line of the tape. Nil if it waits for none.
    private func causesBegin(_ step: Int, of session: SessionRun) -> Int32? {
        let script = session.script
        guard script.steps[step].role != .handshake else { return nil }
        guard options.causality == .auto, script.steps[step].role == .reply else { return 0 }
        // A call is answered because of what follows it.
        return script.steps[step].group.flatMap { script.groups[$0].request }.map { script.steps[$0].line }
    }

    /// When the session stops waiting for an open cause. Nil if it goes on waiting.
    func expiry(of open: OpenCause?, for session: SessionRun) -> SessionRun.ElsewhereExpiry? {
        guard let open, let openedAt = session.link?.openedAt else { return nil }
        let start = max(session.tally.lastProgress, openedAt)
        func expires(at: WireInstant) -> SessionRun.ElsewhereExpiry {
            SessionRun.ElsewhereExpiry(
                at: at, what: .elsewhere(cause: open.cause), holdsNext: open.step == session.cursor.head)
        }
        switch options.causality {
        case .session: return nil
        case .tape:
            let isOnlyThat = session.cursor.awaited(before: session.cursor.head, most: 1).isEmpty
            return isOnlyThat && !session.isStepped(options) ? expires(at: start.advanced(by: options.patience)) : nil
        case .auto:
            let began = session.isStepped(options) ? max(start, open.since) : start
            let before = Anchor(at: began, recorded: session.before(open.step))
            return expires(
                at: lastMoment(for: open.cause, behind: before, session.id, in: claims[session].tapeRun))
        }
    }

    /// When `--causality auto` stops waiting for a cause: after the time that the recorded client took since the event before it, and the
    /// grace. No speed makes this time shorter.
    private func lastMoment(
        for cause: Int, behind before: Anchor, _ session: SessionID?, in run: Int
    ) -> WireInstant {
        let cause = causes[cause]
        func time(after anchor: Anchor) -> WireInstant {
            let gap = cause.time > anchor.recorded ? cause.time - anchor.recorded : 0
            return anchor.at.advanced(by: min(gap, options.patience))
        }
        let last = causes.latest(before: cause.line, for: session, in: run, claims)
        return max(time(after: before), last.map(time) ?? .zero).advanced(by: options.grace)
    }

    /// The response with the time until which it waits for something on another connection. Nil if it does not wait.
    mutating func held(
        _ answer: ExchangeBook.UnderWay, into out: inout [ReplayAction]
    ) -> ExchangeBook.UnderWay? {
        guard options.causality != .session else { return nil }
        let exchange = exchanges.recorded[answer.turn.exchange]
        let run = answer.turn.tapeRun
        while let cause = causes.firstOpen(whileAnswering: exchange, in: run, claims) {
            let asked = Anchor(at: answer.asked, recorded: exchange.time)
            let until =
                options.causality == .tape
                ? answer.asked.advanced(by: options.patience) : lastMoment(for: cause, behind: asked, nil, in: run)
            guard until <= now else {
                var held = answer
                held.due = until
                held.isHeld = true
                return held
            }
            causes.giveUp(cause, for: nil, in: run, claims)
            out.append(
                .log(
                    "wiretape: the response to \(exchange.request.method) \(exchange.request.path) waited in vain for "
                        + text(of: cause)))
        }
        return nil
    }

    /// Other sessions may wait for what this session's client did.
    mutating func advanceOthers(than session: SessionRun, into out: inout [ReplayAction]) {
        advanceWaiting(in: claims[session].tapeRun, except: session.id, into: &out)
    }

    /// Lets sessions go on whose causes on other connections have come.
    /// - Parameter run: of the tape. All runs if nil.
    mutating func advanceWaiting(in run: Int? = nil, except session: SessionID? = nil, into out: inout [ReplayAction]) {
        if exchanges.isAnswering, exchanges.lookAgain(at: now) { finishExchanges(into: &out) }
        for id in causes.waiting(in: run) where id != session && runs[id.place].isConnected {
            advanceAlone(runs[id.place], into: &out)
        }
    }

    /// The session no longer waits for a cause.
    mutating func giveUp(_ cause: Int, for session: SessionRun, into out: inout [ReplayAction]) {
        let run = claims[session].tapeRun
        let head = session.cursor.head
        let what = text(of: cause)
        guard options.causality == .tape else {
            causes.giveUp(cause, for: session.id, in: run, claims)
            session.tally.note(letGo: what)
            return
        }
        guard head < session.script.steps.count else { return }
        let forgiven = max(causes[cause].line, session.script.steps[head].line - 1)
        causes.forgive(upTo: forgiven, for: session.id, in: run)
        session.tally.forgive(elsewhere: what, at: now)
        let text =
            "wiretape: still waiting for \(what), which session \(session.recorded.number) waits for "
            + "(--causality tape), after \(DurationText.spoken(options.patience))."
        diverge(session, text, reason: "wiretape: still waiting for \(what)", into: &out)
    }

    /// A note for the report on the causes that did not come.
    func letGoNote(of session: SessionRun) -> String? {
        let letGo = session.tally.letGo
        guard !letGo.texts.isEmpty else { return nil }
        let shown = letGo.texts.prefix(3)
        let rest = letGo.texts.count - shown.count + letGo.beyond
        return "messages waited in vain for \(shown.joined(separator: ", "))\(rest > 0 ? " and \(rest) more" : ""), "
            + "which the tape has before them on other connections; --causality session turns this wait off"
    }

    /// `POST /say (chat.tape:7)`, `a client message of session 2 (chat.tape:7)`
    private func text(of cause: Int) -> String {
        let place = "(\(tapeName):\(causes[cause].line))"
        switch causes[cause].what {
        case .request(let exchange):
            let head = exchanges.recorded[exchange].request
            return "\(head.method) \(head.path) \(place)"
        case .opening(let id): return "the client of session \(library[id].number) \(place)"
        case .message(let id): return "a client message of session \(library[id].number) \(place)"
        }
    }
}
