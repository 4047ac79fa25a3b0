internal import WiretapeBytes

/// Makes messages of one direction's frames, as an endpoint must read them (RFC 6455 sections 5 and 8.1, RFC 7692): what the
/// replay server and test clients do. It judges what ``FrameReassembler`` finds and keeps whole messages. (A proxy between two
/// peers judges nothing and uses ``FrameScanner`` alone.)
///
/// States: between messages ↔ in a message (control frames may come between its frames); terminal after a close frame and
/// after a violation, where all further bytes are dropped. Holds at most one message of `limit` bytes, deflated and inflated,
/// the lengths of at most ``mostFragments`` frames, and one control frame.
package struct MessageAssembler: ~Copyable {
    private let limit: Int
    private var reassembler: FrameReassembler
    private var inflater: MessageInflater?
    private var isOver = false

    /// Payload of the message so far, unmasked.
    private var message: [UInt8] = []
    private var fragments: [Int] = []
    private let listsFragments: Bool
    /// Most bytes that a message may have when that is less than the limit: what its owner has memory for.
    package var room = Int.max

    /// Frames of one message. More are a violation: an empty frame costs its sender six bytes, and us a place in a list.
    package static let mostFragments = 131_072

    /// - Parameters:
    ///   - direction: `.toServer` reads a client's frames, which must be masked; `.toClient` a server's, which must not be.
    ///   - limit: most bytes of a message, deflated as well as inflated.
    ///   - deflate: what was agreed on, when it was.
    ///   - listsFragments: whether messages tell how long their frames were.
    package init(
        _ direction: Direction, limit: Int = 64 << 20, deflate: DeflateParameters? = nil, listsFragments: Bool = true
    ) {
        self.listsFragments = listsFragments
        self.limit = limit
        reassembler = FrameReassembler(
            direction, isDeflating: deflate != nil, mostBytes: limit, mostFrames: Self.mostFragments)
        inflater = deflate.map { MessageInflater(direction, $0) }
    }

    /// Whether a frame has begun and not ended.
    package var isInFrame: Bool { reassembler.isInFrame }

    /// Bytes of what is not whole yet.
    package var heldCount: Int { message.count + reassembler.heldCount }

    /// Lets go of what is held. Nothing is read any more.
    package mutating func giveUp() { _ = violate(1009, "") }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func feed(_ bytes: Span<UInt8>, from: Int) -> Assembled {
        var at = from
        while !isOver {
            switch reassembler.next(bytes, from: at) {
            case .more: return .more
            case .frame(_, let next), .refusedData(_, _, let next): at = next
            case .data(let range, let offset, let ends, let next):
                at = next
                FrameMask.append(
                    bytes.extracting(range), reassembler.header.key, offset: offset, into: &message)
                if listsFragments, ends != .nothing { fragments.append(Int(reassembler.header.length)) }
                if ends == .message { return endMessage(next) }
            case .control(let payload, let next): return endControl(payload, next)
            case .refused(let faults, _): return refuse(faults)
            }
        }
        return .more
    }

    /// Says the first thing that is wrong with a frame.
    private mutating func refuse(_ faults: FrameFaults) -> Assembled {
        let header = reassembler.header
        let named: [(FrameFaults, String)] = [
            (.reservedBit, "reserved bit"),
            (.mask, header.isMasked ? "masked frame" : "frame without a mask"),
            (.spelledLong, "length not in its shortest form"),
            (.endless, "length of 2^63 or more"),
            (.reservedOpcode, "reserved opcode \(header.opcode)"),
            (.fragmentedControl, "fragmented control frame"),
            (.longControl, "control frame over 125 bytes"),
            (.continuesNothing, "continuation of no message"),
            (.withinMessage, "new message within a fragmented one"),
            (.compressedBit, "reserved bit"),
        ]
        if let (_, reason) = named.first(where: { faults.contains($0.0) }) { return violate(1002, reason) }
        return violate(
            1009,
            faults.contains(.tooManyBytes)
                ? "message over \(limit) bytes" : "message of more than \(Self.mostFragments) frames")
    }

    private mutating func endControl(_ payload: [UInt8], _ next: Int) -> Assembled {
        switch reassembler.header.opcode {
        case 9: return .ping(payload, next: next)
        case 10: return .pong(payload, next: next)
        default:
            switch CloseFrame(payload.span) {
            case .empty:
                isOver = true
                return .close(code: nil, reason: "", next: next)
            case .told(let code, let reason):
                isOver = true
                return .close(code: code, reason: reason, next: next)
            case .invalid(let answer, let why): return violate(answer, why)
            }
        }
    }

    private mutating func endMessage(_ next: Int) -> Assembled {
        let opcode = reassembler.opcode
        var payload = message
        let parts = fragments.count > 1 ? fragments : []
        message = []
        fragments = []
        if reassembler.isDeflated {
            payload.append(contentsOf: MessageInflater.tail)
            var inflated: [UInt8] = []
            if let (code, reason) = inflate(payload.span, into: &inflated) { return violate(code, reason) }
            payload = inflated
        }
        if opcode == .text, !isValidUTF8(payload.span) { return violate(1007, "text is not UTF-8") }
        return .message(opcode, payload, deflated: reassembler.isDeflated, fragments: parts, next: next)
    }

    private mutating func inflate(_ payload: Span<UInt8>, into out: inout [UInt8]) -> (UInt16, String)? {
        let limit = min(limit, max(0, room))
        var used = 0
        inflater?.begin()
        return switch inflater?.feed(payload, used: &used, limit: limit, into: &out) {
        case .done: nil
        case .tooMuch: (1009, "message over \(limit) bytes")
        case .bad, nil: (1007, "deflated message is corrupt")
        }
    }

    private mutating func violate(_ code: UInt16, _ reason: String) -> Assembled {
        isOver = true
        message = []
        fragments = []
        reassembler.restart()
        return .violation(code: code, reason: reason)
    }
}

/// What ``MessageAssembler/feed(_:from:)`` found. `next` is where the following call starts.
package enum Assembled: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    /// A whole message, unmasked and inflated. `fragments`: bytes of payload of each frame when there were several.
    case message(Opcode, [UInt8], deflated: Bool, fragments: [Int], next: Int)
    case ping([UInt8], next: Int)
    case pong([UInt8], next: Int)
    /// The closing handshake began or was answered; nothing behind it is looked at.
    case close(code: UInt16?, reason: String, next: Int)
    /// The peer broke RFC 6455 or a limit: the code to close with (1002, 1007, 1009) and a short text. Nothing behind it is
    /// looked at.
    case violation(code: UInt16, reason: String)
}
