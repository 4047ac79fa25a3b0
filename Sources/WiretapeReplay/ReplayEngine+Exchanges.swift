internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// Answers an ordinary request from the tape.
    /// - Returns: false when the tape has nothing of its method and path: then nothing is done.
    mutating func exchange(
        _ connection: ConnectionID, _ head: RequestHead, body: [UInt8], into out: inout [ReplayAction]
    ) -> Bool {
        guard !exchanges.isEmpty else { return false }
        let identity = identity(head, connection)
        let tapeRun = ownRun(identity)
        let counts = tapeRun.map { claims.tapeRuns[$0].exchanges } ?? [:]
        switch exchanges.find(
            head, at: mapped(head.path), body: body, upstream: upstream(of: connection), options,
            played: { counts[$0, default: 0] },
            recordedID: { ids.recorded($0) })
        {
        case .nothing: return false
        case .list(let list):
            play(list, connection, head, body, identity, into: &out)
            advanceWaiting(into: &out)
        case .different where queryText(head) != nil: return false
        case .different(let nearest):
            let text = differenceText(head, body, exchanges.recorded[nearest])
            unexpected(connection, head, text, into: &out)
        }
        return true
    }

    /// The next of the exchanges that are equal to a request, nil when all were played, and the last of them.
    mutating func equalExchange(
        _ head: RequestHead, _ body: [UInt8], _ connection: ConnectionID
    ) -> (next: Int?, last: Int)? {
        guard !exchanges.isEmpty else { return nil }
        let tapeRun = ownRun(identity(head, connection))
        let counts = tapeRun.map { claims.tapeRuns[$0].exchanges } ?? [:]
        let found = exchanges.find(
            head, at: mapped(head.path), body: body, upstream: upstream(of: connection), options,
            played: { counts[$0, default: 0] },
            recordedID: { ids.recorded($0) })
        guard case .list(let list) = found, let last = exchanges.list(list).last else { return nil }
        let members = exchanges.list(list)
        let played = counts[list, default: 0]
        return (played < members.count ? members[played] : nil, last)
    }

    private mutating func play(
        _ list: Int, _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ identity: String,
        into out: inout [ReplayAction]
    ) {
        let members = exchanges.list(list)
        let asked = StreamOpening(request: head, requestBody: body)
        let protocolType = exchanges.sideRequest(asked)?.1
        guard let (tapeRun, place) = turn(list, of: members, head, identity, isSideRequest: protocolType != nil) else {
            return unexpected(connection, head, exhaustedText(head, members.count, identity), into: &out)
        }
        rules.countRequest()
        let moment = FaultMoment(session: 0, run: tapeRun + 1, attempt: 1, retry: 0)
        let fate =
            rules.isEmpty
            ? nil : rules.judge(head, .other, ordinal: nil, moment)
        if let fate, carryOut(fate, on: connection, head, moment, exchanges.recorded[members[place]].line, into: &out) {
            return
        }
        give(list, place, in: tapeRun, connection, asked, fate, moment, into: &out)
    }

    /// Equal requests get their recorded answers in turn: this is the one of that place.
    private mutating func give(
        _ list: Int, _ place: Int, in tapeRun: Int, _ connection: ConnectionID, _ asked: StreamOpening,
        _ fate: RequestFate?,
        _ moment: FaultMoment, of session: SessionRun? = nil, into out: inout [ReplayAction]
    ) {
        let head = asked.request
        let members = exchanges.list(list)
        let protocolType = exchanges.sideRequest(asked)?.1
        claims.play(list, in: tapeRun)
        causes.came(request: members[place], in: tapeRun, at: now)
        let exchange = exchanges.recorded[suitable(place, of: members, for: head)]
        guard exchange.failure != .unanswered else { return exchanges.deliver() }
        guard !exchange.isCut || exchange.failure != nil else {
            exchanges.deliver()
            let text =
                "the recorded answer to \(head.method) \(head.path) is not whole on the tape, too long or damaged"
            return refuse(connection, head, 501, text, into: &out)
        }
        var answer = ExchangeAnswer.make(exchange, for: head).readable(by: head)
        if let protocolType {
            answer.body = protocolType.renewed(answer.body, of: exchange.opening, for: asked, options.codecSettings)
        }
        // How long the recorded server took.
        let delay = options.scaled(from: exchange.time, to: exchange.answered)
        let due = now.advanced(by: delay)
        if let session { answer = session.applyLifetime(to: answer, at: elapsed + delay, requested: elapsed) }
        exchanges.wait(
            ExchangeBook.UnderWay(
                asked: now, due: due,
                turn: ExchangeBook.Turn(list: list, place: place, tapeRun: tapeRun, exchange: members[place]),
                connection: connection, answer: answer, failure: exchange.failure, fate: fate, moment: moment))
        finishExchanges(into: &out)
    }

    /// Answers the request with the next recorded exchange that equals it: a negotiation that led to no session, a renewed credential.
    /// - Parameter session: the session that the request is about. Nil: none.
    /// - Returns: the response's status. Nil if no such exchange is left.
    mutating func respondWithNextExchange(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8] = [], of session: SessionRun? = nil,
        into out: inout [ReplayAction]
    ) -> Int? {
        guard !exchanges.isEmpty,
            let tapeRun = session.map({ claims[$0].tapeRun }) ?? ownRun(identity(head, connection))
        else { return nil }
        let counts = claims.tapeRuns[tapeRun].exchanges
        let found = exchanges.find(
            head, at: mapped(head.path), body: body, upstream: upstream(of: connection), options,
            played: { counts[$0, default: 0] }, recordedID: { $0 })
        guard case .list(let list) = found, counts[list, default: 0] < exchanges.list(list).count
        else { return nil }
        let place = counts[list, default: 0]
        let moment = FaultMoment(session: 0, run: tapeRun + 1, attempt: 1, retry: 0)
        let asked = StreamOpening(request: head, requestBody: body)
        give(list, place, in: tapeRun, connection, asked, nil, moment, of: session, into: &out)
        return exchanges.recorded[exchanges.list(list)[place]].response.status
    }

    /// Sends the answers whose time has come.
    mutating func finishExchanges(into out: inout [ReplayAction]) {
        guard exchanges.isAnswering else { return }
        for one in exchanges.takeAnswers(by: now) {
            guard let peer = peers[one.connection], !peer.isOver else { continue }
            if let held = held(one, into: &out) {
                exchanges.wait(held)
                continue
            }
            clock.acted()
            if let failure = one.failure {
                exchanges.deliver()
                fail(one, failure, into: &out)
                continue
            }
            if one.fate?.truncated == nil {
                let ticket = ticket()
                exchanges.leaves(one, ticket)
                out.append(.respond(one.connection, one.answer, thenClose: false, ticket: ticket))
            } else {
                exchanges.deliver()
                out.append(.respond(one.connection, one.answer, thenClose: false))
            }
            guard let ending = one.fate?.following else { continue }
            let ticket = ticket()
            rules.add(
                .init(connection: one.connection, ticket: ticket, ending: ending, moment: one.moment, session: nil))
            out.append(.awaitAcknowledged(one.connection, ticket: ticket))
        }
    }

    /// Sends the recorded part of the response, if there is one, and ends the connection as the recorded server did.
    private mutating func fail(
        _ one: ExchangeBook.UnderWay, _ failure: RecordedExchange.Failure, into out: inout [ReplayAction]
    ) {
        switch failure {
        case .unanswered: return
        case .hungUp(let isReset): shut(one.connection, isReset ? .reset : .fin, into: &out)
        case .cut(let isReset):
            let exchange = exchanges.recorded[one.turn.exchange]
            out.append(.raw(one.connection, spoken(ExchangeAnswer.part(exchange, one.answer), on: one.connection)))
            let ticket = ticket()
            let ending = Link.Ending(verdict: isReset ? .reset : .disconnect, hit: nil, isToldAlready: true)
            rules.add(
                .init(connection: one.connection, ticket: ticket, ending: ending, moment: one.moment, session: nil))
            out.append(.awaitAcknowledged(one.connection, ticket: ticket))
        }
    }

    // MARK: Whose turn it is

    /// The run of the tape of a client; nil when it has none and all are given away.
    private mutating func ownRun(_ identity: String) -> Int? {
        if options.clients == 1 { return claims.tapeRuns.isEmpty ? claims.open(for: identity) : 0 }
        if let own = claims.clients[identity]?.tapeRuns.first { return own }
        return claims.tapeRuns.count < options.clients ? claims.open(for: identity) : nil
    }

    /// The next answer of equal requests: that of the first run of the client with one left, else what
    /// `--when-exhausted` says. What changes nothing at the server may be asked as often as a client likes.
    private mutating func turn(
        _ list: Int, of members: [Int], _ head: RequestHead, _ identity: String, isSideRequest: Bool
    ) -> (tapeRun: Int, place: Int)? {
        guard ownRun(identity) != nil else { return nil }
        let own = options.clients == 1 ? [0] : claims.clients[identity]?.tapeRuns ?? []
        for tapeRun in own {
            let played = claims.played(list, in: tapeRun)
            if played < members.count { return (tapeRun, played) }
        }
        if options.clients > 1, claims.tapeRuns.count < options.clients { return (claims.open(for: identity), 0) }
        let last = own[own.count - 1]
        switch options.whenExhausted {
        case .repeat: return (last, claims.played(list, in: last) % members.count)
        case .last: return (last, members.count - 1)
        case .refuse:
            let changesNothing =
                isSideRequest || ["GET", "HEAD"].contains(head.method) || exchanges.recorded[members[0]].isNegotiation
            return changesNothing ? (last, members.count - 1) : nil
        }
    }

    /// A client without a copy of its own cannot be told that it has not changed.
    private func suitable(_ place: Int, of members: [Int], for head: RequestHead) -> Int {
        let isConditional = head.headers.contains {
            equalIgnoringCase($0.name, "If-None-Match") || equalIgnoringCase($0.name, "If-Modified-Since")
        }
        guard exchanges.recorded[members[place]].response.status == 304, !isConditional else { return members[place] }
        return members.first { exchanges.recorded[$0].response.status == 200 } ?? members[place]
    }

    // MARK: What is not on the tape

    private func exhaustedText(_ head: RequestHead, _ count: Int, _ identity: String) -> String {
        let asked = "wiretape: \(head.method) \(head.path)"
        if options.clients > 1, claims.clients[identity]?.tapeRuns.isEmpty ?? true {
            return "\(asked) came from one client more than --clients \(options.clients) allows."
        }
        return "\(asked) was answered \(count == 1 ? "once" : "\(count) times") on \(tapeName) and came once more; "
            + "--when-exhausted repeat or last answers it again."
    }

    /// For the report.
    var exchangeReport: ReplayReport.Exchanges {
        var report = ReplayReport.Exchanges()
        report.recorded = exchanges.recorded.count
        report.played = exchanges.played
        report.unexpected = exchanges.unexpected.texts
        report.unexpectedBeyond = exchanges.unexpected.beyond
        report.givenUp = exchanges.givenUp.texts
        report.givenUpBeyond = exchanges.givenUp.beyond
        report.unplayed = unplayed.prefix(1_000).map { i in
            let exchange = exchanges.recorded[i]
            let at = exchanges.upstream(of: exchange).map { " at \($0)" } ?? ""
            return "\(exchange.request.method) \(exchange.request.path)\(at) (\(tapeName):\(exchange.line))"
        }
        return report
    }

    /// Recorded exchanges that no client asked for in any run of the tape, except requests that the recorded client gave up.
    var unplayed: [Int] {
        exchanges.recorded.indices.filter { i in
            guard !exchanges.left.contains(i), exchanges.recorded[i].failure != .unanswered else { return false }
            guard let (list, place) = exchanges.place(of: i) else { return true }
            return !claims.tapeRuns.contains { $0.exchanges[list, default: 0] > place }
        }
    }

    private mutating func unexpected(
        _ connection: ConnectionID, _ head: RequestHead, _ text: String, into out: inout [ReplayAction]
    ) {
        if recordsAnew(connection, into: &out) { return }
        exchanges.missed("\(head.method) \(head.target)")
        unanswered(connection, head, 409, String(text.dropFirst("wiretape: ".count)), into: &out)
    }

    /// - Returns: whether the request has what it gets.
    private mutating func carryOut(
        _ fate: RequestFate, on connection: ConnectionID, _ head: RequestHead, _ moment: FaultMoment,
        _ line: Int, into out: inout [ReplayAction]
    ) -> Bool {
        for hit in fate.hits where hit != fate.following?.hit {
            record(hit, moment, cut: false)
            let isAnswer = hit == fate.end?.hit && fate.truncated == nil
            noteFault(hit, line: line, isAnswer ? .end : .answer, on: connection, into: &out)
        }
        if fate.delay > 0, !fate.leavesNoAnswer {
            out.append(.hold(connection, for: fate.delay))
        }
        for effect in fate.effectsBefore { apply(effect, on: connection, into: &out) }
        if let count = fate.truncated { out.append(.limit(connection, bytes: count)) }
        guard let end = fate.end, fate.truncated == nil else { return false }
        let wait = fate.delay.addingReportingOverflow(fate.lingering).partialValue
        _ = say(end, on: connection, head, .other, after: wait, of: nil, into: &out)
        guard case .outage = end.verdict.kind else { return true }
        return peers[connection]?.isOver == true || rules.outage(at: now) != nil
    }

    /// The request beside the recorded one that is most like it, with the place of the first difference.
    private func differenceText(_ head: RequestHead, _ body: [UInt8], _ recorded: RecordedExchange) -> String {
        let place = "\(recorded.request.method) \(recorded.request.path)"
        var text = "wiretape: diverged at \(head.method) \(head.path) (\(tapeName):\(recorded.line)), after "
        text += "\(DurationText.milliseconds(elapsed / 1_000_000 * 1_000_000)) ms\n"
        let rules = options.ignore.filter { [recorded.request.path, place, "*"].contains($0.label) }
        let ignored = recorded.ignored(options.ignore)
        if let (name, left, right) = StableQuery.difference(recorded.request, head, ignoring: ignored) {
            text += "    recorded  \(Summary.part(left))\n    received  \(Summary.part(right))\n"
            return text + "    accept:   --ignore \(Summary.shellWord("\(place):?\(name)"))"
        }
        let left = ExchangeBody(recorded.requestBody, recorded.request.headers, ignoring: rules).value
        let right = ExchangeBody(body, head.headers, ignoring: rules).value
        let pointer = left.differences(from: right).first
        let received = Summary.line(right.text)
        text += "    recorded  \(Summary.line(left.text))\n    received  \(received)"
        guard let pointer else { return text + "    (out of turn)" }
        let padding = String(repeating: " ", count: max(4, 41 - received.count))
        text += "\(padding)\(pointer.isEmpty ? "(whole body)" : Summary.part(pointer))\n    accept:   "
        return text + (pointer.isEmpty ? "--match off" : "--ignore \(Summary.shellWord("\(place):\(pointer)"))")
    }
}
