extension ClientPreset {
    /// atmosphere.js 4 with its defaults: at once (`reconnectInterval` 0), five times since the last answer
    /// (`maxReconnectOnClose`), then the fallback transport gets as many.
    static let atmosphereJS = ClientPreset(
        "atmosphere-js", "atmosphere.js: at once, 5 times a transport; interval=D for its reconnectInterval",
        parameters: ["interval"]
    ) { state, values in
        guard state.retry <= 10 else { return .none("it makes 5 retries a transport") }
        return .after(values["interval"] ?? 0)
    }
}
