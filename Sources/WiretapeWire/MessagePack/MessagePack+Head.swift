extension MessagePack {
    /// What a value begins with: all of it, where its bytes are, or how many values follow. No count is larger than the
    /// bytes that are left, and no range reaches beyond them.
    package enum Head {
        case scalar(JSONValue)
        case text(Range<Int>)
        case bytes(Range<Int>)
        case typed(Int8, Range<Int>)
        case array(Int)
        case map(Int)

        /// Reads the head at `at` and moves `at` behind it, and behind the bytes of a text, binary or typed value.
        package init(_ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) {
            let mark = UInt8(try MessagePack.unsigned(b, &at, 1))
            switch mark {
            case 0x00...0x7f: self = .scalar(.number(mark))
            case 0x80...0x8f: self = .map(try MessagePack.count(Int(mark & 15), each: 2, b, at))
            case 0x90...0x9f: self = .array(try MessagePack.count(Int(mark & 15), each: 1, b, at))
            case 0xa0...0xbf: self = .text(try MessagePack.range(Int(mark & 31), b, &at))
            case 0xc0: self = .scalar(.null)
            case 0xc1: throw MessagePackError(reason: "0xc1 is no value", offset: at - 1)
            case 0xc2, 0xc3: self = .scalar(.bool(mark == 0xc3))
            case 0xc4...0xc6: self = .bytes(try MessagePack.longRange(1 << Int(mark - 0xc4), b, &at))
            case 0xc7...0xc9:
                let count = Int(try MessagePack.unsigned(b, &at, 1 << Int(mark - 0xc7)))
                self = try Head.typed(count, b, &at)
            case 0xca:
                let bits = UInt32(truncatingIfNeeded: try MessagePack.unsigned(b, &at, 4))
                self = .scalar(MessagePack.float(Double(Float(bitPattern: bits))))
            case 0xcb: self = .scalar(MessagePack.float(Double(bitPattern: try MessagePack.unsigned(b, &at, 8))))
            case 0xcc...0xcf: self = .scalar(.number(try MessagePack.unsigned(b, &at, 1 << Int(mark - 0xcc))))
            case 0xd0...0xd3: self = .scalar(.number(try MessagePack.signed(b, &at, 1 << Int(mark - 0xd0))))
            case 0xd4...0xd8: self = try Head.typed(1 << Int(mark - 0xd4), b, &at)
            case 0xd9...0xdb: self = .text(try MessagePack.longRange(1 << Int(mark - 0xd9), b, &at))
            case 0xdc, 0xdd:
                let count = Int(try MessagePack.unsigned(b, &at, mark == 0xdc ? 2 : 4))
                self = .array(try MessagePack.count(count, each: 1, b, at))
            case 0xde, 0xdf:
                let count = Int(try MessagePack.unsigned(b, &at, mark == 0xde ? 2 : 4))
                self = .map(try MessagePack.count(count, each: 2, b, at))
            default: self = .scalar(.number(Int8(bitPattern: mark)))
            }
        }

        private static func typed(_ count: Int, _ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) -> Head {
            let type = Int8(truncatingIfNeeded: try MessagePack.signed(b, &at, 1))
            return .typed(type, try MessagePack.range(count, b, &at))
        }
    }

    /// The number of items of the array at `at`, with `at` behind its head; nil for another value.
    package static func arrayCount(_ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) -> Int? {
        guard case .array(let count) = try Head(b, &at) else { return nil }
        return count
    }

    /// Moves `at` behind the value that begins there, without limits and without recursion.
    package static func skip(_ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) {
        var left = 1
        while left > 0 {
            left -= 1
            switch try Head(b, &at) {
            case .scalar, .text, .bytes, .typed: break
            // No overflow: every count is bounded by the bytes that are left.
            case .array(let count): left += count
            case .map(let count): left += count * 2
            }
        }
    }

    static func float(_ value: Double) -> JSONValue {
        guard !value.isFinite else { return .number("\(value)") }
        return tag("$float", .string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"))
    }

    /// A big-endian number of `width` bytes.
    static func unsigned(_ b: Span<UInt8>, _ at: inout Int, _ width: Int) throws(MessagePackError) -> UInt64 {
        guard width <= b.count - at else { throw MessagePackError(reason: "ends too early", offset: b.count) }
        var value: UInt64 = 0
        for i in at..<at + width { value = value << 8 | UInt64(b[i]) }
        at += width
        return value
    }

    private static func signed(_ b: Span<UInt8>, _ at: inout Int, _ width: Int) throws(MessagePackError) -> Int64 {
        let shift = UInt64(64 - 8 * width)
        return Int64(bitPattern: try unsigned(b, &at, width) << shift) >> Int64(shift)
    }

    /// - Parameter each: fewest bytes of one of `count` things.
    private static func count(_ count: Int, each: Int, _ b: Span<UInt8>, _ at: Int) throws(MessagePackError) -> Int {
        guard count <= (b.count - at) / each else { throw MessagePackError(reason: "ends too early", offset: b.count) }
        return count
    }

    private static func range(_ count: Int, _ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) -> Range<Int> {
        guard count <= b.count - at else { throw MessagePackError(reason: "ends too early", offset: b.count) }
        at += count
        return at - count..<at
    }

    /// Bytes behind their number, which has `width` bytes.
    private static func longRange(
        _ width: Int, _ b: Span<UInt8>, _ at: inout Int
    ) throws(MessagePackError) -> Range<Int> {
        let count = Int(try unsigned(b, &at, width))
        return try range(count, b, &at)
    }
}
