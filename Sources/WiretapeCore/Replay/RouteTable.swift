/// The routes of a tape, found by path.
struct RouteTable: Sendable {
    private(set) var routes: [SessionRoute] = []
    /// The route of each session, and its place among the sessions of that route.
    private(set) var routeOf: [Int] = []
    private(set) var placeOf: [Int] = []
    private var byPath: [String: [Int]] = [:]
    /// Whether a session begins with a negotiation that sends the client elsewhere.
    private(set) var hasRedirects = false
    /// Indices of sessions by their given name.
    private(set) var named: [String: [Int]] = [:]
    /// The given names in the order of their first session.
    private(set) var names: [String] = []

    private var known: [SessionRoute.Look: Int] = [:]

    init(_ sessions: [RecordedSession]) {
        for session in sessions { add(session) }
    }

    /// The next session.
    mutating func add(_ session: RecordedSession) {
        let i = routeOf.count
        let look = SessionRoute.look(of: session)
        let at = known[look] ?? routes.count
        if at == routes.count {
            known[look] = at
            routes.append(SessionRoute(look, path: session.route))
            for path in Set((look.negotiations + [look.opening]).map(\.path)) {
                byPath[path, default: []].append(at)
            }
            hasRedirects = hasRedirects || look.negotiations.count > 1
        }
        placeOf.append(routes[at].sessions.count)
        routes[at].sessions.append(i)
        routeOf.append(at)
        guard let name = session.name else { return }
        if named[name] == nil { names.append(name) }
        named[name, default: []].append(i)
    }

    /// The next session, which is not to be had by asking for its route: a part of another one there.
    mutating func add(partOf source: Int) {
        routeOf.append(routeOf[source])
        placeOf.append(placeOf[source])
    }

    /// The routes that a request of that protocol may mean, in the order of their first sessions.
    /// - Parameter path: the codec's route of the request, as it is on the tape.
    func routes(for head: RequestHead, at path: String, _ codec: CodecEntry) -> [Int] {
        guard let onPath = byPath[path] else { return [] }
        let kind = codec.type.kind(head)
        let items = StableQuery.stable(head, codec.type.volatileQuery)
        let offered = head.offeredSubprotocols
        return onPath.filter { route in
            let look = routes[route].look
            guard look.codec == codec.id else { return false }
            if kind != .operation, look.isOperation { return false }
            let places = kind == .negotiate ? look.negotiations : [look.opening]
            guard places.contains(where: { $0.path == path && $0.query.agrees(with: items) }) else { return false }
            guard kind == .upgrade, let chosen = look.subprotocol else { return true }
            return offered.contains(chosen) || (offered.isEmpty && !look.isAnswered)
        }
    }

    /// The subprotocols of the WebSockets on that path, in the order of their first sessions.
    func subprotocols(at path: String) -> [String] {
        var names: [String] = []
        for route in byPath[path] ?? [] {
            if let name = routes[route].look.subprotocol, !names.contains(name) { names.append(name) }
        }
        return names
    }
}
