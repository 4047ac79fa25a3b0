extension Attempt {
    /// How soon after a failure a further request is part of the same attempt, when it is of its kind.
    private static let stepTime: UInt64 = 250_000_000

    /// The attempts with those put together that are steps of one: a fallback to another transport and the negotiation it
    /// takes, and a request that is repeated with a fresh credential after a 401. Both follow a failure at once.
    package static func joined(_ attempts: [Attempt]) -> [Attempt] { joining(attempts).attempts }

    /// - Returns: also which of them each attempt has become, in the order in which they were given, counted from 1.
    package static func joining(_ attempts: [Attempt]) -> (attempts: [Attempt], numbers: [Int]) {
        var out: [Attempt] = []
        var numbers: [Int] = []
        for attempt in attempts {
            guard let last = out.last, goesOn(last, with: attempt) else {
                out.append(attempt)
                numbers.append(out.count)
                continue
            }
            numbers.append(out.count)
            out[out.count - 1].steps += attempt.steps
            out[out.count - 1].outcome = attempt.outcome
            out[out.count - 1].ended = attempt.ended
            out[out.count - 1].isOwnRefusal = attempt.isOwnRefusal
        }
        var retry = 0
        for i in out.indices {
            out[i].number = i + 1
            out[i].retry = retry
            retry = out[i].outcome == .connected ? 1 : retry + 1
        }
        return (out, numbers)
    }

    private static func goesOn(_ failed: Attempt, with next: Attempt) -> Bool {
        guard failed.outcome == .status || failed.outcome == .refused, let delay = next.delay, delay <= stepTime,
            let step = failed.steps.last, let first = next.steps.first
        else { return false }
        if step.status == 401 { return first.request == step.request && first.status != 401 }
        guard let tried = step.transport, let other = next.steps.lazy.compactMap(\.transport).first else {
            return false
        }
        return other != tried && !failed.steps.contains { $0.transport == other }
    }
}
