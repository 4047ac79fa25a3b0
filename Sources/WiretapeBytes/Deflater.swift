internal import CWiretapeZlib

// Lifetime: zlib's state is allocated with the object and freed in its `deinit`; input and output are lent for one
// call and not kept in the state.

/// A streaming writer of raw deflate (RFC 1951), as permessage-deflate (RFC 7692) uses it.
@safe package struct Deflater: ~Copyable {
    package enum Flush: Hashable, Sendable {
        /// zlib may keep bytes back.
        case none
        /// All bytes come out, ended by the empty block 00 00 ff ff.
        case sync
        /// As ``sync``, without those four bytes: the end of a message in permessage-deflate.
        case message
        /// The stream's end. Nothing may follow but ``reset()``.
        case finish
    }

    // zlib keeps a pointer back to its stream: it must not move.
    private let z: UnsafeMutablePointer<z_stream>
    private let ready: Bool

    /// - Parameters:
    ///   - windowBits: 8 to 15. For 8 zlib writes with a window of 9 bits, which a reader of 8 could not follow, so no
    ///     distance above 256 would be safe: offer 9 or more where the peer decides.
    ///   - level: 0 (stored) to 9.
    package init(windowBits: Int = 15, level: Int = 6) {
        unsafe z = .allocate(capacity: 1)
        unsafe z.initialize(to: z_stream())
        let bits = -Int32(max(9, min(15, windowBits)))
        ready = unsafe wiretape_deflateInit2(z, Int32(max(0, min(9, level))), bits) == Z_OK
    }

    deinit {
        unsafe deflateEnd(z)
        unsafe z.deallocate()
    }

    /// Appends what comes of `input`.
    /// - Returns: false when zlib has no memory or the stream was finished before: nothing more can be written.
    package mutating func append(_ input: Span<UInt8>, flush: Flush, into out: inout [UInt8]) -> Bool {
        guard ready else { return false }
        var used = 0
        repeat {
            let count = min(input.count - used, 1 << 30)
            let last = used + count == input.count
            let mode = last ? Deflater.mode(flush) : Z_NO_FLUSH
            guard write(input.extracting(used..<used + count), mode, into: &out) else { return false }
            used += count
        } while used < input.count
        if flush == .message, out.suffix(4) == [0, 0, 0xff, 0xff] { out.removeLast(4) }
        return true
    }

    /// Begins a new stream with an empty window (`no_context_takeover`).
    package mutating func reset() {
        // Cannot fail on a stream that was initialised.
        if ready { unsafe deflateReset(z) }
    }

    private static func mode(_ flush: Flush) -> Int32 {
        switch flush {
        case .none: Z_NO_FLUSH
        case .sync, .message: Z_SYNC_FLUSH
        case .finish: Z_FINISH
        }
    }

    private func write(_ input: Span<UInt8>, _ mode: Int32, into out: inout [UInt8]) -> Bool {
        var code = Z_OK
        var full = true
        unsafe input.withUnsafeBufferPointer { bytes in
            unsafe z.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe z.pointee.avail_in = UInt32(bytes.count)
            while full, code == Z_OK {
                let step = unsafe min(64 << 10, max(256, Int(z.pointee.avail_in) / 2))
                out.append(addingCapacity: step) { free in
                    unsafe free.withUnsafeMutableBufferPointer { room, filled in
                        guard let base = room.baseAddress else { return }
                        unsafe z.pointee.next_out = base + filled
                        unsafe z.pointee.avail_out = UInt32(step)
                        code = unsafe deflate(z, mode)
                        filled += unsafe step - Int(z.pointee.avail_out)
                    }
                }
                full = unsafe z.pointee.avail_out == 0
            }
            unsafe z.pointee.next_in = nil
            unsafe z.pointee.avail_in = 0
        }
        // Z_BUF_ERROR: the round before filled its room exactly and there was nothing more.
        return code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END
    }
}
