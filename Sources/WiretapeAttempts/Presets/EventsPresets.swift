extension ClientPreset {
    /// The JavaScript package `eventsource` 2.0.2 (`lib/eventsource.js`): 1 s after every end of the stream, a failed
    /// connection and the statuses 500, 502, 503 and 504, for ever and from the first attempt on. 301, 302 and 307 are followed at
    /// once; any other status closes it for good. `retry` is what the server's `retry:` says, or the application's
    /// `reconnectInterval`.
    static let eventsource = ClientPreset(
        "eventsource",
        "eventsource (JavaScript): 1 s, for ever; statuses other than 200, 500, 502, 503 and 504 end it; retry=D for what "
            + "the server's retry: says",
        parameters: [.duration("retry")]
    ) { state, values in
        let wait = NextAttempt.after(values.duration("retry") ?? second)
        guard state.last.outcome == .status, let status = state.last.steps.last?.status else { return wait }
        switch status {
        case 301, 302, 307: return .after(0)
        case 500, 502, 503, 504: return wait
        case let status: return .none("status \(status) ends it")
        }
    }
}
