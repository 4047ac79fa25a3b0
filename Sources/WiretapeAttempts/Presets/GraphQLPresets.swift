extension ClientPreset {
    /// graphql-ws 6: retry n waits 2ⁿ s (n from 0) and 0.3 to 3 s more, five times; the count begins anew at each
    /// acknowledgement. 1000 is followed by a connection at once; some codes, and whatever is no close event (a refused
    /// connection, a status), end it. `max` is its `retryAttempts`.
    static let graphqlWS = ClientPreset(
        "graphql-ws",
        "graphql-ws (JavaScript): 1, 2, 4, 8, 16 s and 0.3 to 3 s more; fatal codes and refused upgrades end it; max=N for "
            + "retryAttempts",
        parameters: [.count("max")]
    ) { state, values in
        if state.last.outcome == .status || state.last.outcome == .refused {
            return .none("an upgrade that fails ends it")
        }
        if let code = state.closeCode {
            if code == 1000 { return .after(0) }
            if isFatal(code) { return .none("code \(code) ends it") }
        }
        let most = values.count("max") ?? 5
        guard state.retry <= most else { return .none("it makes \(most) retries") }
        let growth = Expectation.Exponential(base: second, jitter: .added(300 * millisecond, 3 * second))
        let wait = growth.bounds(state.retry)
        return .within(wait.shortest, wait.longest)
    }

    /// Codes after which graphql-ws does not try again.
    private static func isFatal(_ code: Int) -> Bool {
        switch code {
        case 1001, 1005, 1006, 1012, 1013, 1014: false
        case 1000..<2000: true
        case 4004, 4005, 4400, 4401, 4406, 4409, 4429, 4500: true
        default: false
        }
    }

    /// Apollo iOS 2: off unless `interval` says how long it waits, without growth or jitter; one attempt for each
    /// connection that was acknowledged.
    static let apolloIOS = ClientPreset(
        "apollo-ios", "Apollo iOS 2: no retry; with interval=D one, after D, for each acknowledged connection",
        parameters: [.duration("interval")]
    ) { state, values in
        guard let interval = values.duration("interval") else { return .none("reconnectionInterval is off") }
        guard state.wasLost else { return .none("it tries once for each acknowledged connection") }
        return .after(interval)
    }

    /// Apollo iOS 1: reconnects by itself, half a second after every end and every failed attempt, whatever the code, for
    /// ever. `interval` is its `reconnectionInterval`.
    static let apolloIOS1 = ClientPreset(
        "apollo-ios-1", "Apollo iOS 1: 0.5 s, for ever; interval=D for its reconnectionInterval",
        parameters: [.duration("interval")]
    ) { _, values in .after(values.duration("interval") ?? 500 * millisecond) }
}
