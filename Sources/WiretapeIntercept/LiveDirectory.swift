internal import WiretapeProtocol
internal import WiretapeWire

/// The sessions that pass, and who they belong to: by what their requests name them by, and by client and route.
struct LiveDirectory {
    /// In the order of their beginning.
    private(set) var sessions: [LiveSession] = []
    /// The same by who asks for what, and all routes.
    private var clients: [LiveClient: [LiveSession]] = [:]
    private var routes: Set<String> = []
    /// Connections by what requests name them.
    private var carriers: [String: LiveCarrier] = [:]
    /// Whose names negotiations gave and requests brought, the oldest forgotten.
    private var owners: [String: LiveSession] = [:]
    private var ownerOrder: [String] = []
    /// Names that the server has forgotten, and by which rule.
    private var forgotten: [String: String] = [:]
    private var credentials: [String: Int] = [:]
    /// Hosts that connections come from.
    private var hosts: [UInt32: String] = [:]

    private static let mostOwners = 8_192
    private static let mostForgotten = 4_096

    // MARK: Connections

    mutating func came(_ c: UInt32, from host: String?) { hosts[c] = host }
    mutating func gone(_ c: UInt32) { hosts[c] = nil }
    func host(of c: UInt32) -> String? { hosts[c] }

    /// Who asks: its name, else a number for its credential, else address and agent, as in replay.
    mutating func identity(_ head: RequestHead, _ c: UInt32) -> String {
        if let name = head.query.first(where: { $0.name == "wt" && !$0.value.isEmpty })?.value { return name }
        if let credential = head.credential {
            let number = credentials[credential] ?? credentials.count + 1
            credentials[credential] = number
            return "credential \(number)"
        }
        return "\(hosts[c] ?? "unknown") \(head.headers.first("User-Agent") ?? "no agent")"
    }

    // MARK: Sessions

    func hasRoute(_ route: String) -> Bool { routes.contains(route) }

    /// The client's sessions on the route, the oldest first.
    func sessions(of identity: String, on route: String) -> [LiveSession] {
        clients[LiveClient(route: route, identity: identity)] ?? []
    }

    mutating func begin(_ route: String, _ identity: String, _ changes: ChangedSessions?) -> LiveSession {
        let session = LiveSession(number: sessions.count + 1, identity: identity, changes)
        sessions.append(session)
        clients[LiveClient(route: route, identity: identity), default: []].append(session)
        routes.insert(route)
        return session
    }

    // MARK: Names

    /// Whether a session goes, or went, by that name.
    func isKnown(_ key: String) -> Bool { carriers[key] != nil || forgotten[key] != nil || owners[key] != nil }

    /// The session that goes, or went, by that name.
    func owner(of key: String) -> LiveSession? { owners[key] }

    mutating func own(_ key: String, _ session: LiveSession) {
        if owners.updateValue(session, forKey: key) == nil { ownerOrder.append(key) }
        guard ownerOrder.count > LiveDirectory.mostOwners else { return }
        for old in ownerOrder.prefix(LiveDirectory.mostOwners / 2) { owners[old] = nil }
        ownerOrder.removeFirst(LiveDirectory.mostOwners / 2)
    }

    func carrier(named key: String) -> LiveCarrier? { carriers[key] }

    /// The session's connection goes by that name from now on.
    mutating func name(_ key: String, _ carrier: LiveCarrier) {
        own(key, carrier.session)
        carriers[key] = carrier
    }

    /// That connection does not go by the name any more.
    mutating func unname(_ key: String, _ carrier: LiveCarrier) {
        if carriers[key] === carrier { carriers[key] = nil }
    }

    /// The server has forgotten the session, by a rule.
    /// - Parameter key: a name that may not have been its own before.
    mutating func forget(_ session: LiveSession, _ key: String?, by rule: String) {
        if let key { forgotten[key] = rule }
        for name in ownerOrder where owners[name] === session { forgotten[name] = rule }
        if forgotten.count > LiveDirectory.mostForgotten { forgotten = [:] }
    }

    /// The rule by which the server has forgotten that name.
    func forgotten(_ key: String) -> String? { forgotten[key] }
}

/// Which session each connection carries, or carried last: what it was is told for a while after its end.
struct CarriedSessions {
    private var sessions: [UInt32: Int] = [:]
    /// Connections that are gone, the oldest first.
    private var before: [UInt32] = []
    private static let most = 2_048

    subscript(connection: UInt32) -> Int? { sessions[connection] }

    mutating func carries(_ connection: UInt32, _ session: Int) { sessions[connection] = session }

    mutating func gone(_ connection: UInt32) {
        guard sessions[connection] != nil else { return }
        before.append(connection)
        guard before.count > CarriedSessions.most else { return }
        for old in before.prefix(CarriedSessions.most / 2) { sessions[old] = nil }
        before.removeFirst(CarriedSessions.most / 2)
    }
}

/// Who asks for what: clients that agree in both are one.
struct LiveClient: Hashable {
    /// The path without what the protocol adds.
    var route: String
    /// A name, a number for a credential, or address and agent.
    var identity: String
}
