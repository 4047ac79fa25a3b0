internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
package import WiretapeRuntime

/// What is known of TLS handshakes before they have made a connection.
struct LiveHandshakes {
    /// By listener.
    private var counts: [String: Int] = [:]
    var failed = EarlyFailures()

    /// The number of one that begins, from 1.
    mutating func next(at listener: String) -> Int {
        counts[listener, default: 0] += 1
        return counts[listener] ?? 1
    }
}

extension LiveFaults {
    /// A client has begun a TLS handshake. What fires is recorded.
    /// - Returns: what the rules say to that.
    package func shakesHands(at listener: String, now: WireInstant) -> [FaultHit] {
        begins(at: now)
        guard reach.hasTLS else { return [] }
        let hits = engine.accept(
            .tls, listener: listener, ordinal: handshakes.next(at: listener), sinceRun: elapsed(now))
        for hit in hits { record(hit, on: nil, at: now) }
        return hits
    }

    /// A handshake that a rule has touched came to nothing. It is an attempt of the session from that address that has lost
    /// its connection, else the first one of the next session from there.
    package func failedHandshake(from peer: Address?, by rule: String, why: String, at now: WireInstant) {
        guard let host = peer?.host, !host.isEmpty else { return }
        let failure = EarlyFailures.Failure(at: now, by: rule, why: why)
        guard let lost = lostSession(from: host) else { return handshakes.failed.add(failure, from: host) }
        lost.failedHandshake(failure, origin: origin)
    }

    /// A session begins on a connection from that host.
    func countEarlyFailures(_ session: LiveSession, from host: String?) {
        guard let host else { return }
        for failure in handshakes.failed.take(from: host) { session.failedHandshake(failure, origin: origin) }
    }
}
