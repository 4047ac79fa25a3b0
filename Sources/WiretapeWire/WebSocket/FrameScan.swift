/// What ``FrameScanner/scan(_:from:)`` found. `next` is where the following call starts.
package enum FrameScan: Hashable, Sendable {
    /// All bytes are looked at; more are needed.
    case more
    /// The head of a frame. At least one `payload` follows.
    case header(FrameHeader, next: Int)
    /// Bytes of the frame's payload, still masked; `frameOffset` is that of the first within the payload. Empty only for a
    /// frame without payload. `last` comes once for each frame.
    case payload(Range<Int>, frameOffset: UInt64, last: Bool, next: Int)
}
