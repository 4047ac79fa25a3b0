internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// Clients whose FIN comes while an answer is owed. Such a client has either shut down its sending side and still reads, or it is gone: the FIN
/// is the same. So what is due goes out. The client was there if its kernel acknowledges that. If the connection is reset instead, the client
/// left when its FIN came.
extension ReplayEngine {
    /// The client's FIN.
    /// - Returns: whether the connection stays open because something is still due.
    mutating func halfCloses(_ connection: ConnectionID, _ peer: Peers.Peer) -> Bool {
        // A WebSocket's client says goodbye with a close frame: a FIN alone is its end.
        let isTrailing = peer.trails?.trailing.map { $0.connection == connection && $0.transport != .ws } ?? false
        if exchanges.isAnswering(connection) || rules.endsLater(connection) || isTrailing {
            peers.halfClose(connection, at: now)
            return true
        }
        guard !peer.isOver, let session = peer.session, session.link?.connection == connection,
            session.link?.transport != .ws, goesOn(session)
        else { return false }
        session.link?.halfClose(at: now)
        peers.halfClose(connection, at: now)
        return true
    }

    /// At the end of a run: treats half-closed clients that acknowledged nothing since their FIN as gone.
    mutating func settleHalfClosed() {
        var out: [ReplayAction] = []
        for connection in peers.halfClosed {
            if let since = peers[connection]?.halfClosedAt { wasGone(connection, since: since, into: &out) }
        }
    }

    /// The attempts of a session so far. A close frame on a stalled connection, or the FIN of a half-closed one, counts as the end.
    func attemptsSoFar(of session: SessionRun) -> [Attempt] {
        var attempts = session.attempts
        guard let link = session.link, let last = attempts.indices.last, attempts[last].ended == nil,
            let left = session.departure ?? link.halfClosedAt.map({ (how: Attempt.End.Manner.fin, at: $0) })
        else { return attempts }
        if attempts[last].outcome == nil { attempts[last].outcome = .abandoned }
        attempts[last].ended = Attempt.End(time: left.at.since(start), by: .client, how: left.how)
        return attempts
    }
}
