internal import WiretapeBytes
package import WiretapeFaults

/// What becomes of one TLS handshake: the rules that fired for it, folded in their order.
package struct HandshakeFate {
    package let hits: [FaultHit]
    /// Nanoseconds that the client's hello waits for its answer; nil: for ever.
    package private(set) var wait: UInt64? = 0
    /// What is wrong with the certificate that the client is shown.
    package private(set) var flaw: CertificateFlaw?
    package private(set) var end: End?

    package enum End {
        case alert(TLSAlert)
        case reset, disconnect
    }

    /// Nil when no rule fired.
    /// - Parameter duration: a time of the rules as the loop has it.
    package init?(_ hits: [FaultHit], duration: (UInt64) -> UInt64 = { $0 }) {
        guard !hits.isEmpty else { return nil }
        self.hits = hits
        for hit in hits {
            var random = SplitMix64(seed: hit.random)
            for action in hit.actions { take(action.verdict, &random) }
        }
        wait = wait.map(duration)
    }

    private mutating func take(_ verdict: FaultEffect, _ random: inout SplitMix64) {
        switch verdict {
        case .tls(.alert(let alert)): end = end ?? .alert(alert)
        case .tls(.certificate(let flaw)): self.flaw = self.flaw ?? flaw
        case .message(.delay(let delay)): add(delay.draw(&random))
        case .stall(let stall): add(stall.duration)
        case .reset, .refuse: end = end ?? .reset
        case .disconnect: end = end ?? .disconnect
        case .mute, .throttle, .slice, .outage, .close, .respond, .malformed, .redirectLoop, .wrongAccept,
            .wrongSubprotocol, .message, .downgrade, .expire, .lifetime:
            // No rule about a handshake is loaded with them.
            break
        }
    }

    private mutating func add(_ time: UInt64?) {
        guard let time, let wait else { return self.wait = nil }
        let (sum, overflow) = wait.addingReportingOverflow(time)
        self.wait = overflow ? nil : sum
    }

    /// The rule to whose account a failure goes.
    package var rule: String { (hits.first { $0.ending != nil } ?? hits[0]).name }
}
