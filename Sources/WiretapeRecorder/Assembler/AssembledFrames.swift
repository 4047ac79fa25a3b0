internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// One direction of a WebSocket connection on its way to the tape: cuts frames, unmasks, joins, inflates. It judges
/// nothing: what fits no message is written as a `frame` line.
final class AssembledFrames {
    private let connection: UInt32
    private let direction: Direction
    private let deflate: DeflateParameters?
    private let scratch: Scratch
    private let held: InterceptedPieces
    /// What `held` has been told of.
    private var counted = 0
    private let inflateLimit: Int
    private var scanner = FrameScanner()
    private var head = FrameHeader(first: 0, second: 0, length: 0, key: 0)
    private var role = Role.idle
    private var message: Message?
    private var control: [UInt8] = []
    private var inflater: Inflater?
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

    private enum Role: Equatable {
        case idle, data, control
        /// Fits nowhere: why.
        case stray(String)
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
        self.deflate = deflate
    }

    deinit { held.change(by: -counted) }

    /// … or of a smaller one, while all connections together hold too much.
    private var partSize: Int { held.isTooMuch ? InterceptedPieces.smallPart : TapeLines.partSize }

    private func account() {
        let now = message.map { $0.buffer.count + 4 * $0.fragments.count } ?? 0
        guard now != counted else { return }
        held.change(by: now - counted)
        counted = now
    }

    func feed(_ bytes: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) {
        defer { account() }
        guard knowsBoundaries(bytes, at: time, &packer) else { return }
        var at = 0
        while true {
            switch scanner.scan(bytes, from: at) {
            case .more: return
            case .header(let header, let next):
                head = header
                begin(at: time, &packer)
                at = next
            case .payload(let range, let offset, let last, let next):
                at = next
                payload(bytes.extracting(range), offset, last, at: time, &packer)
            }
        }
    }

    /// Bytes of this direction were not recorded: frames are looked for anew, and a window of earlier messages is gone.
    func lose(at time: UInt64, _ packer: inout MemberPacker) {
        forget(at: time, &packer)
        scanner = FrameScanner()
        role = .idle
        boundaries = .lost
    }

    /// So many bytes of this direction were not captured. Where all of them are one frame's, the next one begins where it should.
    func miss(_ count: UInt64?, at time: UInt64, _ packer: inout MemberPacker) {
        forget(at: time, &packer)
        if case .known = boundaries, let count, scanner.skip(count) { return role = .stray("bytes of it are missing") }
        scanner = FrameScanner()
        role = .idle
        boundaries = .lost
    }

    private func forget(at time: UInt64, _ packer: inout MemberPacker) {
        cut(at: time, &packer)
        control = []
        guard let deflate, !deflate.resetsContext(direction) else { return }
        broken = "cannot be inflated: messages before it were lost"
        inflater = nil
    }

    /// Whether a read may be taken for frames. One that cannot be is written as it is, and so is the first one behind a gap that
    /// looks like frames: its first bytes may be the end of a frame that began in the gap. Where it ends, a frame ends.
    private func knowsBoundaries(_ bytes: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) -> Bool {
        if case .known = boundaries { return true }
        guard !bytes.isEmpty else { return false }
        if case .perhaps(var resync) = boundaries, resync.takes(bytes, direction, isDeflated: deflate != nil) {
            boundaries = .known
            return true
        }
        var resync = Resync()
        boundaries = resync.takes(bytes, direction, isDeflated: deflate != nil) ? .perhaps(resync) : .lost
        RawLines.frame(time, connection, direction, head: 0, bytes, why: "after a gap", &packer)
        return false
    }

    /// The connection ended: a message that is not whole is written as far as it came.
    func cut(at time: UInt64, _ packer: inout MemberPacker) {
        guard let message else { return }
        self.message = nil
        account()
        if message.isDeflated, deflate?.resetsContext(direction) == true { inflater?.reset() }
        guard !message.buffer.isEmpty || message.parts > 0 else { return }
        packer.part(time, connection, direction, message.opcode, n: message.parts, message.buffer.span, last: false)
    }

    private func begin(at time: UInt64, _ packer: inout MemberPacker) {
        if head.isControl {
            role =
                head.opcode >= 8 && head.opcode <= 10 && head.first & 0x70 == 0 && head.fin && head.length <= 125
                ? .control : .stray("control frame that RFC 6455 does not allow")
        } else if head.opcode == 0 {
            role =
                message == nil
                ? .stray("continuation of nothing")
                : head.first & 0x70 == 0
                    ? .data : .stray("reserved bit in a continuation")
        } else if head.opcode > 2 {
            role = .stray("unknown opcode \(head.opcode)")
        } else if head.rsv2 || head.rsv3 || (head.rsv1 && deflate == nil) {
            role = .stray("reserved bit")
        } else if head.rsv1, let broken {
            role = .stray(broken)
        } else {
            cut(at: time, &packer)
            role = .data
            message = Message(opcode: head.opcode == 1 ? .text : .binary, isDeflated: head.rsv1)
        }
        if head.length >= 1 << 63 { role = .stray("length of 2^63 or more") }
    }

    private func payload(
        _ bytes: Span<UInt8>, _ offset: UInt64, _ last: Bool, at time: UInt64, _ packer: inout MemberPacker
    ) {
        switch role {
        case .idle: break
        case .data: data(bytes, offset, last, at: time, &packer)
        case .control:
            FrameMask.append(bytes, head.key, offset: offset, into: &control)
            if last { endControl(at: time, &packer) }
        case .stray(let why):
            var plain: [UInt8] = []
            FrameMask.append(bytes, head.key, offset: offset, into: &plain)
            RawLines.frame(time, connection, direction, head: head.first, plain.span, why: why, &packer)
        }
        if last { role = .idle }
    }

    private func endControl(at time: UInt64, _ packer: inout MemberPacker) {
        if head.opcode == 8 {
            let code = control.count >= 2 ? UInt16(control[0]) << 8 | UInt16(control[1]) : nil
            let reason = control.count > 2 ? String(decoding: control[2...], as: UTF8.self) : nil
            packer.append(TapeEvent(time: time, connection: connection, .close(direction, code: code, reason: reason)))
        } else {
            let payload = control
            packer.ping(time, connection, direction, payload.span, isPong: head.opcode == 10)
        }
        control = []
    }

    // MARK: Data

    private func data(
        _ bytes: Span<UInt8>, _ offset: UInt64, _ last: Bool, at time: UInt64, _ packer: inout MemberPacker
    ) {
        guard var message else { return }
        let isWhole = last && head.fin
        // The usual case: one frame that came at once. It goes to its line without a stop.
        if isWhole, offset == 0, head.opcode != 0, !message.isDeflated, bytes.count <= TapeLines.partSize {
            self.message = nil
            write(whole: bytes, message.opcode, at: time, &packer)
            return
        }
        self.message = nil
        if last, !head.fin || head.opcode == 0 { note(fragment: head.length, of: &message, at: time, &packer) }
        var fault: String?
        if message.isDeflated {
            var packed: [UInt8] = []
            FrameMask.append(bytes, head.key, offset: offset, into: &packed)
            if isWhole { packed += [0, 0, 0xff, 0xff] }
            fault = inflate(packed.span, &message, at: time, &packer)
        } else {
            FrameMask.append(bytes, head.key, offset: offset, into: &message.buffer)
            writeParts(&message, at: time, &packer)
        }
        if let fault {
            broken = fault
            inflater = nil
            self.message = message
            cut(at: time, &packer)
            RawLines.frame(time, connection, direction, head: head.first, bytes, why: fault, &packer)
            role = .stray(fault)
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
        RawLines.frame(time, connection, direction, head: head.first, Span(), why: why, &packer)
    }

    private func write(whole bytes: Span<UInt8>, _ opcode: Opcode, at time: UInt64, _ packer: inout MemberPacker) {
        if head.key == 0 {
            packer.message(time, connection, direction, opcode, bytes)
        } else {
            scratch.bytes.removeAll(keepingCapacity: true)
            FrameMask.append(bytes, head.key, into: &scratch.bytes)
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
        if message.isDeflated, deflate?.resetsContext(direction) == true { inflater?.reset() }
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
        message.buffer.removeFirst(at)
        message.fragments = []
    }

    /// Returns why the rest cannot be inflated.
    private func inflate(
        _ packed: Span<UInt8>, _ message: inout Message, at time: UInt64, _ packer: inout MemberPacker
    ) -> String? {
        if inflater == nil { inflater = Inflater(.raw(windowBits: deflate?.windowBits(direction) ?? 15)) }
        message.packed += packed.count
        var used = 0
        while true {
            let before = message.buffer.count
            let outcome = inflater!.feed(packed, used: &used, limit: 65536, into: &message.buffer)
            message.inflated += message.buffer.count - before
            writeParts(&message, at: time, &packer)
            switch outcome {
            case .more: return nil
            case .end where used == packed.count: return nil
            case .full, .end:
                if message.inflated > inflateLimit, message.inflated / TapeAssembler.bombRatio > message.packed {
                    return "more than \(inflateLimit >> 20) MiB come out of one message of \(message.packed) bytes"
                }
            case .bad(let fault): return "cannot be inflated: \(fault)"
            }
        }
    }
}
