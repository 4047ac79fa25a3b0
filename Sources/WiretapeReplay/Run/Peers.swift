internal import WiretapeBytes
internal import WiretapeRuntime

/// The connections of clients, and what of which session each of them carries.
struct Peers {
    private var all: [ConnectionID: Peer] = [:]

    /// A client connection.
    struct Peer {
        let address: Address?
        /// That of the listener.
        let name: String?
        /// Who asked on it last, as ``ReplayEngine/identity(_:_:)`` tells.
        fileprivate(set) var client: String?
        /// The upstream that the listener stands for.
        let upstream: String?
        /// The session of which it is a WebSocket or an event stream, or holds a poll; nil: it is free.
        fileprivate(set) var session: SessionRun?
        /// Whose body it carried last, of those that were polled for.
        fileprivate(set) var carried: SessionRun?
        /// The session that it carried, as long as what was queued before our end of it may be lost.
        fileprivate(set) var trails: SessionRun?
        /// Which of the sessions that it carried the tape of the run has told of last.
        fileprivate(set) var told: SessionRun?
        fileprivate(set) var isOver = false
        /// When its FIN came while an answer was owed: it may have shut down its sending side only, or be gone.
        fileprivate(set) var halfClosedAt: WireInstant?
        /// It went silent by a rule, and its client has gone on elsewhere: its end is answered, and is nobody's.
        fileprivate(set) var isAbandoned = false

        init(address: Address?, name: String?, upstream: String?) {
            self.address = address
            self.name = name
            self.upstream = upstream
        }
    }

    subscript(connection: ConnectionID) -> Peer? { all[connection] }

    /// Those that we or their clients have not ended.
    var open: [ConnectionID: Peer] { all.filter { !$0.value.isOver } }

    /// A client has connected.
    mutating func opened(_ connection: ConnectionID, _ peer: Peer) { all[connection] = peer }

    /// Nothing is left of a connection.
    mutating func forget(_ connection: ConnectionID) { all[connection] = nil }

    /// It was ended: whatever still comes from it is dropped.
    mutating func end(_ connection: ConnectionID) { all[connection]?.isOver = true }

    /// The client's FIN has come while an answer was owed.
    mutating func halfClose(_ connection: ConnectionID, at moment: WireInstant) {
        all[connection]?.halfClosedAt = moment
    }

    /// Connections whose client may be gone, in the order in which they came.
    var halfClosed: [ConnectionID] { all.filter { $0.value.halfClosedAt != nil }.keys.sorted() }

    /// Its client has gone on elsewhere, while it was silent.
    mutating func abandon(_ connection: ConnectionID) {
        all[connection]?.isOver = true
        all[connection]?.isAbandoned = true
    }

    /// That client asks on it.
    mutating func asked(_ connection: ConnectionID, by client: String) { all[connection]?.client = client }

    /// It carries a session from now on.
    mutating func carries(_ connection: ConnectionID, _ session: SessionRun) { all[connection]?.session = session }

    /// The tape of the run tells which session it carries.
    /// - Returns: whether it has not told that already.
    mutating func tell(_ connection: ConnectionID, _ session: SessionRun) -> Bool {
        guard all[connection]?.told !== session else { return false }
        all[connection]?.told = session
        return true
    }

    /// It carries none any more.
    mutating func free(_ connection: ConnectionID) { all[connection]?.session = nil }

    /// The poll that waited on it has its answer.
    mutating func answered(_ connection: ConnectionID, pollOf session: SessionRun) {
        all[connection]?.session = nil
        all[connection]?.carried = session
    }

    /// What was queued on it before our end may still be lost to that session.
    mutating func trails(_ connection: ConnectionID, _ session: SessionRun) { all[connection]?.trails = session }

    /// Nothing that was queued on it is waited for any more.
    mutating func endTrail(_ connection: ConnectionID) { all[connection]?.trails = nil }
}
