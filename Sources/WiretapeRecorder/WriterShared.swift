internal import Synchronization
internal import WiretapeSystem
internal import WiretapeTape

/// What a writer and its thread both know.
final class WriterShared: Sendable {
    let gate = Gate(WriterQueue())
    let ages = RecordAges()
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
    /// - Parameter tally: what they hold.
    /// - Returns: whether they are written.
    @discardableResult func write(_ members: Span<UInt8>, _ tally: MemberTally) -> Bool {
        guard gate.withLock({ $0.failure }) == nil else { return false }
        do throws(TapeError) {
            try sink.write(members)
            if options.sync == .everyMember { try sink.sync() }
            gate.withLock { $0.written = $0.written + tally }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// Hands the whole tape to the device when the recording ends.
    func sync() {
        guard options.sync != .off, gate.withLock({ $0.failure }) == nil else { return }
        do throws(TapeError) { try sink.sync() } catch { fail(error) }
    }

    private func fail(_ error: TapeError) {
        gate.update { $0.failure = error }
        onFailure(error)
    }
}

/// Since when the oldest record waits in the queue, and since when for the kernel: monotonic nanoseconds, `.max` when none does. The loops
/// read it at any time; it is changed under the queue's lock, so that a batch which comes meanwhile is not forgotten.
final class RecordAges: Sendable {
    private let queue = Atomic<UInt64>(.max)
    private let kernel = Atomic<UInt64>(.max)

    /// Of the records that are not lines yet.
    var queued: UInt64 { queue.load(ordering: .acquiring) }
    /// Of those that are not with the kernel.
    var unwritten: UInt64 { kernel.load(ordering: .acquiring) }

    /// A batch came whose first record is of that time.
    func queued(since oldest: UInt64) {
        if oldest < queued { queue.store(oldest, ordering: .releasing) }
        if oldest < unwritten { kernel.store(oldest, ordering: .releasing) }
    }

    /// - Parameters:
    ///   - queued: of what waits now.
    ///   - packed: of the lines that are not written.
    func are(queued: UInt64, packed: UInt64) {
        queue.store(queued, ordering: .releasing)
        kernel.store(min(queued, packed), ordering: .releasing)
    }
}
