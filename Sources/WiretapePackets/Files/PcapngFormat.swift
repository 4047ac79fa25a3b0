internal import WiretapeBytes

/// pcapng files: sections of blocks, each section in its own byte order, with as many interfaces as it likes.
struct PcapngFormat {
    private var isSwapped = false
    private var interfaces: [Interface] = []
    private var lastTime: UInt64 = 0

    private struct Interface {
        var link: UInt32
        /// 0: packets are whole.
        var snapLength: UInt32
        var clock = CaptureClock()
    }

    /// More interfaces in one section are no capture that anybody has made.
    private static let mostInterfaces = 65536

    private enum Block {
        static let section: UInt32 = 0x0a0d_0d0a
        static let interface: UInt32 = 1
        static let oldPacket: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let packet: UInt32 = 6
        static let secrets: UInt32 = 10
    }

    /// Nil when `bytes`, the file's first four or more, begin no pcapng file.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= 4, bytes.littleEndian(UInt32.self, at: 0) == Block.section else { return nil }
        guard bytes.count >= 12 else { return }
        let order = bytes.littleEndian(UInt32.self, at: 8)
        guard order == 0x1a2b_3c4d || order == 0x4d3c_2b1a else { return nil }
    }

    /// The block at the beginning of `bytes`, whose first byte is at `at` in the reader's.
    mutating func next(_ bytes: Span<UInt8>, at: Int) -> CaptureStep {
        guard bytes.count >= 12 else { return .more }
        let isSection = bytes.littleEndian(UInt32.self, at: 0) == Block.section
        if isSection {
            switch bytes.littleEndian(UInt32.self, at: 8) {
            case 0x1a2b_3c4d: isSwapped = false
            case 0x4d3c_2b1a: isSwapped = true
            default: return .bad("a section of the file has no byte order: the file is damaged here")
            }
            interfaces = []
        }
        let kind = bytes.integer(UInt32.self, at: 0, isSwapped: isSwapped)
        let size = Int(bytes.integer(UInt32.self, at: 4, isSwapped: isSwapped))
        guard size >= (isSection ? 28 : 12), size % 4 == 0 else {
            return .bad("a block of \(size) bytes, which cannot be: the file is damaged here")
        }
        switch kind {
        case Block.section, Block.interface, Block.oldPacket, Block.simplePacket, Block.packet, Block.secrets: break
        default: return .skip(UInt64(size))
        }
        guard size <= CaptureReader.mostBytes else {
            return .bad("a block of \(size) bytes: the file is damaged here")
        }
        guard bytes.count >= size else { return .more }
        guard bytes.integer(UInt32.self, at: size - 4, isSwapped: isSwapped) == UInt32(size) else {
            return .bad("a block has two different lengths: the file is damaged here")
        }
        if isSection { return .skip(UInt64(size)) }
        return read(kind, bytes.extracting(8..<size - 4), at: at + 8, size: size)
    }

    /// - Parameter body: between the two lengths; it begins at `at` in the reader's bytes.
    private mutating func read(_ kind: UInt32, _ body: Span<UInt8>, at: Int, size: Int) -> CaptureStep {
        switch kind {
        case Block.interface:
            guard body.count >= 8 else { return .bad("an interface's block is too short: the file is damaged here") }
            guard interfaces.count < Self.mostInterfaces else { return .bad("more than 65536 interfaces") }
            var interface = Interface(
                link: UInt32(body.integer(UInt16.self, at: 0, isSwapped: isSwapped)),
                snapLength: body.integer(UInt32.self, at: 4, isSwapped: isSwapped))
            interface.clock = clock(body.extracting(8...))
            interfaces.append(interface)
            return .skip(UInt64(size))
        case Block.packet, Block.oldPacket:
            guard body.count >= 20 else { return .bad("a packet's block is too short: the file is damaged here") }
            let number =
                kind == Block.packet
                ? Int(body.integer(UInt32.self, at: 0, isSwapped: isSwapped))
                : Int(body.integer(UInt16.self, at: 0, isSwapped: isSwapped))
            let ticks =
                UInt64(body.integer(UInt32.self, at: 4, isSwapped: isSwapped)) << 32
                | UInt64(body.integer(UInt32.self, at: 8, isSwapped: isSwapped))
            return packet(
                number, ticks, captured: body.integer(UInt32.self, at: 12, isSwapped: isSwapped),
                length: body.integer(UInt32.self, at: 16, isSwapped: isSwapped), body.count - 20, at: at + 20,
                size: size)
        case Block.simplePacket:
            guard body.count >= 4, let first = interfaces.first else {
                return .bad("a packet without an interface: the file is damaged here")
            }
            let length = body.integer(UInt32.self, at: 0, isSwapped: isSwapped)
            let captured = first.snapLength == 0 ? length : min(length, first.snapLength)
            return packet(0, nil, captured: captured, length: length, body.count - 4, at: at + 4, size: size)
        default:
            guard body.count >= 8, body.integer(UInt32.self, at: 0, isSwapped: isSwapped) == 0x544c_534b else {
                return .skip(UInt64(size))
            }
            let count = Int(body.integer(UInt32.self, at: 4, isSwapped: isSwapped))
            guard count <= body.count - 8 else {
                return .bad("secrets longer than their block: the file is damaged here")
            }
            return .item(.secrets(at + 8..<at + 8 + count), size: size)
        }
    }

    /// - Parameter room: bytes behind the block's fields, the padding and the options among them.
    private mutating func packet(
        _ number: Int, _ ticks: UInt64?, captured: UInt32, length: UInt32, _ room: Int, at: Int, size: Int
    ) -> CaptureStep {
        guard number < interfaces.count else {
            return .bad("a packet of interface \(number), which is not declared: the file is damaged here")
        }
        guard Int(captured) <= room else { return .bad("a packet longer than its block: the file is damaged here") }
        if let ticks { lastTime = interfaces[number].clock.nanoseconds(ticks) }
        let packet = CapturedPacket(
            link: interfaces[number].link, time: lastTime, range: at..<at + Int(captured),
            length: Int(max(length, captured)))
        return .item(.packet(packet), size: size)
    }

    /// What an interface's options say of its times.
    private func clock(_ options: Span<UInt8>) -> CaptureClock {
        var clock = CaptureClock()
        var at = 0
        while options.count - at >= 4 {
            let code = options.integer(UInt16.self, at: at, isSwapped: isSwapped)
            let count = Int(options.integer(UInt16.self, at: at + 2, isSwapped: isSwapped))
            at += 4
            guard code != 0, count <= options.count - at else { break }
            if code == 9, count >= 1 { clock.setResolution(options[at]) }
            if code == 14, count >= 8 {
                clock.offset = Int64(bitPattern: options.integer(UInt64.self, at: at, isSwapped: isSwapped))
            }
            at += (count + 3) & ~3
        }
        return clock
    }
}

/// How an interface of a pcapng file counts time (`if_tsresol`, `if_tsoffset`).
struct CaptureClock {
    /// Ticks a second; at most 2^63.
    private var ticks: UInt64 = 1_000_000
    /// Seconds that are added.
    var offset: Int64 = 0

    /// - Parameter code: the option's byte: a negative power of 10, or of 2 where its highest bit is set.
    mutating func setResolution(_ code: UInt8) {
        let power = UInt64(code & 0x7f)
        if code & 0x80 != 0 {
            ticks = power < 64 ? 1 << power : 1 << 63
        } else {
            ticks = (0..<min(power, 18)).reduce(1) { value, _ in value * 10 }
        }
    }

    /// A number of ticks as nanoseconds since 1970; times beyond what 64 bits hold become the nearest that they do.
    func nanoseconds(_ count: UInt64) -> UInt64 {
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: ticks)
        let (high, low) = rest.multipliedFullWidth(by: 1_000_000_000)
        let fraction = ticks.dividingFullWidth((high, low)).quotient
        let moved = Int128(seconds) + Int128(offset)
        return UInt64(clamping: moved * 1_000_000_000 + Int128(fraction))
    }
}
