internal import WiretapeBytes
internal import WiretapeSystem

/// How far a capture has been read, how fast that goes and how long it will take, on standard error, only when a person looks at it.
struct ImportProgress {
    /// Nanoseconds between two looks.
    private static let step: UInt64 = 200_000_000

    private let label: String
    private let total: UInt64
    private let isShown: Bool
    private var began: UInt64?
    private var last: UInt64 = 0
    private var hasShown = false

    /// - Parameter total: bytes of the file; 0: not known.
    init(_ label: String, of total: UInt64, isWanted: Bool) {
        self.label = TerminalText.line(label)
        self.total = total
        isShown = isWanted && Console.error.isTerminal
    }

    mutating func show(_ done: UInt64, now: UInt64) {
        guard isShown else { return }
        guard let began else {
            self.began = now
            return last = now
        }
        guard now > last, now - last >= ImportProgress.step else { return }
        last = now
        hasShown = true
        let line = ImportProgress.line(label, done, of: total, after: now - began)
        Console.error.writeAsIs("\r\u{1B}[K" + line)
    }

    mutating func clear() {
        if hasShown { Console.error.writeAsIs("\r\u{1B}[K") }
        hasShown = false
    }

    /// `chat.pcapng: 120 of 480 MiB, 60 MiB/s, 6s left`
    static func line(_ label: String, _ done: UInt64, of total: UInt64, after time: UInt64) -> String {
        let seconds = max(Double(time) / 1e9, 1e-3)
        let rate = Double(done) / seconds
        var text = "\(label): \(done >> 20)"
        if total > 0 { text += " of \(total >> 20)" }
        text += " MiB, \(Int(rate / 1_048_576)) MiB/s"
        if total > done, rate > 0 {
            let left = Double(total - done) / rate
            text += ", \(Int(min(left, 1e6)) + 1)s left"
        }
        return text
    }
}
