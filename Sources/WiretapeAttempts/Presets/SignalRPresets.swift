extension ClientPreset {
    /// @microsoft/signalr with `withAutomaticReconnect()`: waits d[n] before attempt n, 0, 2, 10, 30 s, and ends after the
    /// fourth failure. The first `start()` is never tried again. `delays` is what the application gives to
    /// `withAutomaticReconnect([…])`.
    static let signalrJS = ClientPreset(
        "signalr-js",
        "@microsoft/signalr, withAutomaticReconnect(): 0, 2, 10, 30 s, then it stops; delays=0s|1s|5s for its array",
        parameters: [.durations("delays")], automaticReconnect)

    /// Microsoft.AspNetCore.SignalR.Client with `WithAutomaticReconnect()`: waits 0, 2, 10 and 30 s, after any loss and any close code. A
    /// first `StartAsync()` is not tried again (signalr.md, section 12). `delays` is what the application gives to
    /// `WithAutomaticReconnect(…)`.
    static let signalrDotnet = ClientPreset(
        "signalr-dotnet",
        "the .NET client, WithAutomaticReconnect(): 0, 2, 10, 30 s, then it stops; delays=0s|1s|5s for its array",
        parameters: [.durations("delays")], automaticReconnect)

    /// dotnet/signalr-client-swift: tries first and sleeps d[n] after a failure, so that attempts come after 0, 0, 2 and
    /// 10 s; the last sleep of 30 s is followed by none. `delays` is its `retryDelays`.
    static let signalrSwift = ClientPreset(
        "signalr-swift",
        "dotnet/signalr-client-swift: 0, 0, 2, 10 s, then it stops; delays=0s|2s|10s|30s for its sleeps after a failure",
        parameters: [.durations("delays")]
    ) { state, values in
        let sleeps = values.durations("delays") ?? seconds([0, 2, 10, 30])
        return waiting(sleeps.isEmpty ? [] : [0] + sleeps.dropLast(), state, retriesStart: false)
    }

    /// moozzyk/SignalR-Client-Swift with its default policy: 0, 2, 10, 30 s, for the first start as well. `delays` are the
    /// retry intervals of `DefaultReconnectPolicy`.
    static let signalrSwiftMoozzyk = ClientPreset(
        "signalr-swift-moozzyk",
        "moozzyk/SignalR-Client-Swift: 0, 2, 10, 30 s, also for the first start; delays=0s|1s for its retryIntervals",
        parameters: [.durations("delays")]
    ) { state, values in
        waiting(values.durations("delays") ?? seconds([0, 2, 10, 30]), state, retriesStart: true)
    }

    /// Microsoft's clients for JavaScript and .NET have the same delays.
    @Sendable private static func automaticReconnect(_ state: RetryState, _ values: Values) -> NextAttempt {
        waiting(values.durations("delays") ?? seconds([0, 2, 10, 30]), state, retriesStart: false)
    }

    private static func seconds(_ seconds: [UInt64]) -> [UInt64] { seconds.map { $0 * second } }

    private static func waiting(_ delays: [UInt64], _ state: RetryState, retriesStart: Bool) -> NextAttempt {
        guard state.hasConnected || retriesStart else { return .none("its first start is not tried again") }
        guard state.retry <= delays.count else { return .none("it makes \(delays.count) retries") }
        return .after(delays[state.retry - 1])
    }
}
