internal import WiretapeBytes

/// The masking of RFC 6455 section 5.3: applying it twice gives the payload back.
package enum FrameMask {
    /// Masks `bytes[from...]` in place.
    /// - Parameters:
    ///   - key: as in ``FrameHeader/key``: its first byte on top.
    ///   - offset: where the first of these bytes stands within the frame's payload.
    package static func apply(_ key: UInt32, offset: UInt64 = 0, to bytes: inout [UInt8], from: Int = 0) {
        guard key != 0, from < bytes.count else { return }
        // The key as it meets the payload here, its first byte lowest.
        let shift = UInt32(offset & 3) * 8
        let turned = (shift == 0 ? key : key << shift | key >> (32 - shift)).byteSwapped
        var span = bytes.mutableSpan
        let end = span.count
        let pair = UInt64(turned) << 32 | UInt64(turned)
        var at = from
        // Eight bytes at a time: the compiler makes one load and one store of the inner loops.
        while at <= end - 8 {
            var word: UInt64 = 0
            for i in 0..<8 { word |= UInt64(span[at &+ i]) &<< UInt64(8 &* i) }
            word ^= pair
            for i in 0..<8 { span[at &+ i] = UInt8(truncatingIfNeeded: word &>> UInt64(8 &* i)) }
            at += 8
        }
        var rest = pair
        while at < end {
            span[at] ^= UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            at += 1
        }
    }

    /// Appends `payload` masked.
    package static func append(_ payload: Span<UInt8>, _ key: UInt32, offset: UInt64 = 0, into out: inout [UInt8]) {
        let start = out.count
        out.append(copying: payload)
        apply(key, offset: offset, to: &out, from: start)
    }
}
