internal import WiretapeBytes

/// Puts the frames of one direction of a WebSocket connection where they belong: a message's first, its continuations, control
/// frames between them, and frames that may not stand there. Endpoints (``MessageAssembler``), relays with rules
/// (`InterceptedFrames`) and the recorder (`AssembledFrames`) read through it. Payloads of messages are only pointed at, and
/// nothing is allocated for them: each reader keeps what it needs.
///
/// States: between messages ↔ in a message; within either a control frame or a refused one may come. None is terminal: a reader
/// that ends at a refused frame asks no more. Holds at most one control frame of 125 bytes.
package struct FrameReassembler: ~Copyable {
    private let direction: Direction
    private let isDeflating: Bool
    private let tolerated: FrameFaults
    private let mostBytes: UInt64
    private let mostFrames: Int

    private var scanner = FrameScanner()
    private var place = Place.message
    private var isInMessage = false
    /// Of the message so far: the bytes that its frames have announced, and how many frames there are.
    private var bytes: UInt64 = 0
    private var frames = 0
    private var control: [UInt8] = []

    /// Of the latest frame.
    private(set) package var header = FrameHeader(first: 0, second: 0, length: 0, key: 0)
    /// Of the latest message, also when it has ended.
    private(set) package var opcode = Opcode.binary
    private(set) package var isDeflated = false

    /// Where the frame stands whose payload comes.
    private enum Place { case message, control, refused }

    /// - Parameters:
    ///   - direction: `.toServer` reads a client's frames, which must be masked; `.toClient` a server's, which must not be.
    ///   - isDeflating: whether messages may be compressed.
    ///   - tolerated: faults for which no frame is refused.
    ///   - mostBytes: of a message, as its frames carry them. A frame that goes over it is refused.
    ///   - mostFrames: of a message. One more is refused.
    package init(
        _ direction: Direction, isDeflating: Bool, tolerated: FrameFaults = [], mostBytes: Int = .max,
        mostFrames: Int = .max
    ) {
        self.direction = direction
        self.isDeflating = isDeflating
        self.tolerated = tolerated
        self.mostBytes = UInt64(max(0, mostBytes))
        self.mostFrames = mostFrames
    }

    /// Whether a frame has begun and not ended.
    package var isInFrame: Bool { scanner.isInFrame }

    /// Bytes of a control frame that is not whole.
    package var heldCount: Int { control.count }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func next(_ bytes: Span<UInt8>, from: Int) -> ReassemblyStep {
        var at = from
        while true {
            switch scanner.scan(bytes, from: at) {
            case .more: return .more
            case .header(let header, let next):
                self.header = header
                let faults = faults(of: header).subtracting(tolerated)
                if !faults.isEmpty {
                    place = .refused
                    return .refused(faults, next: next)
                }
                if !header.isControl { return .frame(isFirst: begin(header), next: next) }
                place = .control
                at = next
            case .payload(let range, let offset, let last, let next):
                switch place {
                case .refused: return .refusedData(range, frameOffset: offset, next: next)
                case .message:
                    let ends = !last ? PayloadEnd.nothing : header.fin ? .message : .frame
                    if ends == .message { isInMessage = false }
                    return .data(range, frameOffset: offset, ends: ends, next: next)
                case .control:
                    FrameMask.append(bytes.extracting(range), header.key, offset: offset, into: &control)
                    guard last else {
                        at = next
                        continue
                    }
                    place = .refused
                    let whole = control
                    control = []
                    return .control(whole, next: next)
                }
            }
        }
    }

    /// Takes the first frame of a message or a continuation into account; true when it is the first.
    private mutating func begin(_ header: FrameHeader) -> Bool {
        let isFirst = header.opcode != 0
        if isFirst {
            isInMessage = true
            opcode = header.opcode == 1 ? .text : .binary
            isDeflated = header.rsv1
            bytes = 0
            frames = 0
        }
        place = .message
        bytes = bytes.addingReportingOverflow(header.length).partialValue
        frames += 1
        return isFirst
    }

    private func faults(of header: FrameHeader) -> FrameFaults {
        var faults = FrameFaults(of: header, direction, isDeflating: isDeflating, isInMessage: isInMessage)
        if header.isControl { return faults }
        let (before, count) = header.opcode == 0 ? (bytes, frames) : (0, 0)
        if header.length > mostBytes || before > mostBytes - header.length { faults.insert(.tooManyBytes) }
        if count >= mostFrames { faults.insert(.tooManyFrames) }
        return faults
    }

    /// Nobody wants the rest of the message, nor of the frame that comes: a continuation continues nothing.
    package mutating func giveUpMessage() {
        isInMessage = false
        place = .refused
    }

    /// Passes over so many bytes of the stream that nobody has, and gives the message up. Returns false when they are not all of
    /// the payload of one frame: then where the next frame begins is not known.
    package mutating func skip(_ count: UInt64) -> Bool {
        giveUpMessage()
        control = []
        return scanner.skip(count)
    }

    /// What follows begins with a frame and has nothing to do with what was before.
    package mutating func restart() {
        giveUpMessage()
        control = []
        scanner = FrameScanner()
    }

    /// What has come of a control frame or of the head of a frame that is not whole, as it came.
    package var unfinished: [UInt8] {
        guard scanner.isInFrame, place == .control else { return scanner.partialHeader }
        var out: [UInt8] = []
        header.append(to: &out)
        FrameMask.append(control.span, header.key, into: &out)
        return out
    }
}

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
