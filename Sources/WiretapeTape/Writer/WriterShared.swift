internal import Synchronization
internal import WiretapeSystem

/// What a writer and its thread both know.
final class WriterShared: Sendable {
    let gate = Gate(WriterQueue())
    let oldestUnwritten = Atomic<UInt64>(.max)
    let sink: any TapeSink
    let options: TapeWriterOptions
    let clock: @Sendable () -> UInt64
    let onFailure: @Sendable (TapeError) -> Void

    init(
        sink: any TapeSink, options: TapeWriterOptions, clock: @escaping @Sendable () -> UInt64,
        onFailure: @escaping @Sendable (TapeError) -> Void
    ) {
        self.sink = sink
        self.options = options
        self.clock = clock
        self.onFailure = onFailure
    }
}
