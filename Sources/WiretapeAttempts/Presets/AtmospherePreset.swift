extension ClientPreset {
    /// atmosphere.js 4 with its defaults: at once (`reconnectInterval` 0), five times since the last answer
    /// (`maxReconnectOnClose`), then the fallback transport gets as many.
    static let atmosphereJS = ClientPreset(
        "atmosphere-js",
        "atmosphere.js: at once, 5 times a transport; interval=D for its reconnectInterval, max=N for maxReconnectOnClose",
        parameters: [.duration("interval"), .count("max")]
    ) { state, values in
        let most = min(values.count("max") ?? 5, Int.max / 2)
        guard state.retry <= most * 2 else { return .none("it makes \(most) retries a transport") }
        return .after(values.duration("interval") ?? 0)
    }
}
