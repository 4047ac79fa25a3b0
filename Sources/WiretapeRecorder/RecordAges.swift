internal import Synchronization

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
