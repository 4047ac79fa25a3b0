internal import WiretapeBytes

extension MessagePack {
    /// Appends `text` in its shortest form.
    package static func write(_ text: String, into out: inout [UInt8]) {
        let count = text.utf8.count
        switch count {
        case 0...31: out.append(0xa0 | UInt8(count))
        case 32...0xff: out += [0xd9, UInt8(count)]
        case 0x100...0xffff: out += [0xda, UInt8(count >> 8), UInt8(count & 0xff)]
        default:
            out.append(0xdb)
            for shift in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: count >> shift)) }
        }
        out.append(utf8: text)
    }

    /// Appends a number that is not negative in its shortest form.
    package static func write(_ number: UInt64, into out: inout [UInt8]) {
        let width: Int
        switch number {
        case 0...0x7f: return out.append(UInt8(number))
        case 0x80...0xff: width = 1
        case 0x100...0xffff: width = 2
        case 0x1_0000...0xffff_ffff: width = 4
        default: width = 8
        }
        out.append(0xcc + UInt8(width.trailingZeroBitCount))
        for i in (0..<width).reversed() { out.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * i))) }
    }

    /// Appends the head of an array of `count` items: they follow.
    package static func writeArray(of count: Int, into out: inout [UInt8]) {
        switch count {
        case 0...15: out.append(0x90 | UInt8(count))
        case 16...0xffff: out += [0xdc, UInt8(count >> 8), UInt8(count & 0xff)]
        default:
            out.append(0xdd)
            for shift in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: count >> shift)) }
        }
    }
}
