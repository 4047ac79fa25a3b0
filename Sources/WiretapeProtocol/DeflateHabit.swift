/// Which of its messages a recorded server compressed, where the tape does not say it of the message itself: keepalives, what
/// rules add, very long messages.
package struct DeflateHabit: Hashable, Sendable {
    /// Bytes of the shortest message that it compressed; nil: none.
    private var least: Int?

    package init() {}

    /// A message of the server that was compressed.
    mutating func compressed(_ count: Int) { least = min(least ?? count, count) }

    /// Whether it would compress a message of so many bytes.
    package func compresses(_ count: Int) -> Bool { least.map { count >= $0 } ?? false }
}
