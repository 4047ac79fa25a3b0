internal import WiretapeAttempts
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// The session that a request without a token gets, in this order: the oldest interrupted one of the same client, the
    /// next unclaimed one, one whose negotiation was never followed up, its own one that has been played to its end, what
    /// `--when-exhausted` says. Answers the request
    /// itself when there is none.
    mutating func claim(
        for head: RequestHead, _ codec: CodecEntry, _ connection: ConnectionID, into out: inout [ReplayAction]
    ) -> SessionRun? {
        let routes = candidates(for: head, codec)
        let name = name(head, connection)
        if let name, isUnknown(name, on: connection) {
            unknownName(name, connection, head, into: &out)
            return nil
        }
        let identity = identity(head, connection)
        let known = (claims.clients[identity]?.sessions ?? []).filter { routes.contains(claims[$0].route) }
        let mine = known.filter { !$0.isConnected }
        // Where many clients are expected they may all look like one: a new one must not get what another one has.
        let silent = options.clients == 1 ? known.first(where: isSilent) : nil
        if let session = mine.first(where: { isUnderWay($0, on: connection) }) ?? mine.first(where: isInterrupted)
            ?? silent
        {
            switch comesBack(to: session, connection, head, codec, into: &out) {
            case .goesOn: return session
            case .elsewhere: break
            case .refused: return nil
            }
        }
        if let (recorded, tapeRun) = nextFree(routes, identity, name: name) {
            return begin(recorded, in: tapeRun, identity, name: name, on: connection)
        }
        let waiting = known.first(where: isSilent) ?? known.first(where: isUnanswered)
        if let session = waiting ?? renewed(head, connection, name: name, routes) {
            switch comesBack(to: session, connection, head, codec, into: &out) {
            case .goesOn:
                remember(identity, of: session)
                return session
            case .elsewhere: break
            case .refused: return nil
            }
        }
        if let pending = mine.first(where: { !$0.isOver }) {
            claims.asked(pending, on: connection)
            return pending
        }
        if let session = returning(known) {
            switch comesBack(to: session, connection, head, codec, into: &out) {
            case .goesOn, .elsewhere: return session
            case .refused: return nil
            }
        }
        if let (recorded, tapeRun) = repeated(routes, identity, name: name) {
            return begin(recorded, in: tapeRun, identity, name: name, on: connection)
        }
        exhausted(connection, head, codec, identity, routes, into: &out)
        return nil
    }

    /// The routes whose path, stable query and subprotocol agree with the request.
    func candidates(for head: RequestHead, _ codec: CodecEntry) -> [Int] {
        library.table.routes(for: head, at: mapped(codec.type.route(head)), codec, upstream: here)
    }

    /// `--route` applied to a path: the longest rule that is the path or a folder above it.
    func mapped(_ path: String) -> String {
        let rules = options.routing.routes.filter { $0.covers(path) }
        return rules.max { $0.from.utf8.count < $1.from.utf8.count }?.applied(to: path) ?? path
    }

    /// Sessions that nobody has claimed in any run of the tape.
    var unclaimed: [SessionLibrary.ID] {
        let claimed = Set(claims.all.flatMap { library.sources(of: $0.recorded) })
        return library.recorded.filter { !claimed.contains($0) }
    }

    // MARK: Choosing

    /// A client that negotiates again over the connection on which it did so before has not gone on elsewhere.
    private func isUnderWay(_ session: SessionRun, on connection: ConnectionID) -> Bool {
        claims[session].connection == connection && session.negotiation.awaitsUpgrade && !session.isOver
    }

    /// Its connection was lost, or its attempt failed. One that was negotiated and not followed up may be another client's.
    func isInterrupted(_ session: SessionRun) -> Bool {
        if session.standing.failure != nil { return true }
        return !session.isOver && (!session.negotiation.awaitsUpgrade || session.attempts.last?.outcome != nil)
    }

    /// The next unclaimed session: of the client's own runs of the tape, or of those that all share.
    mutating func nextFree(
        _ routes: [Int], _ identity: String, name: String?
    ) -> (recorded: SessionLibrary.ID, tapeRun: Int)? {
        if options.clients == 1 {
            if claims.tapeRuns.isEmpty { _ = claims.open(for: identity) }
            return claims.shared(routes, library.table, name: name)
        }
        for tapeRun in claims.clients[identity]?.tapeRuns ?? [] {
            if let recorded = claims.free(in: tapeRun, routes, library.table, name: name) { return (recorded, tapeRun) }
        }
        guard claims.tapeRuns.count < options.clients else { return nil }
        let tapeRun = claims.open(for: identity)
        return claims.free(in: tapeRun, routes, library.table, name: name).map { ($0, tapeRun) }
    }

    /// What is played again when all is taken.
    private mutating func repeated(
        _ routes: [Int], _ identity: String, name: String?
    ) -> (recorded: SessionLibrary.ID, tapeRun: Int)? {
        guard options.whenExhausted != .refuse, runs.count < Claims.claimLimit else { return nil }
        let all = routes.flatMap { library.table.routes[$0].sessions }.filter { s in
            guard let name, let named = library.table.sessions(named: name, among: routes) else { return true }
            return named.contains(s)
        }
        guard let recorded = options.whenExhausted == .last ? all.max() : all.min() else { return nil }
        return (recorded, claims.open(for: identity, isClosed: options.whenExhausted == .last))
    }

    mutating func begin(
        _ recorded: SessionLibrary.ID, in tapeRun: Int, _ identity: String, name: String?, on connection: ConnectionID
    ) -> SessionRun {
        let script = script(of: recorded)
        var played = library[recorded]
        played.writer.configure(options.codecSettings)
        record.visitors.forget()
        let session = runs.begin(played, script, run: tapeRun + 1, at: now)
        let route = library.table.route(of: recorded)
        let isOnly = library.table.routes[route].sessions.count <= 1 || session.recorded.isOperation
        claims.add(
            Claims.Claim(
                recorded: recorded, route: route, tapeRun: tapeRun, name: name,
                isTentative: !isOnly, connection: connection), for: session, of: identity)
        hold(recorded, by: session, in: tapeRun)
        if let earlier = predecessor(of: session, identity) { session.follow(earlier) }
        session.isKnown(as: identity)
        countEarlyFailures(of: session, on: connection)
        if let name, library.table.sessions(named: name, among: [route]) != nil { session.assign(by: .identity) }
        return session
    }

    /// Compiled once for all runs of the session.
    mutating func script(of recorded: SessionLibrary.ID) -> Script {
        let (script, isNew) = library.script(of: recorded)
        if isNew { secrets.learn(script.variables) }
        return script
    }
}
