internal import WiretapeBytes
internal import WiretapeSystem

/// A tape in memory.
package final class TapeBytes: TapeSink {
    private let gate = Gate<[UInt8]>([])

    package init() {}

    /// What was written so far.
    package var bytes: [UInt8] { gate.withLock { $0 } }

    package func write(_ more: Span<UInt8>) throws(TapeError) { gate.withLock { $0.append(copying: more) } }
}
