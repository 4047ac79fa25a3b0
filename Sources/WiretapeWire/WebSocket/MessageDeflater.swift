internal import WiretapeBytes

/// Compresses the messages of one direction as two peers agreed on (RFC 7692 section 7.2.1). It allocates with the first.
package struct MessageDeflater: ~Copyable {
    private let windowBits: Int
    private let resets: Bool
    private var deflater: Deflater?

    package init(_ direction: Direction, _ parameters: DeflateParameters) {
        windowBits = parameters.windowBits(direction)
        resets = parameters.resetsContext(direction)
    }

    /// The payload of a frame with RSV1. Nil: the message has to go as it is, since zlib cannot write for a window of 256
    /// bytes, or has no memory.
    package mutating func pack(_ payload: Span<UInt8>) -> [UInt8]? {
        guard windowBits > 8 else { return nil }
        // RFC 7692 section 7.2.3.6: an empty block without compression.
        if payload.isEmpty { return [0] }
        if deflater == nil {
            deflater = Deflater(windowBits: windowBits)
        } else if resets {
            deflater?.reset()
        }
        var packed: [UInt8] = []
        guard deflater?.append(payload, flush: .message, into: &packed) == true else { return nil }
        return packed
    }
}
