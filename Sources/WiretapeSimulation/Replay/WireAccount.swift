internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeReplay
internal import WiretapeWire

/// The connections of one client's session as the wire shows them: who ended each first, how and when. The report has to say the same.
struct WireAccount: Sendable {
    private var connections: [Connection] = []

    private struct Connection: Sendable {
        let id: ConnectionID
        let opened: WireInstant
        var end: End?
    }

    private struct End: Sendable {
        var isTheClients: Bool
        /// Nil where the wire does not tell.
        var how: Attempt.End.Manner?
        var at: WireInstant
    }

    mutating func opened(_ connection: ConnectionID, at now: WireInstant) {
        connections.append(Connection(id: connection, opened: now))
    }

    /// The client's close frame, FIN or RST arrived.
    /// - Returns: whether it ended the connection.
    @discardableResult
    mutating func clientEnded(_ connection: ConnectionID, _ how: ClientEnd, at now: WireInstant) -> Bool {
        return end(connection, End(isTheClients: true, how: Attempt.End.Manner(how), at: now))
    }

    /// The client's close message arrived. Over HTTP it may arrive on another connection.
    mutating func clientSaidGoodbye(at now: WireInstant) {
        guard let last = connections.last else { return }
        end(last.id, End(isTheClients: true, how: .close(nil), at: now))
    }

    /// The server sent a close frame, FIN or RST.
    /// - Parameter how: nil for the end of an event stream.
    mutating func serverEnded(_ connection: ConnectionID, _ how: Attempt.End.Manner?, at now: WireInstant) {
        end(connection, End(isTheClients: false, how: how, at: now))
    }

    /// Only the first end counts.
    @discardableResult
    private mutating func end(_ connection: ConnectionID, _ end: End) -> Bool {
        guard let at = connections.firstIndex(where: { $0.id == connection }), connections[at].end == nil else {
            return false
        }
        connections[at].end = end
        return true
    }

    /// Compares the report with the wire. Returns one line for each difference.
    /// - Parameters:
    ///   - attempts: of the session, from the report.
    ///   - start: when the run began; the times of the report count from here.
    func problems(_ attempts: [Attempt], start: WireInstant) -> [String] {
        let open = attempts.filter { attempt in
            attempt.steps.contains { ($0.status == 101 || $0.status == 200) && $0.transport != nil }
        }
        guard open.count == connections.count else {
            return ["the report says \(open.count) connections, the wire has \(connections.count)"]
        }
        return open.indices.compactMap { i in
            let next = i + 1 < connections.count ? connections[i + 1].opened : nil
            return Self.problem(open[i].ended, connections[i].end, next: next, start: start).map {
                "attempt \(open[i].number): the report says \($0)"
            }
        }
    }

    /// - Parameter next: when the client's next connection was open.
    private static func problem(
        _ told: Attempt.End?, _ seen: End?, next: WireInstant?, start: WireInstant
    ) -> String? {
        guard let told else {
            return seen.map { "that the connection is open, which ended at \($0.at.since(start)) ns" }
        }
        let words = "\(told.text) at \(told.time) ns"
        // A client that has another connection has given this one up, whenever its end arrives.
        if told.how == .replaced || told.how == .givenUp, let next {
            return told.time <= next.since(start)
                ? nil : "\(words), the next connection opened at \(next.since(start)) ns"
        }
        guard let seen else { return "\(words), the connection is open" }
        let isSame =
            (told.by == .client) == seen.isTheClients && (seen.how ?? told.how) == told.how
            && told.time == seen.at.since(start)
        let who = seen.isTheClients ? "client" : "server"
        return isSame
            ? nil : "\(words), on the wire it was the \(who): \(seen.how?.text ?? "end") at \(seen.at.since(start)) ns"
    }
}
