internal import CWiretapeZstd

// Lifetime: the decoder's state is made with the object and freed in its `deinit`; input and output are lent for one
// call.

/// A streaming reader of Zstandard (RFC 8878), with windows of at most 8 MiB, as RFC 9659 has them for HTTP. Output is
/// bounded by the call. Frames may follow each other: each gives ``Inflater/Outcome/end``. After a fault every call gives
/// the same fault.
@safe struct ZstdReader: ~Copyable {
    private let stream: OpaquePointer?
    private var fault: InflateFault?

    init() {
        unsafe stream = ZSTD_createDStream()
        let code = unsafe ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZstdReader.windowBits)
        fault = unsafe stream == nil || ZSTD_isError(code) != 0 ? .outOfMemory : nil
    }

    deinit {
        unsafe ZSTD_freeDStream(stream)
    }

    /// Reads `input` from offset `used` on, moves `used` behind what was taken and appends at most `limit` bytes.
    mutating func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Inflater.Outcome {
        if let fault { return .bad(fault) }
        var left = limit
        while true {
            let step = min(left, ZstdReader.step)
            let (code, produced, taken) = read(input.extracting(used..<input.count), step: step, into: &out)
            used += taken
            left -= produced
            if ZSTD_isError(code) != 0 {
                let fault = ZstdReader.fault(of: code)
                self.fault = fault
                return .bad(fault)
            }
            // Zero: a frame is read to its end, and all of it has come out.
            if code == 0, taken > 0 || produced > 0 { return .end }
            // Room left over means that all is told.
            if produced < step { return .more }
            if left == 0 { return .full }
        }
    }

    private static let step = 64 << 10
    private static let windowBits: Int32 = 23

    private func read(_ input: Span<UInt8>, step: Int, into out: inout [UInt8]) -> (Int, produced: Int, taken: Int) {
        var code = 0
        var produced = 0
        var taken = 0
        unsafe input.withUnsafeBufferPointer { bytes in
            var source = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            out.append(addingCapacity: step) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    guard let base = room.baseAddress else { return }
                    var target = unsafe ZSTD_outBuffer(dst: base + filled, size: step, pos: 0)
                    code = unsafe ZSTD_decompressStream(stream, &target, &source)
                    produced = unsafe target.pos
                    filled += produced
                }
            }
            taken = unsafe source.pos
        }
        return (code, produced, taken)
    }

    private static func fault(of code: Int) -> InflateFault {
        switch ZSTD_getErrorCode(code) {
        case ZSTD_error_memory_allocation: .outOfMemory
        case ZSTD_error_dictionary_wrong, ZSTD_error_dictionary_corrupted: .needsDictionary
        case ZSTD_error_frameParameter_windowTooLarge: .windowTooLarge
        default: .corrupt
        }
    }
}
