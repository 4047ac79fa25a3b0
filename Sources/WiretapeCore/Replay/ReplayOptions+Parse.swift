// The values as they are spelled on the command line. What a later version brings is refused in words.

extension ReplayOptions.Speed {
    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "instant": self = .instant
        case "step": throw OptionError("--speed step is not built yet; use instant, or a number such as 1 or 10")
        default:
            guard let factor = Double(text), factor > 0, factor.isFinite else {
                throw OptionError("'\(text)' is not a speed; use a number above 0 (1 is as recorded) or instant")
            }
            self = .factor(factor)
        }
    }
}

extension ReplayOptions.Match {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--match", [("relaxed", .relaxed)], later: ["strict", "off"])
    }
}

extension ReplayOptions.OnDivergence {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--on-divergence", [("fail", .fail)], later: ["warn", "ignore", "stall"])
    }
}

extension ReplayOptions.OnReconnect {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(
            text, "--on-reconnect", [("resume", .resume)],
            later: ["lose", "rewind", "live", "restart", "next", "refuse"])
    }
}

extension ReplayOptions.WhenExhausted {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--when-exhausted", [("refuse", .refuse)], later: ["repeat", "last"])
    }
}

extension ReplayOptions.Keepalive {
    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "auto": self = .auto
        case "off": self = .off
        default:
            guard let every = DurationText.parse(text), every > 0 else {
                throw OptionError("'\(text)' is not a keepalive; use auto, off or a duration such as 15s")
            }
            self = .every(every)
        }
    }
}

extension ReplayOptions.Until {
    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "signal": self = .signal
        case "finished": self = .finished
        default:
            guard text.hasPrefix("idle:"), let quiet = DurationText.parse(text.dropFirst(5)), quiet > 0 else {
                throw OptionError("'\(text)' is no end; use signal, finished or idle:DURATION such as idle:5s")
            }
            self = .idle(quiet)
        }
    }
}

extension ReplayOptions.Route {
    package init(parsing text: String) throws(OptionError) {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, sides.allSatisfy({ $0.hasPrefix("/") }) else {
            throw OptionError("'\(text)' is not a route; write ASKED=RECORDED, for instance '/v2/hub=/hub'")
        }
        self.init(from: sides[0], to: sides[1])
    }
}

private func choose<Value>(
    _ text: String, _ flag: String, _ values: [(name: String, value: Value)], later: [String]
) throws(OptionError) -> Value {
    if let found = values.first(where: { $0.name == text }) { return found.value }
    let usable = values.map(\.name).joined(separator: ", ")
    let word = text.prefix { $0 != ":" }
    if later.contains(String(word)) {
        throw OptionError("\(flag) \(text) is not built yet; this version has \(usable)")
    }
    let hint = NearestName.hint(text, among: values.map(\.name))
    throw OptionError("'\(text)' is not a value of \(flag)\(hint.isEmpty ? "; use \(usable)" : hint)")
}
