package import WiretapeBytes
internal import WiretapeFaults
package import WiretapeWire

extension Corruption {
    /// Damages a payload. What is of the header leaves it as it is: the frame is written with ``frame(_:_:masked:)``.
    /// - Parameter random: draws places and values.
    package func apply(to payload: inout [UInt8], _ random: inout SplitMix64) {
        guard !payload.isEmpty else { return }
        switch self {
        case .bits(let count):
            for _ in 0..<min(count, payload.count * 8) {
                payload[random.below(payload.count)] ^= 1 << UInt8(random.below(8))
            }
        case .bytes(let count):
            for _ in 0..<min(count, payload.count) {
                payload[random.below(payload.count)] ^= UInt8(1 + random.below(255))
            }
        case .utf8: payload[random.below(payload.count)] = 0xff
        case .json:
            let brackets: Set<UInt8> = [UInt8(ascii: "}"), UInt8(ascii: "]")]
            guard let last = payload.lastIndex(where: brackets.contains) else { return }
            payload.remove(at: last)
        case .length, .mask, .rsv: return
        }
    }

    /// Damages a part of a payload.
    package func apply(to payload: inout [UInt8], in range: Range<Int>, _ random: inout SplitMix64) {
        guard range.lowerBound >= 0, range.upperBound <= payload.count else { return }
        var part = Array(payload[range])
        apply(to: &part, &random)
        payload.replaceSubrange(range, with: part)
    }

    /// A WebSocket frame with a damaged header.
    /// - Parameter mask: the key of a client's frame; nil for a server's.
    package func frame(_ opcode: Opcode, _ payload: [UInt8], mask: UInt32?) -> [UInt8] {
        var out: [UInt8] = []
        let code: UInt8 = opcode == .text ? 1 : 2
        var key = mask
        if self == .mask { key = mask == nil ? 0x5a17_e0d3 : nil }
        FrameWriter.append(opcode: code, payload: payload.span, mask: key, into: &out)
        switch self {
        case .rsv: out[0] |= 0x20
        case .length: Corruption.lengthen(&out)
        case .bits, .bytes, .utf8, .json, .mask: break
        }
        return out
    }

    /// Makes the header tell one byte more than there are. The header keeps its form.
    private static func lengthen(_ frame: inout [UInt8]) {
        let short = frame[1] & 0x7f
        let last = short < 126 ? 1 : short == 126 ? 3 : 9
        guard frame[last] & 0x7f < 0x7f, short != 125 else { return frame[last] -= 1 }
        frame[last] += 1
    }
}
