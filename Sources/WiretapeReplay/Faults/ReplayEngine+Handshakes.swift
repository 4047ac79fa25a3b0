internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeProtocol
package import WiretapeRuntime
internal import WiretapeWire

/// What rules do to TLS handshakes, before there is a connection.
extension ReplayEngine {
    /// Whether a rule is about TLS handshakes.
    package var judgesHandshakes: Bool { rules.hasTLS }

    /// A client has begun a TLS handshake. What fires is recorded.
    /// - Parameter listener: the name that its clients go by, else the host that a client of a proxy names; may be empty.
    /// - Returns: what the rules say to that.
    package mutating func shakesHands(at listener: String, now: WireInstant) -> [FaultHit] {
        guard rules.hasTLS else { return [] }
        clock.happened(at: now)
        let hits = rules.judgeHandshake(listener: listener, sinceRun: clock.sinceOrigin)
        for hit in hits { record(hit, FaultMoment(session: 0, run: 0, attempt: 0), cut: false) }
        return hits
    }

    /// A handshake that a rule has touched came to nothing. It is an attempt of the session from that address that has lost
    /// its connection, else the first one of the next session from there.
    package mutating func failedHandshake(from peer: Address?, by rule: String, why: String, at now: WireInstant) {
        clock.reach(now)
        guard let host = peer?.host, !host.isEmpty else { return }
        let failure = EarlyFailures.Failure(at: self.now, by: rule, why: why)
        guard let session = lostSession(from: host) else { return rules.failedHandshakes.add(failure, from: host) }
        settleParked(of: session)
        session.failedHandshake(failure, origin: start)
    }

    /// A session begins on a connection.
    mutating func countEarlyFailures(of session: SessionRun, on connection: ConnectionID) {
        guard let host = peers[connection]?.address?.host else { return }
        for failure in rules.failedHandshakes.take(from: host) { session.failedHandshake(failure, origin: start) }
    }
}
