/// What ``FrameReassembler/next(_:from:)`` found. `next` is where the following call starts.
package enum ReassemblyStep: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    /// The head of a frame of a message. `isFirst`: the message begins with it, and one that had not ended is given up.
    case frame(isFirst: Bool, next: Int)
    /// Payload of that frame, still masked; `frameOffset` is that of its first byte within the frame. Empty only for a frame
    /// without payload.
    case data(Range<Int>, frameOffset: UInt64, ends: PayloadEnd, next: Int)
    /// A whole control frame (8, 9 or 10), unmasked.
    case control([UInt8], next: Int)
    /// The head of a frame that may not stand there. It changes nothing about the message around it.
    case refused(FrameFaults, next: Int)
    /// Payload of a frame that was refused, or whose message is given up.
    case refusedData(Range<Int>, frameOffset: UInt64, next: Int)
}

/// What ends with a piece of payload.
package enum PayloadEnd: Hashable, Sendable {
    case nothing, frame, message
}
