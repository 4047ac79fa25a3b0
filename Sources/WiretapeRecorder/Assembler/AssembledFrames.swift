internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// One direction of a WebSocket connection on its way to the tape: unmasks and inflates the messages that `FrameReassembler`
/// finds. It judges nothing: what fits no message is written as a `frame` line.
final class AssembledFrames {
    private let connection: UInt32
    private let direction: Direction
    private let isDeflating: Bool
    /// Whether a message may refer to those before it.
    private let keepsWindow: Bool
    private let scratch: Scratch
    private let held: InterceptedPieces
    /// What `held` has been told of.
    private var counted = 0
    private let inflateLimit: Int
    private var reassembler: FrameReassembler
    private var message: Message?
    /// What is wrong with the frame whose payload belongs to no message.
    private var strayReason = ""
    private let parameters: DeflateParameters
    private var inflater: MessageInflater
    /// Why deflated messages are not inflated any more.
    private var broken: String?

    /// A buffer that all connections use in turn: an idle one holds none.
    final class Scratch {
        var bytes: [UInt8] = []
    }

    private var boundaries = Boundaries.known

    /// Whether it is known where frames begin.
    private enum Boundaries {
        case known
        /// Bytes are missing. Of the reads behind them two in a row must be whole frames before frames are read again.
        case lost
        /// The first of those two has come.
        case perhaps(Resync)
    }

    private struct Message {
        var opcode: Opcode
        var isDeflated: Bool
        var buffer: [UInt8] = []
        /// Payload bytes of each frame, as far as the tape lists them.
        var fragments: [Int32] = []
        /// There are more of them than the tape lists.
        var hasTooManyFragments = false
        var parts = 0
        var packed = 0
        var inflated = 0
    }

    init(
        _ connection: UInt32, _ direction: Direction, deflate: DeflateParameters?, scratch: Scratch,
        held: InterceptedPieces,
        limit: Int
    ) {
        inflateLimit = limit
        self.held = held
        self.scratch = scratch
        self.connection = connection
        self.direction = direction
        let agreed = deflate ?? DeflateParameters()
        isDeflating = deflate != nil
        keepsWindow = deflate != nil && !agreed.resetsContext(direction)
        parameters = agreed
        inflater = MessageInflater(direction, agreed)
        // A message that begins within another one is taken for the end of that one.
        reassembler = FrameReassembler(
            direction, isDeflating: deflate != nil, tolerated: FrameFaults.harmless.union(.withinMessage))
    }

    deinit { held.change(by: -counted) }

    /// … or of a smaller one, while all connections together hold too much.
    private var partSize: Int { held.isTooMuch ? InterceptedPieces.smallPart : TapeLines.partSize }

    private func account() {
        let now = message.map { $0.buffer.capacity + 4 * $0.fragments.capacity } ?? 0
        guard now != counted else { return }
        held.change(by: now - counted)
        counted = now
    }

    func feed(_ bytes: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) {
        defer { account() }
        guard knowsBoundaries(bytes, at: time, &packer) else { return }
        var at = 0
        while true {
            switch reassembler.next(bytes, from: at) {
            case .more: return
            case .frame(let isFirst, let next):
                at = next
                if isFirst { begin(at: time, &packer) }
            case .data(let range, let offset, let ends, let next):
                at = next
                data(bytes.extracting(range), offset, ends, at: time, &packer)
            case .control(let payload, let next):
                at = next
                write(control: payload, at: time, &packer)
            case .refused(let faults, let next):
                at = next
                strayReason = reason(faults)
            case .refusedData(let range, let offset, let next):
                at = next
                writeStray(bytes.extracting(range), offset, at: time, &packer)
            }
        }
    }

    /// Bytes of this direction were not recorded: frames are looked for anew, and a window of earlier messages is gone.
    func lose(at time: UInt64, _ packer: inout MemberPacker) {
        forget(at: time, &packer)
        reassembler.restart()
        boundaries = .lost
    }

    /// So many bytes of this direction were not captured. Where all of them are one frame's, the next one begins where it should.
    func miss(_ count: UInt64?, at time: UInt64, _ packer: inout MemberPacker) {
        forget(at: time, &packer)
        if case .known = boundaries, let count, reassembler.skip(count) {
            strayReason = "bytes of it are missing"
            return
        }
        reassembler.restart()
        boundaries = .lost
    }

    private func forget(at time: UInt64, _ packer: inout MemberPacker) {
        cut(at: time, &packer)
        if keepsWindow { stopInflating("cannot be inflated: messages before it were lost") }
    }

    private func stopInflating(_ why: String) {
        broken = why
        inflater = MessageInflater(direction, parameters)
    }

    /// Whether a read may be taken for frames. One that cannot be is written as it is, and so is the first one behind a gap that
    /// looks like frames: its first bytes may be the end of a frame that began in the gap. Where it ends, a frame ends.
    private func knowsBoundaries(_ bytes: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) -> Bool {
        if case .known = boundaries { return true }
        guard !bytes.isEmpty else { return false }
        if case .perhaps(var resync) = boundaries, resync.takes(bytes, direction, isDeflated: isDeflating) {
            boundaries = .known
            return true
        }
        var resync = Resync()
        boundaries = resync.takes(bytes, direction, isDeflated: isDeflating) ? .perhaps(resync) : .lost
        RawLines.frame(time, connection, direction, head: 0, bytes, why: "after a gap", &packer)
        return false
    }

    /// The connection ended: a message that is not whole is written as far as it came.
    func cut(at time: UInt64, _ packer: inout MemberPacker) {
        guard let message else { return }
        self.message = nil
        account()
        guard !message.buffer.isEmpty || message.parts > 0 else { return }
        packer.part(time, connection, direction, message.opcode, n: message.parts, message.buffer.span, last: false)
    }

    /// A message begins.
    private func begin(at time: UInt64, _ packer: inout MemberPacker) {
        cut(at: time, &packer)
        if reassembler.isDeflated, let broken {
            strayReason = broken
            return reassembler.giveUpMessage()
        }
        message = Message(opcode: reassembler.opcode, isDeflated: reassembler.isDeflated)
        if reassembler.isDeflated { inflater.begin() }
    }

    /// What the tape says of a frame that fits nowhere.
    private func reason(_ faults: FrameFaults) -> String {
        let head = reassembler.header
        if faults.contains(.endless) { return "length of 2^63 or more" }
        if head.isControl { return "control frame that RFC 6455 does not allow" }
        if faults.contains(.continuesNothing) { return "continuation of nothing" }
        if head.opcode == 0 { return "reserved bit in a continuation" }
        return faults.contains(.reservedOpcode) ? "unknown opcode \(head.opcode)" : "reserved bit"
    }

    private func writeStray(_ bytes: Span<UInt8>, _ offset: UInt64, at time: UInt64, _ packer: inout MemberPacker) {
        let head = reassembler.header
        var plain: [UInt8] = []
        FrameMask.append(bytes, head.key, offset: offset, into: &plain)
        RawLines.frame(time, connection, direction, head: head.first, plain.span, why: strayReason, &packer)
    }

    private func write(control: [UInt8], at time: UInt64, _ packer: inout MemberPacker) {
        let opcode = reassembler.header.opcode
        guard opcode == 8 else {
            return packer.ping(time, connection, direction, control.span, isPong: opcode == 10)
        }
        let code = control.count >= 2 ? UInt16(control[0]) << 8 | UInt16(control[1]) : nil
        let reason = control.count > 2 ? String(decoding: control[2...], as: UTF8.self) : nil
        packer.append(TapeEvent(time: time, connection: connection, .close(direction, code: code, reason: reason)))
    }

    // MARK: Data

    private func data(
        _ bytes: Span<UInt8>, _ offset: UInt64, _ ends: PayloadEnd, at time: UInt64, _ packer: inout MemberPacker
    ) {
        guard var message else { return }
        let head = reassembler.header
        let isWhole = ends == .message
        self.message = nil
        // The usual case: one frame that came at once. It goes to its line without a stop.
        if isWhole, offset == 0, head.opcode != 0, !message.isDeflated, bytes.count <= TapeLines.partSize {
            return write(whole: bytes, message.opcode, at: time, &packer)
        }
        if ends == .frame || isWhole && head.opcode == 0 {
            note(fragment: head.length, of: &message, at: time, &packer)
        }
        var fault: String?
        if message.isDeflated {
            var packed: [UInt8] = []
            FrameMask.append(bytes, head.key, offset: offset, into: &packed)
            if isWhole { packed += MessageInflater.tail }
            fault = inflate(packed.span, &message, at: time, &packer)
        } else {
            FrameMask.append(bytes, head.key, offset: offset, into: &message.buffer)
            writeParts(&message, at: time, &packer)
        }
        if let fault {
            stopInflating(fault)
            self.message = message
            cut(at: time, &packer)
            RawLines.frame(time, connection, direction, head: head.first, bytes, why: fault, &packer)
            strayReason = fault
            reassembler.giveUpMessage()
        } else if isWhole {
            end(message, at: time, &packer)
        } else {
            self.message = message
        }
    }

    /// A message that is written in parts lists no frames. Nor does one that has more of them than any endpoint takes: the
    /// tape says so by a line of its own, before the message.
    private func note(fragment length: UInt64, of message: inout Message, at time: UInt64, _ packer: inout MemberPacker)
    {
        guard message.parts == 0, !message.hasTooManyFragments else { return message.fragments = [] }
        guard message.fragments.count == MessageAssembler.mostFragments else {
            return message.fragments.append(Int32(clamping: length))
        }
        message.hasTooManyFragments = true
        message.fragments = []
        let why = "a message of more than \(MessageAssembler.mostFragments) frames, which are not listed"
        RawLines.frame(time, connection, direction, head: reassembler.header.first, Span(), why: why, &packer)
    }

    private func write(whole bytes: Span<UInt8>, _ opcode: Opcode, at time: UInt64, _ packer: inout MemberPacker) {
        let key = reassembler.header.key
        if key == 0 {
            packer.message(time, connection, direction, opcode, bytes)
        } else {
            scratch.bytes.removeAll(keepingCapacity: true)
            FrameMask.append(bytes, key, into: &scratch.bytes)
            let plain = scratch.bytes
            packer.message(time, connection, direction, opcode, plain.span)
        }
    }

    private func end(_ message: Message, at time: UInt64, _ packer: inout MemberPacker) {
        if message.parts > 0 {
            packer.part(time, connection, direction, message.opcode, n: message.parts, message.buffer.span, last: true)
        } else {
            packer.message(
                time, connection, direction, message.opcode, message.buffer.span, deflated: message.isDeflated,
                fragments: message.fragments.map(Int.init))
        }
    }

    /// Writes what is more than a part may hold.
    private func writeParts(_ message: inout Message, at time: UInt64, _ packer: inout MemberPacker) {
        let size = partSize
        guard message.buffer.count > size else { return }
        var at = 0
        while message.buffer.count - at > size {
            // What has gathered before there was too much goes in large parts.
            let next = min(message.buffer.count - 1, at + TapeLines.partSize)
            packer.part(
                time, connection, direction, message.opcode, n: message.parts,
                message.buffer.span.extracting(at..<next), last: false)
            message.parts += 1
            at = next
        }
        // Anew: the array would keep the room of what has been written.
        message.buffer = Array(message.buffer[at...])
        message.fragments = []
    }

    /// Returns why the rest cannot be inflated.
    private func inflate(
        _ packed: Span<UInt8>, _ message: inout Message, at time: UInt64, _ packer: inout MemberPacker
    ) -> String? {
        message.packed += packed.count
        var used = 0
        while true {
            let before = message.buffer.count
            let outcome = inflater.feed(packed, used: &used, limit: before + 65535, into: &message.buffer)
            message.inflated += message.buffer.count - before
            writeParts(&message, at: time, &packer)
            switch outcome {
            case .done: return nil
            case .tooMuch:
                if message.inflated > inflateLimit, message.inflated / TapeAssembler.bombRatio > message.packed {
                    return "more than \(inflateLimit >> 20) MiB come out of one message of \(message.packed) bytes"
                }
            case .bad(let fault): return "cannot be inflated: \(fault)"
            }
        }
    }
}
