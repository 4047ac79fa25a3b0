extension ClientPreset {
    /// pysignalr 1.3.3, which replaces the reconnects of the websockets library by its own (`pysignalr/__init__.py`,
    /// `transport/websocket.py`). A lost WebSocket is opened again at once, with the old id. An upgrade that is refused,
    /// whatever its status, and a negotiation that ends without an answer are followed by a new negotiation after 1 s ×
    /// 1.1ⁿ, n counted over the client's life, nine times. A negotiation that is answered otherwise than well, reset or
    /// refused ends it.
    static let pysignalr = ClientPreset(
        "pysignalr",
        "pysignalr: at once after a loss; after a refused upgrade 1.1, 1.21, 1.33 … s, nine times in its life"
    ) { state, _ in
        if state.wasLost || state.last.outcome == .handshake { return .after(0) }
        guard let step = state.last.steps.last else { return .free }
        // Behind a loss a connection is for an upgrade, else for a negotiation.
        let isUpgrade = step.request == "upgrade" || step.request == "connect" && state.before?.outcome == .connected
        guard isUpgrade || step.status == nil && state.last.ended?.how == "fin" else {
            return .none("a negotiation that is refused or reset ends it")
        }
        guard state.failures <= 9 else { return .none("it tries again nine times in its life") }
        return .after(grown(1.1, 1.1, state.failures - 1, cap: 90))
    }

    /// `base` × `factor`ⁿ seconds, at most `cap`, in nanoseconds.
    static func grown(_ base: Double, _ factor: Double, _ n: Int, cap: Double) -> UInt64 {
        var delay = base
        for _ in 0..<max(0, min(n, 1_024)) where delay < cap { delay *= factor }
        return UInt64(min(delay, cap) * Double(second))
    }
}
