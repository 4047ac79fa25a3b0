package import WiretapeBytes
package import WiretapeProtocol
package import WiretapeTape

/// A tape in memory, made without a thread: for simulations and tests. Lines are written as records arrive.
package final class InlineTape: TapSink {
    private var assembler: TapeAssembler
    private var packer = MemberPacker()
    private var lines: [UInt8] = []

    /// - Parameter origin: the loop's time at the tape's start.
    package init(
        header: TapeHeader, origin: WireInstant, inflateLimit: Int = TapeAssembler.defaultInflateLimit,
        redaction: TapeRedaction? = nil
    ) {
        assembler = TapeAssembler(origin: origin.nanoseconds, inflateLimit: inflateLimit, redaction: redaction)
        packer.redaction = redaction
        packer.appendHeader(header)
    }

    package var oldestUnwritten: UInt64 { .max }
    package var oldestQueued: UInt64 { .max }
    package var waits: Bool { true }

    package func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
        assembler.consume(batch, loop: loop, into: &packer)
        batch.removeAll(keepingCapacity: true)
        return .taken(spare: batch)
    }

    /// Ends the recording and gives the whole tape, uncompressed.
    package func finish() -> [UInt8] {
        assembler.finish(into: &packer)
        packer.stop(level: nil)
        while packer.takePlain(into: &lines) {}
        return lines
    }
}
