internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// Requests that are one message of the client, and whose answers carry its chain. What counts is the operation: it may have
/// been recorded as an exchange of any transport or within a session.
extension ReplayEngine {
    /// - Returns: false when it is none, or the tape has no operations there; then nothing is done.
    mutating func operation(
        _ c: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ codec: CodecEntry, into out: inout [ReplayAction]
    ) -> Bool {
        let opening = StreamOpening(request: head, requestBody: body)
        guard codec.type.isToldByAnswer || codec.type.claim(opening) >= .likely else { return false }
        let payload = codec.type.payload(of: opening)
        var reader = codec.type.init(opening)
        var messages: [Message] = []
        reader.decode(payload.span, .text, .toServer, into: &messages)
        guard messages.count == 1, var message = messages.first, message.role == .request else { return false }
        settle(&message, head, on: c)
        if let name = name(head, c), isUnknown(name, on: c) {
            unknownName(name, c, head, into: &out)
            return true
        }
        switch find(message, opening, codec, c) {
        case .nothing: return false
        case .run(let r):
            if let obstacle = runs[r].session.obstacle {
                let reason = obstructed(runs[r].session, obstacle, into: &out)
                out.append(.respond(c, plain(404, reason).readable(by: head), thenClose: false))
            } else {
                serve(message, payload, opening, of: r, on: c, into: &out)
            }
        case .refused(let r): refuseReconnect(r, c, head, codec, into: &out)
        case .exhausted(let count):
            refuseOperation(message, exhaustedText(message, count), opening, codec, c, into: &out)
        case .different(let nearest):
            let text = differenceText(message, nearest)
            refuseOperation(message, text, opening, codec, c, into: &out)
        }
        return true
    }

    private enum Found {
        /// The tape has no operations there.
        case nothing
        case run(Int)
        /// The client is back, and the policy does not let it go on.
        case refused(Int)
        /// All equal ones are taken, so many.
        case exhausted(Int)
        /// No equal one; the one that is most like it.
        case different(nearest: Int)
    }

    private mutating func find(
        _ message: Message, _ opening: StreamOpening, _ codec: CodecEntry, _ c: ConnectionID
    ) -> Found {
        let head = opening.request
        let book = book()
        let routes = candidates(for: head, codec)
        let name = name(head, c)
        let named = name.flatMap { library.table.sessions(named: $0, at: upstream(of: c)) }
        let key = Script.key(message, at: nil, ignore: options.ignore)
        var equal = within(book.equal(to: key), routes, named)
        if options.match == .off, equal.isEmpty { equal = within(book.all, routes, named) }
        let identity = identity(head, c)
        let last = codec.type.lastID(head)
        if let last { equal = inOrder(equal, behind: last) }
        if let r = interrupted(identity, equal.map(\.session), behind: last) {
            switch reconnection(of: r) {
            case .goesOn:
                if runs[r].generation > 0 { runs[r].client.assigned = .identity }
                return .run(r)
            case .elsewhere: runs[r].standing.isLeft = true
            case .refused: return .refused(r)
            }
        }
        let free = next(equal, identity)
        if codec.type.isToldByAnswer, goesFirst(opening, before: free?.0.session, equal, c) { return .nothing }
        if let (one, tapeRun) = free {
            if options.match == .strict,
                let first = within(book.all, routes, named).first(where: { isFree($0, in: tapeRun) }),
                first.key != one.key
            {
                return .different(nearest: first.session)
            }
            return .run(begin(one.session, in: tapeRun, identity, name: name, on: c))
        }
        if let one = takenBack(equal) {
            let tapeRun = claims.open(for: identity, isClosed: true)
            return .run(begin(one.session, in: tapeRun, identity, name: name, on: c))
        }
        if let r = returned(identity, equal.map(\.session)) {
            runs[r].client.assigned = .identity
            return reconnection(of: r) == .refused ? .refused(r) : .run(r)
        }
        if let again = repeated(equal, head, identity, behind: last) {
            return .run(begin(again.session, in: again.tapeRun, identity, name: name, on: c))
        }
        if !equal.isEmpty { return .exhausted(equal.count) }
        var all = within(book.all, routes, named)
        // Of other methods are other requests.
        if codec.type.isToldByAnswer { all.removeAll { $0.request.type != message.type } }
        guard let nearest = nearest(to: message, among: all) else { return .nothing }
        guard [.warn, .ignore].contains(options.onDivergence), let (one, tapeRun) = next([nearest], identity) else {
            return .different(nearest: nearest.session)
        }
        return .run(begin(one.session, in: tapeRun, identity, name: name, on: c))
    }

    /// Those of the routes, and of the sessions that have the client's name.
    private func within(
        _ list: [OperationBook.Operation], _ routes: [Int], _ named: [Int]?
    ) -> [OperationBook.Operation] {
        list.filter { one in
            routes.contains(library.table.routeOf[one.session])
                && (named.map { library.sources(of: one.session).allSatisfy($0.contains) } ?? true)
        }
    }

    /// The client's run of one of those sessions that lost its connection.
    private func interrupted(_ identity: String, _ sessions: [Int], behind last: String?) -> Int? {
        let mine = (claims.clients[identity]?.claims ?? []).filter { r in
            guard runs[r].session.isOperation, !runs[r].isConnected, sessions.contains(claims.all[r].session) else {
                return false
            }
            if runs[r].standing.failure != nil { return true }
            return !runs[r].isOver && (runs[r].generation > 0 || runs[r].attempts.last?.outcome != nil)
        }
        return last.flatMap { last in mine.first { runs[$0].script.step(ofID: last, runs[$0].session) != nil } }
            ?? mine.first
    }

    /// The client's run of one of those sessions that lost its connection when nothing of it was left.
    private func returned(_ identity: String, _ sessions: [Int]) -> Int? {
        (claims.clients[identity]?.claims ?? []).last { r in
            runs[r].session.isOperation && sessions.contains(claims.all[r].session) && mayReturn(to: r)
        }
    }

    /// The first that is left, in the client's own runs of the tape or in one that all share.
    private mutating func next(
        _ list: [OperationBook.Operation], _ identity: String
    ) -> (OperationBook.Operation, tapeRun: Int)? {
        if options.clients == 1, claims.tapeRuns.isEmpty { _ = claims.open(for: identity) }
        let own = options.clients == 1 ? Array(claims.tapeRuns.indices) : claims.clients[identity]?.tapeRuns ?? []
        for tapeRun in own {
            if let one = list.first(where: { isFree($0, in: tapeRun) }) { return (one, tapeRun) }
        }
        guard options.clients > 1, claims.tapeRuns.count < options.clients, let first = list.first else { return nil }
        return (first, claims.open(for: identity))
    }

    /// One that an operation has which differs from it: that only stands in, and the equal one gets the answer as well.
    private mutating func takenBack(_ list: [OperationBook.Operation]) -> OperationBook.Operation? {
        for one in list {
            for tapeRun in claims.tapeRuns {
                guard let r = tapeRun.holders[one.session], claims.all[r].session == one.session,
                    !runs[r].cursor.standIns.isEmpty
                else { continue }
                runs[r].cursor.forgetStandIns()
                return one
            }
        }
        return nil
    }

    /// What is played again when all is taken. A GET changes nothing and may come as often as a client likes.
    private mutating func repeated(
        _ list: [OperationBook.Operation], _ head: RequestHead, _ identity: String, behind id: String?
    ) -> (session: Int, tapeRun: Int)? {
        let isSafe = head.method == "GET"
        guard options.whenExhausted != .refuse || isSafe, runs.count < Claims.claimLimit,
            let first = list.first, let last = list.last
        else { return nil }
        if let id, let known = list.first(where: { knows($0.session, id) }) {
            return (known.session, claims.open(for: identity, isClosed: true))
        }
        let isRepeat = options.whenExhausted == .repeat
        return ((isRepeat ? first : last).session, claims.open(for: identity, isClosed: !isRepeat))
    }

    /// One of the same name that nobody has, of those the one that differs in the fewest places; else the first of that
    /// name, else the first of all.
    private func nearest(
        to message: Message, among all: [OperationBook.Operation]
    ) -> OperationBook.Operation? {
        let alike = all.filter { $0.request.label == message.label }
        let isLeft = { (one: OperationBook.Operation) in claims.tapeRuns.indices.contains { isFree(one, in: $0) } }
        var best: (one: OperationBook.Operation, places: Int)?
        var compared = 0
        for one in alike where isLeft(one) {
            let places = one.request.meaning.differences(from: message.meaning).count
            if places < best?.places ?? .max { best = (one, places) }
            compared += 1
            if compared == ScriptCursor.mostCompared { break }
        }
        return best?.one ?? alike.first ?? all.first(where: isLeft) ?? all.first
    }

    // MARK: Serving

    private mutating func serve(
        _ message: Message, _ payload: [UInt8], _ opening: StreamOpening, of r: Int, on c: ConnectionID,
        into out: inout [ReplayAction]
    ) {
        let head = opening.request
        let session = runs[r].session
        let type = session.codec.type
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        let hit = judge(head, .operation, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .operation, of: r, into: &out) }
        if let failure = runs[r].standing.failure {
            return answer(plain(409, failure), by: .replay, refusal: .diverged, head, of: r, on: c, into: &out)
        }
        if let refusal = recordedRefusal(of: r, at: .operation) {
            return answer(refusal, by: .server, head, of: r, on: c, into: &out)
        }
        let carriers = type.carriers(of: message, for: head, recorded: session.transport)
        guard let transport = carriers.first(where: options.transports.contains) else {
            return answer(type.answer(.notOffered, to: head), by: .replay, head, of: r, on: c, into: &out)
        }
        let recorded = session.transport == transport ? session.opening.response : nil
        var given = type.answer(.operation(transport, recorded: recorded), to: head)
        if recorded != nil {
            let own = given.headers
            given.headers += ExchangeAnswer.headers(of: session.opening, for: head).filter { field in
                !own.contains { equalIgnoringCase($0.name, field.name) }
            }
        }
        given = given.readable(by: head)
        // The head tells in which of a carrier's forms the answer is.
        var told = opening
        told.response = ResponseHead(status: given.status, headers: given.headers)
        var link = Link(transport, on: c, token: nil, told, session.codec, at: now)
        if transport == .http { link.body = .whole(given) }
        if transport == .multipart {
            let writer = (recorded == nil ? nil : session.multipart) ?? MultipartWriter(for: given)
            given.body = writer.opening
            link.body = .parts(MultipartAnswer(writer))
        }
        attach(link, c, head, .operation, to: r, into: &out)
        if transport != .http { out.append(.beginStream(c, given)) }
        if cutAfterOpening(hit, of: r, into: &out) { return }
        if let last = type.lastID(head) { runs[r].goOn(behind: last, at: now) }
        hear(payload.span, .text, from: r, into: &out)
    }

    /// An answer that ends the attempt.
    private mutating func answer(
        _ answer: HTTPAnswer, by: Attempt.End.Party, refusal: Attempt.OwnRefusal? = nil, _ head: RequestHead, of r: Int,
        on c: ConnectionID, into out: inout [ReplayAction]
    ) {
        runs[r].addStep(
            .init(
                request: ExchangeKind.operation.rawValue, status: answer.status,
                transport: runs[r].session.codec.type.transport(head), time: elapsed), failed: by,
            refusal: refusal, at: now)
        out.append(.respond(c, answer.readable(by: head), thenClose: false))
    }

    /// Ends the answer to an operation: properly only where the recorded server did so.
    /// - Returns: that the client is told by it.
    mutating func shutOperation(
        _ r: Int, _ c: ConnectionID, _ end: ConnectionEnd, _ isRecorded: Bool, into out: inout [ReplayAction]
    ) -> Bool {
        switch end {
        case .close(let code, let reason):
            if let answer = runs[r].link?.gathered {
                let head = runs[r].link?.opening.request ?? runs[r].session.opening.request
                let given = code == 1000 ? answer : plain(409, reason).readable(by: head)
                out.append(.respond(c, given, thenClose: false, ticket: ticket()))
                noteAnswered(on: c, of: r, into: &out)
                return true
            }
            // What a rule wants is the proper end of the answer, whatever a WebSocket would be told.
            if code == 1000 || !isRecorded {
                out.append(.endStream(c))
                return true
            }
            out.append(.disconnect(c))
        case .fin: out.append(.disconnect(c))
        case .reset: out.append(.reset(c))
        }
        peers[c]?.isOver = true
        return true
    }

    // MARK: What is not on the tape

    /// The protocol's own error with status 409.
    private mutating func refuseOperation(
        _ message: Message, _ text: String, _ opening: StreamOpening, _ codec: CodecEntry, _ c: ConnectionID,
        into out: inout [ReplayAction]
    ) {
        if recordsAnew(c, into: &out) { return }
        if options.onDivergence == .ignore { out.append(.log(text)) } else { diverged(text, into: &out) }
        guard options.onDivergence != .stall else { return }
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        var answer = plain(409, reason)
        if let refusal = codec.type.init(opening).refusal(of: message, reason: reason) {
            answer = codec.type.answer(.operation(.http, recorded: nil), to: opening.request)
            answer.status = 409
            answer.body = refusal.payload
        }
        out.append(.respond(c, answer.readable(by: opening.request), thenClose: false))
    }

    private func exhaustedText(_ message: Message, _ count: Int) -> String {
        "wiretape: \(message.title) was asked \(count == 1 ? "once" : "\(count) times") on \(tapeName) and came once more; "
            + "--when-exhausted repeat or last answers it again."
    }

    private mutating func differenceText(_ message: Message, _ nearest: Int) -> String {
        let run = SessionRun(library[nearest], script: script(of: nearest), at: now)
        let request = run.script.steps.indices.first { run.script.steps[$0].role == .request }
        return DivergenceText.unexpected(
            message, nearest: request, came: nil, in: run, tape: tapeName, after: elapsed)
    }
}
