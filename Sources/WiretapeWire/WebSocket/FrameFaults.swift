/// What is wrong with a frame where it stands (RFC 6455 section 5, RFC 7692 section 6): all of it, so that each reader may
/// name first what it finds worst.
package struct FrameFaults: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// RSV2 or RSV3, which no extension here gives a meaning.
    package static let reservedBit = FrameFaults(rawValue: 1 << 0)
    /// RSV1 where nothing can be compressed: without permessage-deflate, in a continuation, in a control frame.
    package static let compressedBit = FrameFaults(rawValue: 1 << 1)
    /// A client's frame without a mask, or a server's frame with one.
    package static let mask = FrameFaults(rawValue: 1 << 2)
    /// The length would fit into fewer bytes.
    package static let spelledLong = FrameFaults(rawValue: 1 << 3)
    /// A length of 2^63 or more.
    package static let endless = FrameFaults(rawValue: 1 << 4)
    package static let reservedOpcode = FrameFaults(rawValue: 1 << 5)
    package static let fragmentedControl = FrameFaults(rawValue: 1 << 6)
    /// A control frame of more than 125 bytes.
    package static let longControl = FrameFaults(rawValue: 1 << 7)
    /// A continuation where no message has begun.
    package static let continuesNothing = FrameFaults(rawValue: 1 << 8)
    /// A message begins before the one before it has ended.
    package static let withinMessage = FrameFaults(rawValue: 1 << 9)
    /// The message would have more bytes than its reader takes.
    package static let tooManyBytes = FrameFaults(rawValue: 1 << 10)
    /// The message would have more frames than its reader takes.
    package static let tooManyFrames = FrameFaults(rawValue: 1 << 11)

    /// What relays and recorders let pass: peers get on with it.
    package static let harmless: FrameFaults = [.mask, .spelledLong]
}
