internal import WiretapeBytes

/// `lifetime(5s)`: the server reports this credential lifetime.
enum LifetimeFault {
    package static let entry = FaultEntry(
        word: "lifetime",
        summary:
            "sets the credential lifetime that the server reports in the negotiation and in each renewal (SignalR's tokenLifetimeSeconds), in whole seconds",
        examples: ["lifetime(4s) on negotiate", "lifetime(1m) on refresh[2]"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let duration = try reader.duration("for") else {
            throw text.error("lifetime needs a duration: lifetime(5s)", at: arguments.at)
        }
        try reader.finish("a duration")
        guard duration >= 1_000_000_000, duration % 1_000_000_000 == 0 else {
            throw text.error("lifetime is counted in whole seconds: lifetime(5s)", at: arguments.at)
        }
        return (.lifetime(seconds: Int(duration / 1_000_000_000)), DurationText.describe(duration))
    }
}
