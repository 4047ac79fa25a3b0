package import WiretapeBytes

/// The signals that ask a command to end. `timeout` and a terminal tell a process and then its whole group: what comes
/// within a second of the first one is the same request.
package struct StopSignals {
    package enum Meaning {
        case stop
        case sameRequest
        /// Asked once more, it ends at once.
        case endAtOnce
    }

    private var first: WireInstant?

    package init() {}

    private static let sameRequest: UInt64 = 1_000_000_000

    package mutating func received(at now: WireInstant) -> Meaning {
        guard let first else {
            first = now
            return .stop
        }
        return now.since(first) < Self.sameRequest ? .sameRequest : .endAtOnce
    }
}
