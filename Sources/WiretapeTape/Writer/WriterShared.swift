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

    /// Hands whole members to the sink. After a failure what is still packed is let go: the tape ends where it was whole.
    /// - Returns: whether they are written.
    @discardableResult func write(_ members: Span<UInt8>) -> Bool {
        guard gate.withLock({ $0.failure }) == nil else { return false }
        do throws(TapeError) {
            try sink.write(members)
            return true
        } catch {
            gate.update { $0.failure = error }
            onFailure(error)
            return false
        }
    }
}
