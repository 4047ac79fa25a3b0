package import WiretapeBytes

/// TLS handshakes that rules made fail before their client had a session: its first attempts, once it is known whose they
/// were. All that is known of such a client is its address, so they are those of the next session that begins from there.
package struct EarlyFailures: Sendable {
    /// An attempt that came to nothing before anything was asked.
    package struct Failure: Sendable {
        package var time: WireInstant
        /// Of the rule.
        package var rule: String
        package var why: String

        package init(at time: WireInstant, by rule: String, why: String) {
            self.time = time
            self.rule = rule
            self.why = why
        }
    }

    private static let mostHosts = 256
    /// Of one host: what is older says nothing of who comes now.
    private static let most = 64

    private var failures: [String: [Failure]] = [:]

    package init() {}

    package mutating func add(_ failure: Failure, from host: String) {
        if failures.count >= Self.mostHosts, failures[host] == nil { failures = [:] }
        failures[host, default: []].append(failure)
        if failures[host, default: []].count > Self.most { failures[host]?.removeFirst() }
    }

    package mutating func take(from host: String) -> [Failure] { failures.removeValue(forKey: host) ?? [] }
}

extension CountsAttempts {
    /// An attempt of the client that ended in its TLS handshake.
    /// - Parameter origin: when the run began.
    package func failedHandshake(_ failure: EarlyFailures.Failure, origin: WireInstant) {
        guard beginAttempt(at: failure.time, origin: origin) else { return }
        addStep(
            Attempt.Step(request: "tls", time: failure.time.since(origin)), failed: .fault(failure.rule), how: .tls,
            reason: failure.why, at: failure.time)
    }
}
