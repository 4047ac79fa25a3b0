internal import WiretapeBytes
internal import WiretapeWire

/// How the sample client tells what its application sees.
enum SampleTimeline {
    /// `   2.013 s  retry 2            after 2s`
    static func line(_ nanoseconds: UInt64, _ what: String, _ rest: String) -> String {
        // Servers say both.
        let (what, rest) = (Summary.part(what), Summary.part(rest))
        let milliseconds = nanoseconds / 1_000_000
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        let time = "\(milliseconds / 1000).\(fraction)"
        let head = String(repeating: " ", count: max(0, 8 - time.count)) + time + " s  " + what
        guard !rest.isEmpty else { return head + "\n" }
        return head + String(repeating: " ", count: max(1, 30 - head.count)) + rest + "\n"
    }

    static func words(_ event: HubEvent) -> (what: String, rest: String) {
        switch event {
        case .connected: ("connected", "")
        case .invocation(let target, let arguments): (target, arguments.map(plain).joined(separator: ": "))
        case .lost(let reason): ("connection lost", reason)
        case .retrying(let attempt, let delay): ("retry \(attempt)", "after \(DurationText.describe(delay))")
        case .retryFailed(let attempt, let reason): ("retry \(attempt) failed", reason)
        case .reconnected: ("reconnected", "")
        case .closed(let reason): ("closed", reason ?? "")
        }
    }

    private static func plain(_ value: JSONValue) -> String { value.string ?? value.text }
}
