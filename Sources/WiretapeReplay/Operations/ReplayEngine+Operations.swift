internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// Requests that are one message of the client, and whose answers carry its chain. What counts is the operation: it may have
/// been recorded as an exchange of any transport or within a session.
extension ReplayEngine {
    /// - Returns: false when it is none, or the tape has no operations there; then nothing is done.
    mutating func operation(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) -> Bool {
        let opening = StreamOpening(request: head, requestBody: body)
        guard codec.type.isToldByAnswer || codec.type.claim(opening) >= .likely else { return false }
        let payload = codec.type.payload(of: opening)
        var reader = codec.type.init(opening)
        var messages: [Message] = []
        reader.decode(payload.span, .text, .toServer, into: &messages)
        guard messages.count == 1, var message = messages.first, message.role == .request else { return false }
        settle(&message, head, on: connection)
        if let name = name(head, connection), isUnknown(name, on: connection) {
            unknownName(name, connection, head, into: &out)
            return true
        }
        switch find(message, opening, codec, connection, into: &out) {
        case .nothing: return false
        case .session(let session, let continuesStream):
            if let obstacle = session.recorded.obstacle {
                let reason = obstructed(session.recorded, obstacle, into: &out)
                out.append(.respond(connection, plain(404, reason).readable(by: head), thenClose: false))
            } else {
                let heard = continuesStream ? nil : payload
                serve(message, heard, opening, of: session, on: connection, into: &out)
            }
        case .refused(let session): refuseReconnect(session, connection, head, codec, into: &out)
        case .exhausted(let count):
            refuseOperation(message, exhaustedText(message, count), opening, codec, connection, into: &out)
        case .different(let nearest):
            let text = differenceText(message, nearest)
            refuseOperation(message, text, opening, codec, connection, into: &out)
        }
        return true
    }

    private enum Found {
        /// The tape has no operations there.
        case nothing
        /// The request is an operation of that session, or it asks for the rest of a stream that another request had opened.
        case session(SessionRun, continuesStream: Bool = false)
        /// The client is back, and the policy does not let it go on.
        case refused(SessionRun)
        /// All equal ones are taken, so many.
        case exhausted(Int)
        /// No equal one; the one that is most like it.
        case different(nearest: SessionLibrary.ID)
    }

    private mutating func find(
        _ message: Message, _ opening: StreamOpening, _ codec: CodecEntry, _ connection: ConnectionID,
        into out: inout [ReplayAction]
    ) -> Found {
        let head = opening.request
        let book = book()
        let routes = candidates(for: head, codec)
        let name = name(head, connection)
        let named = name.flatMap { library.table.sessions(named: $0, at: upstream(of: connection)) }
        let key = Script.key(message, at: nil, ignore: options.ignore)
        var equal = within(book.equal(to: key), routes, named)
        if options.match == .off, equal.isEmpty { equal = within(book.all, routes, named) }
        let identity = identity(head, connection)
        let last = codec.type.lastID(head)
        if let last { equal = inOrder(equal, behind: last) }
        // A recorded response to that very request goes first.
        let isAnswered = equal.isEmpty && equalExchange(head, opening.requestBody, connection) != nil
        if let last, head.method == "GET", !isAnswered {
            let others = operations(containing: last, besides: equal, among: within(book.all, routes, named))
            if let found = continueStream(in: others, identity, name: name, on: connection, into: &out) { return found }
        }
        if let session = interrupted(identity, equal.map(\.recorded), behind: last), let found = resume(session) {
            return found
        }
        let turn = options.match == .strict ? within(book.all, routes, named) : equal
        if let session = fallenBack(equal, turn, message, opening, connection) { return .session(session) }
        let free = next(equal, identity)
        if codec.type.isToldByAnswer, goesFirst(opening, before: free?.0.recorded, equal, connection) {
            return .nothing
        }
        if let (one, tapeRun) = free {
            if options.match == .strict,
                let first = within(book.all, routes, named).first(where: { isFree($0, in: tapeRun) }),
                first.key != one.key
            {
                return .different(nearest: first.recorded)
            }
            return .session(begin(one.recorded, in: tapeRun, identity, name: name, on: connection))
        }
        if let one = takenBack(equal) {
            let tapeRun = claims.open(for: identity, isClosed: true)
            return .session(begin(one.recorded, in: tapeRun, identity, name: name, on: connection))
        }
        if let session = halfClosed(identity, equal.map(\.recorded)) {
            giveUpHalfClosed(session, into: &out)
            if let found = resume(session) { return found }
        }
        if let session = returned(identity, equal.map(\.recorded)) {
            session.assign(by: .identity)
            return reconnection(of: session) == .refused ? .refused(session) : .session(session)
        }
        if let again = repeated(equal, head, identity, behind: last) {
            return .session(begin(again.recorded, in: again.tapeRun, identity, name: name, on: connection))
        }
        if !equal.isEmpty { return .exhausted(equal.count) }
        var all = within(book.all, routes, named)
        // Of other methods are other requests.
        if codec.type.isToldByAnswer { all.removeAll { $0.request.type != message.type } }
        guard let nearest = nearest(to: message, among: all) else { return .nothing }
        guard [.warn, .ignore].contains(options.onDivergence), let (one, tapeRun) = next([nearest], identity) else {
            return .different(nearest: nearest.recorded)
        }
        return .session(begin(one.recorded, in: tapeRun, identity, name: name, on: connection))
    }

    /// The result of `--on-reconnect` for a client that resumes its session. Nil: the session is abandoned, and the client gets another one.
    private func resume(_ session: SessionRun, continuesStream: Bool = false) -> Found? {
        switch reconnection(of: session) {
        case .goesOn:
            if session.generation > 0 { session.assign(by: .identity) }
            return .session(session, continuesStream: continuesStream)
        case .elsewhere:
            session.abandon()
            return nil
        case .refused: return .refused(session)
        }
    }

    /// The session whose stream continues although the client's request differs from the one that opened the stream.
    /// - Parameter streams: the sessions that contain the client's last event.
    private mutating func continueStream(
        in streams: [SessionLibrary.ID], _ identity: String, name: String?, on connection: ConnectionID,
        into out: inout [ReplayAction]
    ) -> Found? {
        if let session = takeInterruptedRun(streams, identity, into: &out) {
            return resume(session, continuesStream: true)
        }
        guard let stream = streams.first, runs.count < Claims.claimLimit else { return nil }
        // The request that opened the stream can still come.
        openSharedRunIfNeeded(for: identity)
        let tapeRun = claims.open(for: identity, isClosed: true)
        return .session(begin(stream, in: tapeRun, identity, name: name, on: connection), continuesStream: true)
    }

    /// Those of the routes, and of the sessions that have the client's name.
    private func within(
        _ list: [OperationBook.Operation], _ routes: [Int], _ named: [SessionLibrary.ID]?
    ) -> [OperationBook.Operation] {
        list.filter { one in
            routes.contains(library.table.route(of: one.recorded))
                && (named.map { library.sources(of: one.recorded).allSatisfy($0.contains) } ?? true)
        }
    }

    /// The client's run of one of those sessions that lost its connection.
    private func interrupted(_ identity: String, _ sessions: [SessionLibrary.ID], behind last: String?) -> SessionRun? {
        let mine = (claims.clients[identity]?.sessions ?? []).filter { session in
            guard session.recorded.isOperation, !session.isConnected, sessions.contains(claims[session].recorded) else {
                return false
            }
            if session.standing.failure != nil { return true }
            return !session.isOver && (session.generation > 0 || session.attempts.last?.outcome != nil)
        }
        return last.flatMap { last in mine.first { $0.script.step(ofID: last, $0.recorded) != nil } }
            ?? mine.first
    }

    /// The client's run of one of those sessions on whose connection the client's FIN has come. As long as an equal one is free the client
    /// may as well read the answer of the first while it asks again.
    private func halfClosed(_ identity: String, _ sessions: [SessionLibrary.ID]) -> SessionRun? {
        (claims.clients[identity]?.sessions ?? []).first { session in
            session.recorded.isOperation && session.link?.halfClosedAt != nil
                && sessions.contains(claims[session].recorded)
        }
    }

    /// The client's run of one of those sessions that lost its connection when nothing of it was left.
    private func returned(_ identity: String, _ sessions: [SessionLibrary.ID]) -> SessionRun? {
        (claims.clients[identity]?.sessions ?? []).last { session in
            session.recorded.isOperation && sessions.contains(claims[session].recorded) && mayReturn(to: session)
        }
    }

    /// The first that is left, in the client's own runs of the tape or in one that all share.
    private mutating func next(
        _ list: [OperationBook.Operation], _ identity: String
    ) -> (OperationBook.Operation, tapeRun: Int)? {
        openSharedRunIfNeeded(for: identity)
        let own = options.clients == 1 ? Array(claims.tapeRuns.indices) : claims.clients[identity]?.tapeRuns ?? []
        for tapeRun in own {
            if let one = list.first(where: { isFree($0, in: tapeRun) }) { return (one, tapeRun) }
        }
        guard options.clients > 1, claims.tapeRuns.count < options.clients, let first = list.first else { return nil }
        return (first, claims.open(for: identity))
    }

    /// If all clients share the runs of the tape, opens the first run for the first client.
    private mutating func openSharedRunIfNeeded(for identity: String) {
        if options.clients == 1, claims.tapeRuns.isEmpty { _ = claims.open(for: identity) }
    }

    /// One that an operation has which differs from it: that only stands in, and the equal one gets the answer as well.
    private mutating func takenBack(_ list: [OperationBook.Operation]) -> OperationBook.Operation? {
        for one in list {
            for tapeRun in claims.tapeRuns {
                guard let session = tapeRun.holders[one.recorded], claims[session].recorded == one.recorded,
                    !session.cursor.standIns.isEmpty
                else { continue }
                session.cursor.forgetStandIns()
                return one
            }
        }
        return nil
    }

    /// What is played again when all is taken. A GET changes nothing and may come as often as a client likes.
    private mutating func repeated(
        _ list: [OperationBook.Operation], _ head: RequestHead, _ identity: String, behind id: String?
    ) -> (recorded: SessionLibrary.ID, tapeRun: Int)? {
        let isSafe = head.method == "GET"
        guard options.whenExhausted != .refuse || isSafe, runs.count < Claims.claimLimit,
            let first = list.first, let last = list.last
        else { return nil }
        if let id, let known = list.first(where: { knows($0.recorded, id) }) {
            return (known.recorded, claims.open(for: identity, isClosed: true))
        }
        let isRepeat = options.whenExhausted == .repeat
        return ((isRepeat ? first : last).recorded, claims.open(for: identity, isClosed: !isRepeat))
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

    /// - Parameter payload: the client's message. Nil if the request asks for the rest of a stream that another request had opened.
    private mutating func serve(
        _ message: Message, _ payload: [UInt8]?, _ opening: StreamOpening, of session: SessionRun,
        on connection: ConnectionID, into out: inout [ReplayAction]
    ) {
        let head = opening.request
        let type = session.recorded.codec.type
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        let hit = judge(head, .operation, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after {
            return carryOut(hit, on: connection, head, .operation, of: session, into: &out)
        }
        if let failure = session.standing.failure {
            return answer(
                plain(409, failure), by: .replay, refusal: .diverged, head, of: session, on: connection, into: &out)
        }
        if let refusal = recordedRefusal(of: session, at: .operation) {
            return answer(refusal, by: .server, head, of: session, on: connection, into: &out)
        }
        let carriers = type.carriers(of: message, for: head, recorded: session.recorded.transport)
        guard let transport = carriers.first(where: options.transports.contains) else {
            return answer(
                type.answer(.notOffered, to: head), by: .replay, head, of: session, on: connection, into: &out)
        }
        let recorded = session.recorded.transport == transport ? session.recorded.opening.response : nil
        var given = type.answer(.operation(transport, recorded: recorded), to: head)
        if recorded != nil {
            let own = given.headers
            given.headers += ExchangeAnswer.headers(of: session.recorded.opening, for: head).filter { field in
                !own.contains { equalIgnoringCase($0.name, field.name) }
            }
        }
        given = given.readable(by: head)
        // The head tells in which of a carrier's forms the answer is.
        var told = opening
        told.response = ResponseHead(status: given.status, headers: given.headers)
        var body = transport == .http ? Link.Body.whole(given) : .stream
        if transport == .multipart {
            let writer = (recorded == nil ? nil : session.recorded.multipart) ?? MultipartWriter(for: given)
            given.body = writer.opening
            body = .parts(MultipartAnswer(writer))
        }
        let link = Link(transport, on: connection, token: nil, told, session.recorded.codec, body: body, at: now)
        attach(link, connection, head, .operation, to: session, into: &out)
        if transport != .http { out.append(.beginStream(connection, given)) }
        if cutAfterOpening(hit, of: session, into: &out) { return }
        if let last = type.lastID(head) { session.goOn(behind: last, requestFollows: payload != nil, at: now) }
        if let payload { hear(payload.span, .text, from: session, into: &out) } else { advance(session, into: &out) }
    }

    /// An answer that ends the attempt.
    private mutating func answer(
        _ answer: HTTPAnswer, by: Attempt.End.Party, refusal: Attempt.OwnRefusal? = nil, _ head: RequestHead,
        of session: SessionRun,
        on connection: ConnectionID, into out: inout [ReplayAction]
    ) {
        session.addStep(
            .init(
                request: ExchangeKind.operation.rawValue, status: answer.status,
                transport: session.recorded.codec.type.transport(head), time: elapsed), failed: by,
            refusal: refusal, at: now)
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
    }

    /// Ends the answer to an operation: properly only where the recorded server did so.
    /// - Returns: that the client is told by it.
    mutating func shutOperation(
        _ session: SessionRun, _ connection: ConnectionID, _ end: ConnectionEnd, _ isRecorded: Bool,
        into out: inout [ReplayAction]
    ) -> Bool {
        switch end {
        case .close(let code, let reason):
            if let answer = session.link?.gathered {
                let head = session.link?.opening.request ?? session.recorded.opening.request
                let given = code == 1000 ? answer : plain(409, reason).readable(by: head)
                out.append(.respond(connection, given, thenClose: false, ticket: ticket()))
                noteAnswered(on: connection, of: session, into: &out)
                return true
            }
            // What a rule wants is the proper end of the answer, whatever a WebSocket would be told.
            if code == 1000 || !isRecorded {
                out.append(.endStream(connection))
                return true
            }
            out.append(.disconnect(connection))
        case .fin: out.append(.disconnect(connection))
        case .reset: out.append(.reset(connection))
        }
        peers.end(connection)
        return true
    }

    // MARK: What is not on the tape

    /// The protocol's own error with status 409.
    private mutating func refuseOperation(
        _ message: Message, _ text: String, _ opening: StreamOpening, _ codec: CodecEntry, _ connection: ConnectionID,
        into out: inout [ReplayAction]
    ) {
        if recordsAnew(connection, into: &out) { return }
        if options.onDivergence == .ignore { out.append(.log(text)) } else { diverged(text, into: &out) }
        guard options.onDivergence != .stall else { return }
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        var answer = plain(409, reason)
        if let refusal = codec.type.init(opening).refusal(of: message, reason: reason) {
            answer = codec.type.answer(.operation(.http, recorded: nil), to: opening.request)
            answer.status = 409
            answer.body = refusal.payload
        }
        out.append(.respond(connection, answer.readable(by: opening.request), thenClose: false))
    }

    private func exhaustedText(_ message: Message, _ count: Int) -> String {
        "wiretape: \(message.title) was asked \(count == 1 ? "once" : "\(count) times") on \(tapeName) and came once more; "
            + "--when-exhausted repeat or last answers it again."
    }

    private mutating func differenceText(_ message: Message, _ nearest: SessionLibrary.ID) -> String {
        // As if a client had just begun it: nothing of it has come.
        let begun = SessionRun(
            library[nearest], script: script(of: nearest), id: SessionID(place: runs.count), run: 1, at: now)
        let request = begun.script.steps.indices.first { begun.script.steps[$0].role == .request }
        return DivergenceText.unexpected(
            message, nearest: request, came: nil, in: begun, tape: tapeName, after: elapsed)
    }
}
