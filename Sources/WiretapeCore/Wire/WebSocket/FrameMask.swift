internal import WiretapeBytes

/// The masking of RFC 6455 section 5.3: applying it twice gives the payload back.
package enum FrameMask {
    /// Masks `bytes[from...]` in place.
    /// - Parameters:
    ///   - key: as in ``FrameHeader/key``: its first byte on top.
    ///   - offset: where the first of these bytes stands within the frame's payload.
    package static func apply(_ key: UInt32, offset: UInt64 = 0, to bytes: inout [UInt8], from: Int = 0) {
        guard key != 0, from < bytes.count else { return }
        var span = bytes.mutableSpan
        var at = from
        let turned = turn(key, offset)
        // Eight lanes with a constant key each: the compiler makes vector code of it.
        let k0 = turned.0, k1 = turned.1, k2 = turned.2, k3 = turned.3
        while at + 8 <= span.count {
            span[at] ^= k0
            span[at + 1] ^= k1
            span[at + 2] ^= k2
            span[at + 3] ^= k3
            span[at + 4] ^= k0
            span[at + 5] ^= k1
            span[at + 6] ^= k2
            span[at + 7] ^= k3
            at += 8
        }
        var lane = 0
        while at < span.count {
            span[at] ^= lane == 0 ? k0 : lane == 1 ? k1 : lane == 2 ? k2 : k3
            lane = (lane + 1) & 3
            at += 1
        }
    }

    /// Appends `payload` masked.
    package static func append(_ payload: Span<UInt8>, _ key: UInt32, offset: UInt64 = 0, into out: inout [UInt8]) {
        let start = out.count
        out.append(copying: payload)
        apply(key, offset: offset, to: &out, from: start)
    }

    /// The key's bytes in the order in which they meet the payload from `offset` on.
    private static func turn(_ key: UInt32, _ offset: UInt64) -> (UInt8, UInt8, UInt8, UInt8) {
        let shift = UInt32(offset & 3) * 8
        let turned = shift == 0 ? key : key << shift | key >> (32 - shift)
        return (
            UInt8(truncatingIfNeeded: turned >> 24), UInt8(truncatingIfNeeded: turned >> 16),
            UInt8(truncatingIfNeeded: turned >> 8), UInt8(truncatingIfNeeded: turned)
        )
    }
}
