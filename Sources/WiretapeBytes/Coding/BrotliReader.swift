internal import CWiretapeBrotli

// Lifetime: the decoder's state is made with the object and freed in its `deinit`; input and output are lent for one
// call.

/// A streaming reader of Brotli (RFC 7932), with windows of at most 16 MiB, as the `br` of HTTP has them. Output is bounded
/// by the call. One stream: after its end it takes nothing more, and after a fault every call gives the same fault.
@safe struct BrotliReader: ~Copyable {
    private let state: OpaquePointer?
    private var fault: InflateFault?

    init() {
        unsafe state = BrotliDecoderCreateInstance(nil, nil, nil)
        fault = unsafe state == nil ? .outOfMemory : nil
    }

    deinit {
        unsafe BrotliDecoderDestroyInstance(state)
    }

    /// Reads `input` from offset `used` on, moves `used` behind what was taken and appends at most `limit` bytes.
    mutating func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Inflater.Outcome {
        if let fault { return .bad(fault) }
        var left = limit
        while true {
            let step = min(left, BrotliReader.step)
            let (result, produced, taken) = read(input.extracting(used..<input.count), step: step, into: &out)
            used += taken
            left -= produced
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: return .end
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return .more
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: if left == 0 { return .full }
            default:
                let code = unsafe BrotliDecoderGetErrorCode(state)
                let isMemory = (-30 ... -21).contains(code.rawValue)
                let fault: InflateFault = isMemory ? .outOfMemory : .corrupt
                self.fault = fault
                return .bad(fault)
            }
        }
    }

    private static let step = 64 << 10

    private func read(_ input: Span<UInt8>, step: Int, into out: inout [UInt8]) -> (
        BrotliDecoderResult, produced: Int, taken: Int
    ) {
        var result = BROTLI_DECODER_RESULT_ERROR
        var produced = 0
        var taken = 0
        unsafe input.withUnsafeBufferPointer { bytes in
            var offered = bytes.count
            var next = bytes.baseAddress
            out.append(addingCapacity: step) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    var space = step
                    var end = unsafe room.baseAddress.map { unsafe $0 + filled }
                    result = unsafe BrotliDecoderDecompressStream(state, &offered, &next, &space, &end, nil)
                    produced = step - space
                    filled += produced
                }
            }
            taken = bytes.count - offered
        }
        return (result, produced, taken)
    }
}
