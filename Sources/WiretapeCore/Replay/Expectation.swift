/// A policy that every client is held to: `delays(0s, 2s, 10s, 30s, early=50ms, late=1s)`.
package struct Expectation: Hashable, Sendable {
    /// As it was written.
    package var text: String
    package var policy: Policy

    package enum Policy: Hashable, Sendable {
        /// The n-th retry since the last success comes so long after the end before it, give or take.
        case delays([UInt64], early: UInt64, late: Late)
    }

    /// How much later than its time an attempt may come.
    package enum Late: Hashable, Sendable {
        case fixed(UInt64)
        /// The larger of 500 ms and a quarter of the delay.
        case standard

        package func allowance(for delay: UInt64) -> UInt64 {
            switch self {
            case .fixed(let late): late
            case .standard: max(500_000_000, delay / 4)
            }
        }
    }

    /// - Throws: for unknown policies, with the nearest name, and for those that are not built yet.
    package static func parse(_ text: String) throws(OptionError) -> Expectation {
        let trimmed = text.trimmingBlanks()
        let name = String(trimmed.prefix { $0 != "(" })
        guard name == "delays" else {
            if later.contains(name) {
                throw OptionError("the policy '\(name)' is not built yet; this version has delays(0s, 2s, …)")
            }
            let hint = NearestName.hint(name, among: ["delays"] + later)
            throw OptionError("'\(name)' is not a policy\(hint.isEmpty ? "; use delays(0s, 2s, …)" : hint)")
        }
        guard trimmed.count > name.count, trimmed.hasSuffix(")") else {
            throw OptionError("'\(trimmed)' needs its delays in brackets: delays(0s, 2s, 10s, 30s)")
        }
        return Expectation(text: trimmed, policy: try delays(trimmed.dropFirst(name.count + 1).dropLast()))
    }

    private static let later = [
        "exponential", "constant", "gives-up", "rate", "honours", "transports", "detects", "resubscribes", "client",
    ]

    private static func delays(_ arguments: Substring) throws(OptionError) -> Policy {
        var delays: [UInt64] = []
        var early: UInt64 = 50_000_000
        var late = Late.standard
        for argument in arguments.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingBlanks() }
            guard let duration = DurationText.parse(parts[parts.count - 1]) else {
                throw OptionError("'\(argument.trimmingBlanks())' is not a duration such as 250ms, 2s or 1m")
            }
            switch parts.count == 1 ? nil : parts[0] {
            case nil: delays.append(duration)
            case "early": early = duration
            case "late": late = .fixed(duration)
            case let name?:
                throw OptionError("delays has no '\(name)'\(NearestName.hint(name, among: ["early", "late"]))")
            }
        }
        guard !delays.isEmpty else { throw OptionError("delays needs at least one delay: delays(0s, 2s, 10s, 30s)") }
        return .delays(delays, early: early, late: late)
    }
}
