extension ClientPreset {
    /// pysignalr 1.3.3, which replaces the reconnects of the websockets library by its own (`pysignalr/__init__.py`,
    /// `transport/websocket.py`). A lost WebSocket is opened again at once, with the old id. An upgrade that is refused,
    /// whatever its status, and a negotiation that ends without an answer are followed by a new negotiation after 1 s ×
    /// 1.1ⁿ, n counted over the client's life, nine times. A negotiation that is answered otherwise than well, reset or
    /// refused ends it.
    static let pysignalr = ClientPreset(
        "pysignalr",
        "pysignalr: at once after a loss; after a refused upgrade 1.1, 1.21, 1.33 … s, nine times in its life; sleep=D for "
            + "retry_sleep, count=N for retry_count",
        parameters: [.duration("sleep"), .count("count")]
    ) { state, values in
        if state.wasLost || state.last.outcome == .handshake { return .after(0) }
        guard let step = state.last.steps.last else { return .free }
        // Behind a loss a connection is for an upgrade, else for a negotiation.
        let isUpgrade = step.request == "upgrade" || step.request == "connect" && state.before?.outcome == .connected
        guard isUpgrade || step.status == nil && state.last.ended?.how == .fin else {
            return .none("a negotiation that is refused or reset ends it")
        }
        let most = max(1, values.count("count") ?? 10) - 1
        guard state.failures <= most else {
            return .none(
                most == 9 ? "it tries again nine times in its life" : "it tries again \(most) times in its life")
        }
        let growth = Expectation.Exponential(base: values.duration("sleep") ?? second, factor: 1.1)
        return .after(growth.bounds(state.failures + 1).longest)
    }
}
