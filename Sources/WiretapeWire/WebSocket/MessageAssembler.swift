internal import WiretapeBytes

/// Makes messages of one direction's frames, as an endpoint must read them (RFC 6455 sections 5 and 8.1, RFC 7692): what the
/// replay server and test clients do. (A proxy between two peers judges nothing and uses ``FrameScanner`` alone.)
///
/// States: between messages ↔ in a message (control frames may come between its frames); terminal after a close frame and
/// after a violation, where all further bytes are dropped. Holds at most one message of `limit` bytes, deflated and inflated,
/// the lengths of at most ``mostFragments`` frames, and one control frame.
package struct MessageAssembler: ~Copyable {
    private let direction: Direction
    private let limit: Int
    private let resetsInflater: Bool
    private var inflater: Inflater?
    private var scanner = FrameScanner()
    private var isOver = false

    private var header = FrameHeader(first: 0, second: 0, length: 0, key: 0)
    /// Payload of the message so far, unmasked.
    private var message: [UInt8] = []
    private var opcode: Opcode?
    private var isDeflated = false
    private var fragments: [Int] = []
    private var frames = 0
    private let listsFragments: Bool
    /// Most bytes that a message may have when that is less than the limit: what its owner has memory for.
    package var room = Int.max
    private var control: [UInt8] = []

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
        self.direction = direction
        self.listsFragments = listsFragments
        self.limit = limit
        resetsInflater = deflate?.resetsContext(direction) ?? false
        inflater = deflate.map { Inflater(.raw(windowBits: $0.windowBits(direction))) }
    }

    /// Bytes of what is not whole yet.
    package var heldCount: Int { message.count + control.count }

    /// Lets go of what is held. Nothing is read any more.
    package mutating func giveUp() { _ = violate(1009, "") }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func feed(_ bytes: Span<UInt8>, from: Int) -> Assembled {
        var at = from
        while !isOver {
            switch scanner.scan(bytes, from: at) {
            case .more: return .more
            case .header(let header, let next):
                at = next
                self.header = header
                if let (code, reason) = judge(header) { return violate(code, reason) }
            case .payload(let range, let offset, let last, let next):
                at = next
                let payload = bytes.extracting(range)
                if header.isControl {
                    FrameMask.append(payload, header.key, offset: offset, into: &control)
                    if last { return endControl(next) }
                } else {
                    FrameMask.append(payload, header.key, offset: offset, into: &message)
                    if last {
                        frames += 1
                        guard frames <= Self.mostFragments else {
                            return violate(1009, "message of more than \(Self.mostFragments) frames")
                        }
                        if listsFragments { fragments.append(Int(header.length)) }
                        if header.fin { return endMessage(next) }
                    }
                }
            }
        }
        return .more
    }

    /// What is wrong with a frame that begins here.
    private mutating func judge(_ header: FrameHeader) -> (UInt16, String)? {
        if header.rsv2 || header.rsv3 { return (1002, "reserved bit") }
        if header.isMasked != (direction == .toServer) {
            return (1002, direction == .toServer ? "frame without a mask" : "masked frame")
        }
        if FrameHeader.lengthBytes(header.second) == 2 && header.length < 126
            || FrameHeader.lengthBytes(header.second) == 8 && header.length <= 0xffff
        {
            return (1002, "length not in its shortest form")
        }
        if header.length >= 1 << 63 { return (1002, "length of 2^63 or more") }
        if header.isControl {
            if header.opcode > 10 { return (1002, "reserved opcode \(header.opcode)") }
            if !header.fin { return (1002, "fragmented control frame") }
            if header.length > 125 { return (1002, "control frame over 125 bytes") }
            if header.rsv1 { return (1002, "reserved bit") }
            return nil
        }
        switch (header.opcode, opcode) {
        case (0, nil): return (1002, "continuation of no message")
        case (0, _):
            if header.rsv1 { return (1002, "reserved bit") }
        case (1, nil), (2, nil):
            if header.rsv1 && inflater == nil { return (1002, "reserved bit") }
            opcode = header.opcode == 1 ? .text : .binary
            isDeflated = header.rsv1
        case (1, _), (2, _): return (1002, "new message within a fragmented one")
        default: return (1002, "reserved opcode \(header.opcode)")
        }
        if header.length > UInt64(limit) || message.count + Int(header.length) > limit {
            return (1009, "message over \(limit) bytes")
        }
        return nil
    }

    private mutating func endControl(_ next: Int) -> Assembled {
        let payload = control
        control = []
        switch header.opcode {
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
        let opcode = opcode ?? .binary
        var payload = message
        let parts = fragments.count > 1 ? fragments : []
        message = []
        fragments = []
        frames = 0
        self.opcode = nil
        if isDeflated {
            // RFC 7692 section 7.2.2: the tail that the sender cut off.
            payload.append(contentsOf: [0, 0, 0xff, 0xff])
            var inflated: [UInt8] = []
            if let (code, reason) = inflate(payload.span, into: &inflated) { return violate(code, reason) }
            payload = inflated
        }
        if opcode == .text, !isValidUTF8(payload.span) { return violate(1007, "text is not UTF-8") }
        return .message(opcode, payload, deflated: isDeflated, fragments: parts, next: next)
    }

    private mutating func inflate(_ payload: Span<UInt8>, into out: inout [UInt8]) -> (UInt16, String)? {
        if resetsInflater { inflater?.reset() }
        var used = 0
        let limit = min(limit, max(0, room))
        let tooLong: (UInt16, String) = (1009, "message over \(limit) bytes")
        while true {
            // One byte more than allowed tells that there is too much.
            switch inflater?.feed(payload, used: &used, limit: limit - out.count + 1, into: &out) {
            case .more: return out.count > limit ? tooLong : nil
            case .full: return tooLong
            case .end:
                // A final block: the next one may follow within the message.
                if out.count > limit { return tooLong }
                if used == payload.count { return nil }
            case .bad, nil: return (1007, "deflated message is corrupt")
            }
        }
    }

    private mutating func violate(_ code: UInt16, _ reason: String) -> Assembled {
        isOver = true
        message = []
        fragments = []
        control = []
        return .violation(code: code, reason: reason)
    }
}
