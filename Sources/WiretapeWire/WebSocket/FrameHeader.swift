/// The head of a WebSocket frame (RFC 6455 section 5.2) as it was on the wire; nothing is judged. It keeps all of its bits,
/// so that ``append(to:)`` gives the received bytes, lengths spelled longer than needed included.
package struct FrameHeader: Hashable, Sendable {
    /// FIN, RSV1 to RSV3 and the opcode.
    package var first: UInt8
    /// The mask bit and the seven bits of the length.
    package var second: UInt8
    /// Bytes of payload, up to 2^64 - 1.
    package var length: UInt64
    /// The masking key, its first byte on top; 0 when there is none.
    package var key: UInt32

    package init(first: UInt8, second: UInt8, length: UInt64, key: UInt32) {
        self.first = first
        self.second = second
        self.length = length
        self.key = key
    }

    @inlinable package var fin: Bool { first & 0x80 != 0 }
    @inlinable package var rsv1: Bool { first & 0x40 != 0 }
    @inlinable package var rsv2: Bool { first & 0x20 != 0 }
    @inlinable package var rsv3: Bool { first & 0x10 != 0 }
    /// 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong; the others are reserved.
    @inlinable package var opcode: UInt8 { first & 0x0f }
    @inlinable package var isControl: Bool { first & 0x08 != 0 }
    @inlinable package var isMasked: Bool { second & 0x80 != 0 }

    /// 2 to 14.
    @inlinable package var byteCount: Int {
        2 + Self.lengthBytes(second) + (isMasked ? 4 : 0)
    }

    /// Whether the length is spelled with as few bytes as it needs.
    package var isShort: Bool {
        switch Self.lengthBytes(second) {
        case 2: length > 125
        case 8: length > 0xffff
        default: true
        }
    }

    @inlinable static func lengthBytes(_ second: UInt8) -> Int {
        switch second & 0x7f {
        case 126: 2
        case 127: 8
        default: 0
        }
    }

    /// Appends the bytes as received.
    package func append(to out: inout [UInt8]) {
        out.append(first)
        out.append(second)
        var left = Self.lengthBytes(second) * 8
        while left > 0 {
            left -= 8
            out.append(UInt8(truncatingIfNeeded: length >> UInt64(left)))
        }
        guard isMasked else { return }
        for shift: UInt32 in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: key >> shift)) }
    }
}
