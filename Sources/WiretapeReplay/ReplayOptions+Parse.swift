package import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeReport
package import WiretapeWire

// The values as they are spelled on the command line.

extension ReplayOptions.Speed {
    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "instant": self = .instant
        case "step": self = .step
        default:
            guard let factor = Double(text), factor > 0, factor.isFinite else {
                throw OptionError("'\(text)' is not a speed; use a number above 0 (1 is as recorded), instant or step")
            }
            self = .factor(factor)
        }
    }
}

extension ReplayOptions.Match {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--match", [("relaxed", .relaxed), ("strict", .strict), ("off", .off)])
    }
}

extension OnDivergence {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(
            text, "--on-divergence", [("fail", .fail), ("warn", .warn), ("ignore", .ignore), ("stall", .stall)])
    }
}

extension ReplayOptions.OnReconnect {
    package init(parsing text: String) throws(OptionError) {
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch words[0] {
        case "lose", "rewind":
            guard words.count == 2, let count = Int(words[1]), count > 0 else {
                throw OptionError("'\(text)' does not say how many pushes; write \(words[0]):1")
            }
            self = words[0] == "lose" ? .lose(count) : .rewind(count)
        default:
            self = try choose(
                text, "--on-reconnect",
                [("resume", .resume), ("live", .live), ("restart", .restart), ("next", .next), ("refuse", .refuse)],
                further: ["lose:N", "rewind:N"])
        }
    }
}

extension ReplayOptions.WhenExhausted {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--when-exhausted", [("refuse", .refuse), ("repeat", .repeat), ("last", .last)])
    }
}

extension ReplayOptions.OnMiss {
    package init(parsing text: String) throws(OptionError) {
        if let status = Int(text) {
            guard (200...599).contains(status) else {
                throw OptionError("'\(text)' is no status of an answer; use 200 to 599, for instance 204")
            }
            self = .status(status)
        } else {
            self = try choose(
                text, "--on-miss", [("fail", .fail), ("passthrough", .passthrough)], further: ["a status such as 204"])
        }
    }
}

extension ReplayOptions {
    /// `KEY=SECRET`
    package static func secret(parsing text: String) throws(OptionError) -> (key: String, secret: String) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex, text.index(after: equals) < text.endIndex
        else { throw OptionError("'\(text)' is not a key and its secret; write KEY=SECRET") }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}

extension ReplayOptions.Causality {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--causality", [("auto", .auto), ("session", .session), ("tape", .tape)])
    }
}

extension ReplayOptions.Deflate {
    package init(parsing text: String) throws(OptionError) {
        self = try choose(text, "--deflate", [("tape", .tape), ("off", .off)])
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

extension ReplayOptions {
    /// `ws,sse`: what negotiations offer.
    package static func transports(parsing text: String) throws(OptionError) -> [Transport] {
        var found: [Transport] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let transport: Transport = try choose(
                word.trimmingBlanks(), "--transports", Transport.allCases.map { ($0.rawValue, $0) })
            if !found.contains(transport) { found.append(transport) }
        }
        return found
    }

    /// `alice,bob`: what the listeners' clients go by.
    package static func names(parsing text: String) throws(OptionError) -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
        for (i, name) in names.enumerated() {
            if name.isEmpty { throw OptionError("'\(text)' has an empty name; write alice,bob") }
            if names[..<i].contains(name) {
                throw OptionError("'\(text)' names '\(name)' twice; a listener has one name")
            }
        }
        return names
    }

    /// How many times faster the client's clock runs.
    package static func timeScale(parsing text: String) throws(OptionError) -> Double {
        guard let scale = Double(text), scale > 0, scale.isFinite else {
            throw OptionError("'\(text)' is no scale; use a number above 0, for instance 100 for delays divided by 100")
        }
        return scale
    }

    /// What does not go together.
    package func check(hasUpstream: Bool) throws(OptionError) {
        if routing.onMiss == .passthrough, !hasUpstream {
            throw OptionError("--on-miss passthrough needs --upstream URL: where to pass requests to")
        }
        if routing.onMiss != .passthrough, hasUpstream {
            throw OptionError("--upstream is for --on-miss passthrough; without it a replay asks no server")
        }
        if onReconnect == .live, speed == .instant {
            throw OptionError(
                "--on-reconnect live needs time that passes: with --speed instant nothing is due during an absence")
        }
    }

    /// `--causality tape` must know which client plays which session, so it needs names. Replay recognizes a session of a single request by
    /// its content.
    package func check(_ sessions: [RecordedSession], tape: String) throws(OptionError) {
        guard causality == .tape else { return }
        let lasting = sessions.filter { !$0.isOperation && $0.refusal == nil }
        guard lasting.count > 1, let unnamed = lasting.first(where: { $0.name == nil }) else { return }
        throw OptionError(
            "--causality tape: session \(unnamed.number) of \(tape) has no name; name it with "
                + "'wiretape name \(tape) alice=\(unnamed.number)'")
    }
}

private func choose<Value>(
    _ text: String, _ flag: String, _ values: [(name: String, value: Value)], further: [String] = []
) throws(OptionError) -> Value {
    if let found = values.first(where: { $0.name == text }) { return found.value }
    let hint = NearestName.hint(text, among: values.map(\.name))
    let usable = (values.map(\.name) + further).joined(separator: ", ")
    throw OptionError("'\(text)' is not a value of \(flag)\(hint.isEmpty ? "; use \(usable)" : hint)")
}
