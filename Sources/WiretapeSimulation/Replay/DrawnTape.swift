package import WiretapeBytes
package import WiretapeProtocol

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

        package init() {}
    }

    /// By client, in the order in which the client had them.
    package private(set) var clients: [[RecordedSession]] = []

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
    }

    package var sessions: [RecordedSession] { clients.flatMap { $0 }.sorted { $0.number < $1.number } }
}
