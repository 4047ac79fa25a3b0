internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The routes of a tape, found by path.
struct RouteTable: Sendable {
    private(set) var routes: [SessionRoute] = []
    /// The route of each session, and its place among the sessions of that route.
    private var routeOf: [Int] = []
    private var placeOf: [Int] = []
    private var byPath: [String: [Int]] = [:]
    /// Whether a session begins with a negotiation that sends the client elsewhere.
    private(set) var hasRedirects = false
    /// Sessions by their given name.
    private var named: [Label: [SessionLibrary.ID]] = [:]
    /// The given names in the order of their first session.
    private var labels: [Label] = []
    private let upstreams: Upstreams
    private let ignore: [IgnoreRule]

    /// A given name among the sessions of an upstream.
    private struct Label: Hashable, Sendable {
        var upstream: String?
        var name: String
    }

    private var known: [SessionRoute.Look: Int] = [:]

    init(_ sessions: [RecordedSession], _ upstreams: Upstreams = Upstreams(), ignoring ignore: [IgnoreRule] = []) {
        self.upstreams = upstreams
        self.ignore = ignore
        for session in sessions { add(session) }
    }

    /// The next session.
    mutating func add(_ session: RecordedSession) {
        let id = SessionLibrary.ID(place: routeOf.count)
        let look = SessionRoute.look(of: session, upstreams, ignore)
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
        routes[at].sessions.append(id)
        routeOf.append(at)
        guard let name = session.name else { return }
        let label = Label(upstream: look.upstream, name: name)
        if named[label] == nil { labels.append(label) }
        named[label, default: []].append(id)
    }

    /// The next session, which is not to be had by asking for its route: a part of another one there.
    mutating func add(partOf source: SessionLibrary.ID) {
        routeOf.append(route(of: source))
        placeOf.append(place(of: source))
    }

    /// The route of a session.
    func route(of id: SessionLibrary.ID) -> Int { routeOf[id.place] }

    /// The place of a session among those of its route.
    func place(of id: SessionLibrary.ID) -> Int { placeOf[id.place] }

    // MARK: Upstreams and names

    /// The upstream whose listeners serve a session.
    func upstream(of id: SessionLibrary.ID) -> String? { routes[route(of: id)].look.upstream }

    /// The routes that clients of an upstream's listeners are served; nil: of any.
    func isServed(_ route: Int, at upstream: String?) -> Bool {
        upstream == nil || routes[route].look.upstream == upstream
    }

    /// The given names of sessions there.
    func names(at upstream: String?) -> [String] {
        var names: [String] = []
        for label in labels where upstream == nil || label.upstream == upstream {
            if !names.contains(label.name) { names.append(label.name) }
        }
        return names
    }

    /// The sessions of that name there; nil when there is none.
    func sessions(named name: String, at upstream: String?) -> [SessionLibrary.ID]? {
        if upstream != nil || upstreams.names.isEmpty { return named[Label(upstream: upstream, name: name)] }
        let all = upstreams.names.flatMap { named[Label(upstream: $0, name: name)] ?? [] }
        return all.isEmpty ? nil : all.sorted()
    }

    /// Those of the upstream that the first of these routes belongs to.
    func sessions(named name: String, among routes: [Int]) -> [SessionLibrary.ID]? {
        guard let first = routes.first else { return nil }
        return sessions(named: name, at: self.routes[first].look.upstream)
    }

    // MARK: Finding

    /// The routes that a request of that protocol may mean, in the order of their first sessions: those that were
    /// recorded in a subprotocol that the client offers, else those that can be served in one.
    /// - Parameters:
    ///   - path: the codec's route of the request, as it is on the tape.
    ///   - upstream: that of the listener; nil: any.
    func routes(
        for head: RequestHead, at path: String, _ codec: CodecEntry, upstream: String? = nil
    ) -> [Int] {
        guard let onPath = byPath[path] else { return [] }
        let kind = codec.type.kind(head)
        let items = StableQuery.stable(head, codec.type.volatileQuery)
        let offered = head.offeredSubprotocols
        let found = onPath.filter { route in
            let look = routes[route].look
            guard look.codec == codec.id, isServed(route, at: upstream) else { return false }
            if kind != .operation, look.isOperation, !codec.type.isToldByAnswer { return false }
            return places(of: route, for: kind).contains { $0.path == path && $0.query.agrees(with: items) }
        }
        guard kind == .upgrade else { return found }
        let own = found.filter { route in
            guard let chosen = routes[route].look.subprotocol else { return true }
            return offered.contains(chosen) || (offered.isEmpty && !routes[route].look.isAnswered)
        }
        return own.isEmpty ? found.filter { routes[$0].look.others.contains(where: offered.contains) } : own
    }

    private func places(of route: Int, for kind: ExchangeKind) -> [SessionRoute.Place] {
        let look = routes[route].look
        return kind == .negotiate ? look.negotiations : [look.opening]
    }

    /// The items that keep a request from meaning a session on its path: those of the session from which it differs in the
    /// fewest, the first among equals. Nil when there is no session that such a request could mean.
    func differences(
        of head: RequestHead, at path: String, _ codec: CodecEntry, upstream: String? = nil
    ) -> [StableQuery.Difference]? {
        let kind = codec.type.kind(head)
        switch kind {
        case .negotiate, .upgrade, .poll, .stream, .operation: break
        case .other: guard codec.type.isToldByAnswer else { return nil }
        case .send, .end, .refresh, .preflight: return nil
        }
        let items = StableQuery.stable(head, codec.type.volatileQuery)
        var nearest: [StableQuery.Difference]?
        for route in byPath[path] ?? [] where isServed(route, at: upstream) && routes[route].look.codec == codec.id {
            for place in places(of: route, for: kind) where place.path == path {
                let found = place.query.differences(from: items)
                if found.count < nearest?.count ?? .max { nearest = found }
            }
        }
        return nearest
    }

    /// The subprotocols of the WebSockets on that path, in the order of their first sessions.
    func subprotocols(at path: String, upstream: String? = nil) -> [String] {
        var names: [String] = []
        for route in byPath[path] ?? [] where isServed(route, at: upstream) {
            if let name = routes[route].look.subprotocol, !names.contains(name) { names.append(name) }
        }
        return names
    }
}
