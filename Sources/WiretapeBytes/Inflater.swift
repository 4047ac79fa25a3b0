internal import CWiretapeZlib

// Lifetime: zlib's state is allocated with the object and freed in its `deinit`; input and output are lent for one
// call and not kept in the state.

/// A streaming reader of gzip (RFC 1952), zlib (RFC 1950) or raw deflate (RFC 1951). Output is bounded by the call:
/// ratio and total limits are the caller's, who sees every byte come. After a fault every call gives the same fault until
/// ``reset()``.
@safe package struct Inflater: ~Copyable {
    package enum Format: Hashable, Sendable {
        /// Members one after the other: each gives ``Outcome/end``.
        case gzip
        case zlib
        /// As permessage-deflate (RFC 7692) uses it: 8 to 15, other numbers count as the nearest of these.
        case raw(windowBits: Int)
    }

    package enum Outcome: Equatable, Sendable {
        /// All input is used and the stream goes on.
        case more
        /// `limit` bytes came and there may be more: call again, with or without new input.
        case full
        /// A member or stream ended with its checksum right. The next one may follow at `used`: the inflater is ready for
        /// it. A raw stream keeps its window, for the final blocks that RFC 7692, 7.2.3.5 allows within a connection.
        case end
        case bad(InflateFault)
    }

    // zlib keeps a pointer back to its stream: it must not move.
    private let z: UnsafeMutablePointer<z_stream>
    private let isRaw: Bool
    private var fault: InflateFault?

    package init(_ format: Format) {
        unsafe z = .allocate(capacity: 1)
        unsafe z.initialize(to: z_stream())
        let bits: Int32
        switch format {
        case .gzip: (bits, isRaw) = (31, false)
        case .zlib: (bits, isRaw) = (15, false)
        case .raw(let windowBits): (bits, isRaw) = (-Int32(max(8, min(15, windowBits))), true)
        }
        fault = Inflater.fault(of: unsafe wiretape_inflateInit2(z, bits))
    }

    deinit {
        unsafe inflateEnd(z)
        unsafe z.deallocate()
    }

    /// Reads `input` from offset `used` on, moves `used` behind what was taken and appends at most `limit` bytes.
    package mutating func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Outcome {
        if let fault { return .bad(fault) }
        var left = limit
        while true {
            let step = min(left, Inflater.step)
            let (code, produced, taken) = inflateOnce(input.extracting(used..<input.count), step: step, into: &out)
            used += taken
            left -= produced
            switch code {
            case Z_STREAM_END:
                let again = unsafe isRaw ? inflateResetKeep(z) : inflateReset(z)
                fault = Inflater.fault(of: again)
                return .end
            case Z_OK, Z_BUF_ERROR:
                // Z_BUF_ERROR: no progress was possible, which is no error. Room left over means that all is told.
                if produced < step { return .more }
                if left == 0 { return .full }
            default:
                let fault = Inflater.fault(of: code) ?? .misused
                self.fault = fault
                return .bad(fault)
            }
        }
    }

    /// Forgets everything, a fault too: the next byte begins a new stream.
    package mutating func reset() {
        fault = Inflater.fault(of: unsafe inflateReset(z))
    }

    private static let step = 64 << 10

    private func inflateOnce(_ input: Span<UInt8>, step: Int, into out: inout [UInt8]) -> (
        Int32, produced: Int, taken: Int
    ) {
        var code = Z_OK
        var produced = 0
        var taken = 0
        unsafe input.withUnsafeBufferPointer { bytes in
            // zlib's counters have 32 bits.
            let offered = min(bytes.count, 1 << 30)
            unsafe z.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe z.pointee.avail_in = UInt32(offered)
            out.append(addingCapacity: step) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    guard let base = room.baseAddress else { return }
                    unsafe z.pointee.next_out = base + filled
                    unsafe z.pointee.avail_out = UInt32(step)
                    code = unsafe inflate(z, Z_NO_FLUSH)
                    produced = unsafe step - Int(z.pointee.avail_out)
                    filled += produced
                }
            }
            taken = unsafe offered - Int(z.pointee.avail_in)
            // Nothing of the caller's is pointed at between calls.
            unsafe z.pointee.next_in = nil
            unsafe z.pointee.avail_in = 0
        }
        return (code, produced, taken)
    }

    private static func fault(of code: Int32) -> InflateFault? {
        switch code {
        case Z_OK: nil
        case Z_DATA_ERROR: .corrupt
        case Z_NEED_DICT: .needsDictionary
        case Z_MEM_ERROR: .outOfMemory
        // Z_STREAM_ERROR, Z_VERSION_ERROR and anything that zlib does not promise.
        default: .misused
        }
    }
}

/// Why a compressed stream cannot be read on.
package enum InflateFault: Hashable, Sendable {
    /// The bytes are none of that coding, a header is wrong, or a checksum or length does not agree.
    case corrupt
    /// A stream that wants a preset dictionary.
    case needsDictionary
    /// A zstd stream that looks back further than 8 MiB.
    case windowTooLarge
    /// No memory for the window.
    case outOfMemory
    /// The library refused the call: our own mistake.
    case misused
}
