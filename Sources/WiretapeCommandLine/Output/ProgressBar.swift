internal import WiretapeBytes
internal import WiretapeSystem

/// How far a long file has been read, on standard error, only when a person looks at it.
package struct ProgressBar {
    private let label: String
    private let isShown: Bool
    private var shownPercent = -1

    /// - Parameter isWanted: false keeps it silent on a terminal too (`--quiet`, short files).
    package init(_ label: String, isWanted: Bool = true) {
        self.label = TerminalText.line(label)
        isShown = isWanted && Console.error.isTerminal
    }

    /// Draws when the percentage has changed.
    package mutating func show(_ done: UInt64, of total: UInt64) {
        guard isShown, total > 0 else { return }
        let percent = Int(min(100, Double(done) / Double(total) * 100))
        if percent == shownPercent { return }
        shownPercent = percent
        Console.error.writeAsIs(
            "\r" + Self.line(label, percent: percent, width: Console.error.columns ?? 80))
    }

    /// Wipes it away.
    package mutating func clear() {
        if isShown, shownPercent >= 0 { Console.error.writeAsIs("\r\u{1B}[K") }
        shownPercent = -1
    }

    /// `chat.tape.gz [#####     ]  50 %`
    package static func line(_ label: String, percent: Int, width: Int) -> String {
        let cells = max(5, min(40, width - label.count - 11))
        let full = cells * percent / 100
        let number = String(repeating: " ", count: 3 - "\(percent)".count) + "\(percent)"
        return "\(label) [" + String(repeating: "#", count: full) + String(repeating: " ", count: cells - full)
            + "] \(number) %"
    }
}
