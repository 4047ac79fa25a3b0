/// Attempts drawn to scale, a row each: dots while the client waits, a thin line while it tries, a thick one while it is
/// connected, and how it ended: `╳` cut or refused, `┤` by the client.
package struct AttemptTimeline {
    private let attempts: [Attempt]
    private let folds: [Range<Int>]
    private static let width = 60
    /// More rows say nothing to a reader.
    private static let most = 40

    package init(_ attempts: [Attempt]) {
        self.attempts = attempts
        folds = AttemptFolds(attempts).ranges
    }

    /// Nothing for a single attempt: there is no delay to see.
    package var lines: [String] {
        guard attempts.count > 1, let first = attempts.first else { return [] }
        let last = attempts.map { max($0.start, $0.ended?.time ?? 0, $0.steps.last?.time ?? 0) }.max() ?? 0
        let span = max(1, last - min(last, first.start))
        let digits = "\(attempts.count)".count
        var lines: [String] = []
        var shown = 0
        var next = 0
        while next < attempts.count, shown < Self.most {
            let attempt = attempts[next]
            let number = "\(attempt.number)"
            let padding = String(repeating: " ", count: digits - min(digits, number.count))
            lines.append("  \(padding)\(number) " + row(attempt, from: first.start, span))
            shown += 1
            next += 1
            // Of those that are told in one line the first and the last are drawn.
            if let fold = folds.first(where: { $0.lowerBound == next - 1 }) {
                lines.append("  … \(fold.count - 2) more like it")
                next = fold.upperBound - 1
            }
        }
        if next < attempts.count { lines.append("  … \(attempts.count - next) more attempts") }
        return lines
    }

    private func row(_ attempt: Attempt, from origin: UInt64, _ span: UInt64) -> String {
        func column(_ time: UInt64) -> Int {
            let part = Double(time - min(time, origin)) / Double(span)
            return min(Self.width, Int(part * Double(Self.width)))
        }
        let start = column(attempt.start)
        let waited = column(attempt.start - min(attempt.start, attempt.delay ?? 0))
        let ready = attempt.outcome == .connected ? column(attempt.steps.last?.time ?? attempt.start) : Self.width
        let end = attempt.ended.map { column($0.time) } ?? (attempt.outcome == nil ? start : Self.width)
        var text = ""
        for at in 0..<max(end, start) {
            text += at < waited ? " " : at < start ? "·" : at < ready ? "─" : "━"
        }
        guard let ended = attempt.ended else { return text + (attempt.outcome == .connected ? "▶" : "?") }
        return text + (ended.by == .client ? "┤" : "╳")
    }
}
