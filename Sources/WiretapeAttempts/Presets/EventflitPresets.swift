extension ClientPreset {
    /// EventflitSwift: n² seconds before the attempt with n failures behind it (0, 1, 4, 9, 16 …), at most 120 s, for
    /// ever, whatever the code. `max` is its `reconnectAttemptsMax`, `gap` its `maxReconnectGapInSeconds`.
    static let eventflitSwift = ClientPreset(
        "eventflit-swift",
        "EventflitSwift: 0, 1, 4, 9, 16 … 120 s, for ever; max=N for reconnectAttemptsMax, gap=D for the longest wait",
        parameters: [.count("max"), .duration("gap")]
    ) { state, values in
        if let most = values.count("max"), state.retry > most { return .none("it makes \(most) retries") }
        let growth = Expectation.Polynomial(base: second, cap: values.duration("gap") ?? 120 * second, from: 0)
        return .after(growth.bounds(state.retry).longest)
    }

    /// pusher-websocket-swift 10 waits as EventflitSwift does, except after some close codes. After 4000, 4001 and 4003 to 4009 it does not
    /// reconnect. After 4200 to 4202 it reconnects at once.
    static let pusherSwift = ClientPreset(
        "pusher-swift",
        "pusher-websocket-swift 10: like eventflit-swift; at once after 4200 to 4202, never after 4000, 4001, 4003 to 4009",
        parameters: eventflitSwift.parameters
    ) { state, values in
        let usual = eventflitSwift.rule(state, values)
        guard case .within = usual, let code = state.closeCode else { return usual }
        switch code {
        case 4000, 4001, 4003...4009: return .none("code \(code) ends it")
        case 4200...4202: return .after(0)
        default: return usual
        }
    }

    /// eventflit-js 1.0: a lost connection is opened again after 1 s, for ever, whatever the code. Before it was connected
    /// the code decides: 4000 to 4099 and those above 4299 end it, 4200 to 4299 come at once, others after 1 s.
    static let eventflitJS = ClientPreset(
        "eventflit-js", "eventflit-js 1.0: 1 s, for ever; codes decide before it was connected"
    ) { state, _ in
        guard !state.wasLost, let code = state.closeCode else { return .after(second) }
        switch code {
        case 4000: return .after(0)
        case 4001..<4100: return .none("code \(code) ends it")
        case 4200..<4300: return .after(0)
        case 4300...: return .none("code \(code) ends it")
        default: return .after(second)
        }
    }
}
