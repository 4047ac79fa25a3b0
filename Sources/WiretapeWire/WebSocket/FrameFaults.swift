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

    /// What is wrong with a frame of this direction, its message's size aside.
    /// - Parameter isInMessage: whether a message before it has not ended; nil when that is not known, as behind a gap.
    package init(of header: FrameHeader, _ direction: Direction, isDeflating: Bool, isInMessage: Bool?) {
        self = []
        if header.rsv2 || header.rsv3 { insert(.reservedBit) }
        if header.isMasked != (direction == .toServer) { insert(.mask) }
        if !header.isShort { insert(.spelledLong) }
        if header.length >= 1 << 63 { insert(.endless) }
        if header.isControl {
            if header.opcode > 10 { insert(.reservedOpcode) }
            if !header.fin { insert(.fragmentedControl) }
            if header.length > 125 { insert(.longControl) }
            if header.rsv1 { insert(.compressedBit) }
            return
        }
        if header.opcode > 2 {
            insert(.reservedOpcode)
        } else if header.opcode == 0, isInMessage == false {
            insert(.continuesNothing)
        } else if header.opcode != 0, isInMessage == true {
            insert(.withinMessage)
        }
        if header.rsv1, header.opcode == 0 || !isDeflating { insert(.compressedBit) }
    }

    /// What relays and recorders let pass: peers get on with it.
    package static let harmless: FrameFaults = [.mask, .spelledLong]
}
