package import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeWire

/// A tape as a seed draws it: sessions of one to three clients, each with recorded reconnects of its own.
package struct DrawnTape: Sendable {
    /// What a tape may hold.
    package struct Limits: Sendable {
        package var clients = 1...2
        package var sessions = 1...2
        package var lines = 2...18
        /// Whether calls may be repeated with equal arguments, so that only their order tells them apart.
        package var hasEquals = true
        /// Longest gap in nanoseconds.
        package var gap: UInt64 = 50_000_000
        /// Whether sessions may end without a word of the server, and calls without an answer.
        package var hasOpenEnds = true
        /// Pushes with which every connection is greeted.
        package var greetings = 0
        /// Spoken in MessagePack.
        package var isPacked = false
        /// With stateful reconnects.
        package var isStateful = false
        /// The number of plain requests beside the sessions. If there are any, a message may be the effect of anything that precedes it.
        package var requests = 0

        package init() {}
    }

    /// By client, in the order in which the client had them.
    package private(set) var clients: [[RecordedSession]] = []
    /// Plain requests, in recorded order.
    package private(set) var exchanges: [RecordedExchange] = []

    package init(_ random: inout SplitMix64, _ codec: CodecEntry, limits: Limits = Limits()) {
        var number = 0
        for k in 0..<random.draw(in: limits.clients) {
            var sessions: [RecordedSession] = []
            let count = random.draw(in: limits.sessions)
            var start = UInt64(random.below(100)) * 1_000_000
            for s in 0..<count {
                number += 1
                var drawer = SessionDrawer(&random, codec, limits, number: number, start: start)
                sessions.append(drawer.session(route: "/chat\(k)", isLast: s == count - 1, &random))
                start = (sessions.last?.entries.last?.time ?? start) + UInt64(random.below(2_000)) * 1_000_000
            }
            clients.append(sessions)
        }
        guard limits.requests > 0 else { return }
        let end = clients.joined().compactMap { $0.entries.last?.time }.max() ?? 0
        for n in 0..<limits.requests {
            let time = random.next() % (end + 1)
            exchanges.append(
                RecordedExchange(
                    event: 1, line: 1, time: time, answered: time + random.next() % 20_000_000, connection: 99,
                    request: RequestHead(method: "POST", target: "/told/\(n % 2)?n=\(n)"),
                    response: ResponseHead(status: 202)))
        }
        exchanges.sort { $0.time < $1.time }
        numberLines()
    }

    /// Numbers the lines in the order of time, as on a tape of several connections.
    private mutating func numberLines() {
        var all: [(time: UInt64, place: Place)] = exchanges.indices.map { (exchanges[$0].time, .exchange($0)) }
        for (k, sessions) in clients.enumerated() {
            for (s, session) in sessions.enumerated() {
                all.append((session.opened ?? 0, .opening(client: k, session: s)))
                all += session.entries.indices.map { (session.entries[$0].time, .entry(client: k, session: s, $0)) }
            }
        }
        // Stable: what one connection carried stays in its order.
        let order = all.indices.sorted { (all[$0].time, $0) < (all[$1].time, $1) }
        for (i, place) in order.enumerated() {
            switch all[place].place {
            case .exchange(let e): exchanges[e].line = i + 2
            case .opening(let k, let s):
                clients[k][s].openingPlace = RecordedSession.TapePlace(line: i + 2, time: all[place].time)
            case .entry(let k, let s, let e): clients[k][s].entries[e].line = i + 2
            }
        }
    }

    private enum Place {
        case exchange(Int)
        case opening(client: Int, session: Int)
        case entry(client: Int, session: Int, Int)
    }

    package var sessions: [RecordedSession] { clients.flatMap { $0 }.sorted { $0.number < $1.number } }
}
