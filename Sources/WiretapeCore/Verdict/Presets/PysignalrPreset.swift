extension ClientPreset {
    /// pysignalr 1.3.3 on websockets 13 and later. A lost WebSocket is opened again at once. An upgrade that fails is
    /// repeated by the websockets library: first after 0 to 5 s, then 3.1 s, growing by 1.618 up to 90 s, for ever; of
    /// statuses only 500, 502, 503 and 504 are. A negotiation that cannot connect is repeated after 1.1 s, growing by 1.1,
    /// nine times over the client's life; one that is answered with an error status is not.
    static let pysignalr = ClientPreset(
        "pysignalr",
        "pysignalr: at once after a loss, then 0 to 5, 3.1, 5.02 … 90 s for upgrades, 1.1 s × 1.1ⁿ for negotiations"
    ) { state, _ in
        if state.wasLost { return .after(0) }
        guard let step = state.last.steps.last else { return .free }
        if step.request == "negotiate" {
            guard step.status == nil else { return .none("a negotiation's error status ends it") }
            guard state.alike <= 9 else { return .none("it repeats a negotiation nine times") }
            return .after(grown(1.1, 1.1, state.alike - 1, cap: 90))
        }
        if let status = step.status, status != 101, ![500, 502, 503, 504].contains(status) {
            return .none("status \(status) ends it")
        }
        return state.alike <= 1 ? .within(0, 5 * second) : .after(grown(3.1, 1.618, state.alike - 2, cap: 90))
    }

    /// `base` × `factor`ⁿ seconds, at most `cap`, in nanoseconds.
    static func grown(_ base: Double, _ factor: Double, _ n: Int, cap: Double) -> UInt64 {
        var delay = base
        for _ in 0..<max(0, min(n, 1_024)) where delay < cap { delay *= factor }
        return UInt64(min(delay, cap) * Double(second))
    }
}
