internal import WiretapeAttempts

/// Draws attempts to scale, each as an SVG of its own as wide as there is room: places are parts of its width.
struct AttemptLane {
    private let origin: UInt64
    private let span: UInt64

    /// - Parameters: nanoseconds since the run began.
    init(from origin: UInt64, to end: UInt64) {
        self.origin = origin
        span = max(1, end - min(end, origin))
    }

    /// `12.34%`. A little is left at the right for the sign of an end.
    private func part(_ nanoseconds: UInt64) -> String {
        let hundredths = Int((Double(min(nanoseconds, span)) / Double(span) * 9_850).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
    }

    private func place(_ time: UInt64) -> String { part(time - min(time, origin)) }

    private func bar(_ kind: String, _ from: UInt64, _ to: UInt64, y: Int, height: Int) -> String {
        "<rect class=\"\(kind)\" x=\"\(place(from))\" width=\"\(part(to - min(to, from)))\" y=\"\(y)\" height=\"\(height)\"/>"
    }

    /// Moments at round times.
    var scale: String {
        var step: UInt64 = 1_000
        let factors: [UInt64] = [2, 5, 10]
        search: while step < .max / 100 {
            for factor in [1] + factors where step * factor * 6 >= span {
                step *= factor
                break search
            }
            step *= 10
        }
        var text = "<svg height=\"16\" role=\"presentation\">"
        var at: UInt64 = 0
        while at <= span {
            let anchor = at == 0 ? "start" : "middle"
            text += "<text x=\"\(part(at))\" y=\"12\" text-anchor=\"\(anchor)\">\(short(at))</text>"
            at += step
        }
        return text + "</svg>"
    }

    /// Dots while the client waits, a thin bar while it tries, a thick one while it is connected, the sign of its end, and what fired.
    func drawing(_ attempt: Attempt, _ fired: [ReplayReport.Firing]) -> String {
        let end = attempt.ended?.time ?? origin + span
        let isConnected = attempt.outcome == .connected
        let ready = isConnected ? min(end, attempt.steps.last?.time ?? attempt.start) : end
        var text = "<svg height=\"22\" role=\"img\" aria-label=\"attempt \(attempt.number) to scale\">"
        text += "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"11\" y2=\"11\"/>"
        if let delay = attempt.delay, delay > 0 {
            let from = attempt.start - min(attempt.start, delay)
            text += "<line class=\"wait\" x1=\"\(place(from))\" x2=\"\(place(attempt.start))\" y1=\"11\" y2=\"11\"/>"
        }
        text += bar(isConnected ? "try" : "try failed", attempt.start, ready, y: 9, height: 4)
        if isConnected { text += bar("on", ready, end, y: 6, height: 10) }
        if let ended = attempt.ended {
            let isClient = ended.by == .client
            let kind = isClient || ended.by == .server ? "left" : "cut"
            text +=
                "<text class=\"stop \(kind)\" x=\"\(place(ended.time))\" y=\"16\" text-anchor=\"middle\">"
            text += "\(isClient ? "┤" : "✕")</text>"
        }
        for one in fired {
            text += "<text class=\"fault\" x=\"\(place(one.time))\" y=\"8\" text-anchor=\"middle\">▼</text>"
        }
        return text + "</svg>"
    }
}
