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
        for head: RequestHead, _ codec: CodecEntry, _ c: ConnectionID, into out: inout [ReplayAction]
    ) -> Int? {
        let routes = candidates(for: head, codec)
        let name = name(head, c)
        if let name, isUnknown(name, on: c) {
            unknownName(name, c, head, into: &out)
            return nil
        }
        let identity = identity(head, c)
        let known = (claims.clients[identity]?.claims ?? []).filter { routes.contains(claims.all[$0].route) }
        let mine = known.filter { !runs[$0].isConnected }
        // Where many clients are expected they may all look like one: a new one must not get what another one has.
        let silent = options.clients == 1 ? known.first(where: isSilent) : nil
        if let r = mine.first(where: { isUnderWay($0, on: c) }) ?? mine.first(where: isInterrupted) ?? silent {
            switch comesBack(to: r, c, head, codec, into: &out) {
            case .goesOn: return r
            case .elsewhere: break
            case .refused: return nil
            }
        }
        if let (session, tapeRun) = nextFree(routes, identity, name: name) {
            return begin(session, in: tapeRun, identity, name: name, on: c)
        }
        if let r = known.first(where: isSilent) ?? renewed(head, c, name: name, routes) {
            switch comesBack(to: r, c, head, codec, into: &out) {
            case .goesOn:
                remember(identity, of: r)
                return r
            case .elsewhere: break
            case .refused: return nil
            }
        }
        if let pending = mine.first(where: { !runs[$0].isOver }) {
            claims.asked(pending, on: c)
            return pending
        }
        if let r = returning(known) {
            switch comesBack(to: r, c, head, codec, into: &out) {
            case .goesOn, .elsewhere: return r
            case .refused: return nil
            }
        }
        if let (session, tapeRun) = repeated(routes, identity, name: name) {
            return begin(session, in: tapeRun, identity, name: name, on: c)
        }
        exhausted(c, head, codec, identity, routes, into: &out)
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

    /// Indices of sessions that nobody has claimed in any run of the tape.
    var unclaimed: [Int] {
        let claimed = Set(claims.all.flatMap { library.sources(of: $0.session) })
        return library.sessions.indices.filter { !claimed.contains($0) }
    }

    // MARK: Choosing

    /// A client that negotiates again over the connection on which it did so before has not gone on elsewhere.
    private func isUnderWay(_ r: Int, on c: ConnectionID) -> Bool {
        claims.all[r].connection == c && runs[r].negotiation.awaitsUpgrade && !runs[r].isOver
    }

    /// Its connection was lost, or its attempt failed. One that was negotiated and not followed up may be another client's.
    func isInterrupted(_ r: Int) -> Bool {
        if runs[r].standing.failure != nil { return true }
        return !runs[r].isOver && (!runs[r].negotiation.awaitsUpgrade || runs[r].attempts.last?.outcome != nil)
    }

    /// The next unclaimed session: of the client's own runs of the tape, or of those that all share.
    mutating func nextFree(
        _ routes: [Int], _ identity: String, name: String?
    ) -> (session: Int, tapeRun: Int)? {
        if options.clients == 1 {
            if claims.tapeRuns.isEmpty { _ = claims.open(for: identity) }
            return claims.shared(routes, library.table, name: name)
        }
        for tapeRun in claims.clients[identity]?.tapeRuns ?? [] {
            if let session = claims.free(in: tapeRun, routes, library.table, name: name) { return (session, tapeRun) }
        }
        guard claims.tapeRuns.count < options.clients else { return nil }
        let tapeRun = claims.open(for: identity)
        return claims.free(in: tapeRun, routes, library.table, name: name).map { ($0, tapeRun) }
    }

    /// What is played again when all is taken.
    private mutating func repeated(
        _ routes: [Int], _ identity: String, name: String?
    ) -> (session: Int, tapeRun: Int)? {
        guard options.whenExhausted != .refuse, runs.count < Claims.claimLimit else { return nil }
        let all = routes.flatMap { library.table.routes[$0].sessions }.filter { s in
            guard let name, let named = library.table.sessions(named: name, among: routes) else { return true }
            return named.contains(s)
        }
        guard let session = options.whenExhausted == .last ? all.max() : all.min() else { return nil }
        return (session, claims.open(for: identity, isClosed: options.whenExhausted == .last))
    }

    mutating func begin(
        _ session: Int, in tapeRun: Int, _ identity: String, name: String?, on c: ConnectionID
    ) -> Int {
        let script = script(of: session)
        var played = library[session]
        played.writer.configure(options.codecSettings)
        record.visitors.forget()
        runs.append(SessionRun(played, script: script, run: tapeRun + 1, at: now))
        let r = runs.count - 1
        let route = library.table.routeOf[session]
        let isOnly = library.table.routes[route].sessions.count <= 1 || runs[r].session.isOperation
        claims.add(
            Claims.Claim(
                session: session, route: route, tapeRun: tapeRun, name: name,
                isTentative: !isOnly, connection: c), of: identity)
        hold(session, as: r, in: tapeRun)
        runs[r].client.isKnown(as: identity)
        countEarlyFailures(of: r, on: c)
        if let name, library.table.sessions(named: name, among: [route]) != nil { runs[r].client.assigned = .identity }
        return r
    }

    /// Compiled once for all runs of the session.
    mutating func script(of session: Int) -> Script {
        let (script, isNew) = library.script(of: session)
        if isNew { secrets.learn(script.variables) }
        return script
    }
}
