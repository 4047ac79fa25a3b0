extension ClientPreset {
    /// @microsoft/signalr with `withAutomaticReconnect()`: waits d[n] before attempt n, 0, 2, 10, 30 s, and ends after the
    /// fourth failure. The first `start()` is never tried again.
    static let signalrJS = ClientPreset(
        "signalr-js", "@microsoft/signalr, withAutomaticReconnect(): 0, 2, 10, 30 s, then it stops"
    ) { state, _ in
        waiting([0, 2, 10, 30], state, retriesStart: false)
    }

    /// dotnet/signalr-client-swift: tries first and sleeps d[n] after a failure, so that attempts come after 0, 0, 2 and
    /// 10 s; the last sleep of 30 s is followed by none.
    static let signalrSwift = ClientPreset(
        "signalr-swift", "dotnet/signalr-client-swift: 0, 0, 2, 10 s, then it stops"
    ) { state, _ in
        waiting([0, 0, 2, 10], state, retriesStart: false)
    }

    /// moozzyk/SignalR-Client-Swift with its default policy: 0, 2, 10, 30 s, for the first start as well.
    static let signalrSwiftMoozzyk = ClientPreset(
        "signalr-swift-moozzyk", "moozzyk/SignalR-Client-Swift: 0, 2, 10, 30 s, also for the first start"
    ) { state, _ in
        waiting([0, 2, 10, 30], state, retriesStart: true)
    }

    private static func waiting(_ seconds: [UInt64], _ state: RetryState, retriesStart: Bool) -> NextAttempt {
        guard state.hasConnected || retriesStart else { return .none("its first start is not tried again") }
        guard state.retry <= seconds.count else { return .none("it makes \(seconds.count) retries") }
        return .after(seconds[state.retry - 1] * second)
    }
}
