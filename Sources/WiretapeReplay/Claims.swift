/// Who has which session in which run of the tape. Runs of the tape are opened as clients come: one for all of them, or
/// one for each (`--clients N`), and further ones when sessions are played again (`--when-exhausted`).
struct Claims {
    /// A session that a client has.
    struct Claim: Sendable {
        /// What it plays, and the index of its route.
        var recorded: SessionLibrary.ID
        var route: Int
        /// Index of the run of the tape.
        var tapeRun: Int
        /// The name that the client gave.
        var name: String?
        /// Another session may still turn out to fit better: the client has said nothing but its handshake.
        var isTentative: Bool
        /// Where it was asked for last.
        var connection: ConnectionID
    }

    /// One playing of the whole tape.
    struct TapeRun {
        /// Who plays a recorded session.
        var holders: [SessionLibrary.ID: SessionRun] = [:]
        /// Into the sessions of each route: everything before is taken.
        var next: [Int: Int] = [:]
        /// Exchanges that were played, by the index of their list.
        var exchanges: [Int: Int] = [:]
        /// For one session only: the others are not to be had.
        var isClosed = false
    }

    struct Client {
        /// Runs of the tape that it opened.
        var tapeRuns: [Int] = []
        /// Those on whose connections it was seen, in the order of its first coming.
        var sessions: [SessionRun] = []
    }

    /// How often each list of equal exchanges was played, run of the tape by run of the tape.
    var exchangeCounts: [Int: [Int]] {
        var counts: [Int: [Int]] = [:]
        for tapeRun in tapeRuns {
            for (list, count) in tapeRun.exchanges { counts[list, default: []].append(count) }
        }
        return counts
    }

    /// In the order of claiming.
    private(set) var all: [Claim] = []
    private(set) var tapeRuns: [TapeRun] = []
    private(set) var clients: [String: Client] = [:]
    /// Of one run shared by all: for each route the first run with something left.
    private var firstFree: [Int: Int] = [:]

    /// At most so many sessions are played in all.
    static let claimLimit = 100_000

    /// By which its client has it.
    subscript(session: SessionRun) -> Claim { all[session.id.place] }

    // MARK: Taking

    /// Opens a run of the tape for the client.
    mutating func open(for identity: String, isClosed: Bool = false) -> Int {
        tapeRuns.append(TapeRun(isClosed: isClosed))
        clients[identity, default: Client()].tapeRuns.append(tapeRuns.count - 1)
        return tapeRuns.count - 1
    }

    /// The next session of these routes that is free in a run, in recorded order.
    mutating func free(in tapeRun: Int, _ routes: [Int], _ table: RouteTable, name: String?) -> SessionLibrary.ID? {
        if tapeRuns[tapeRun].isClosed { return nil }
        if let name, let named = table.sessions(named: name, among: routes) {
            return named.first { routes.contains(table.route(of: $0)) && tapeRuns[tapeRun].holders[$0] == nil }
        }
        var found: SessionLibrary.ID?
        for route in routes {
            let sessions = table.routes[route].sessions
            var at = tapeRuns[tapeRun].next[route, default: 0]
            while at < sessions.count, tapeRuns[tapeRun].holders[sessions[at]] != nil { at += 1 }
            tapeRuns[tapeRun].next[route] = at
            if at < sessions.count { found = min(found ?? sessions[at], sessions[at]) }
        }
        return found
    }

    /// The first run from which a client that shares its runs with all others may take a session.
    mutating func shared(
        _ routes: [Int], _ table: RouteTable, name: String?
    ) -> (recorded: SessionLibrary.ID, tapeRun: Int)? {
        let isNamed = name.map { table.sessions(named: $0, among: routes) != nil } ?? false
        let first = isNamed ? 0 : routes.map { firstFree[$0, default: 0] }.min() ?? 0
        for tapeRun in first..<max(first, tapeRuns.count) {
            if let recorded = free(in: tapeRun, routes, table, name: name) { return (recorded, tapeRun) }
            guard !isNamed else { continue }
            for route in routes where firstFree[route, default: 0] == tapeRun { firstFree[route] = tapeRun + 1 }
        }
        return nil
    }

    /// The session was begun for the client, the last one of all.
    mutating func add(_ claim: Claim, for session: SessionRun, of identity: String) {
        tapeRuns[claim.tapeRun].holders[claim.recorded] = session
        all.append(claim)
        see(identity, on: session)
    }

    /// The session is not to be had in that run either.
    mutating func hold(_ recorded: SessionLibrary.ID, by session: SessionRun, in tapeRun: Int) {
        tapeRuns[tapeRun].holders[recorded] = session
    }

    /// The client was seen on a connection of the session.
    mutating func see(_ identity: String, on session: SessionRun) {
        var list = clients[identity]?.sessions ?? []
        guard list.last !== session, !list.contains(where: { $0 === session }) else { return }
        clients[identity]?.sessions = []
        list.append(session)
        clients[identity, default: Client()].sessions = list
    }

    // MARK: Changes

    /// The client gets another recorded session of its run, which nobody has.
    mutating func move(_ session: SessionRun, to recorded: SessionLibrary.ID, _ table: RouteTable) {
        let old = self[session]
        tapeRuns[old.tapeRun].holders[old.recorded] = nil
        tapeRuns[old.tapeRun].holders[recorded] = session
        // The session that is free again may stand before the position.
        let next = tapeRuns[old.tapeRun].next[old.route, default: 0]
        tapeRuns[old.tapeRun].next[old.route] = min(next, table.place(of: old.recorded))
        firstFree[old.route] = min(firstFree[old.route, default: 0], old.tapeRun)
        all[session.id.place].recorded = recorded
        all[session.id.place].route = table.route(of: recorded)
    }

    /// Two clients of one run of the tape change their recorded sessions.
    mutating func exchange(_ one: SessionRun, _ other: SessionRun) {
        let (first, second) = (self[one], self[other])
        tapeRuns[first.tapeRun].holders[first.recorded] = other
        tapeRuns[second.tapeRun].holders[second.recorded] = one
        all[one.id.place].recorded = second.recorded
        all[other.id.place].recorded = first.recorded
    }

    mutating func decide(_ session: SessionRun) { all[session.id.place].isTentative = false }

    mutating func asked(_ session: SessionRun, on connection: ConnectionID) {
        all[session.id.place].connection = connection
    }

    // MARK: Exchanges

    func played(_ list: Int, in tapeRun: Int) -> Int { tapeRuns[tapeRun].exchanges[list, default: 0] }

    mutating func play(_ list: Int, in tapeRun: Int) {
        tapeRuns[tapeRun].exchanges[list, default: 0] += 1
    }

    /// The response was not delivered. The next equal request gets it, unless a later response was already sent.
    mutating func takeBack(_ list: Int, in tapeRun: Int, place: Int) {
        guard played(list, in: tapeRun) == place + 1 else { return }
        tapeRuns[tapeRun].exchanges[list] = place == 0 ? nil : place
    }
}
