/// Where the loops' records go: the writer's thread, or in a simulation straight into a tape in memory.
package protocol TapSink: AnyObject {
    /// Hands over whole records of one loop.
    /// - Parameters:
    ///   - oldest: the time of the first one.
    ///   - isLast: the loop offers nothing more. What passed in the end is not offered again: there is room for it, always.
    /// - Returns: an empty buffer to go on with, or the batch itself when there is no room now.
    func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer
    /// The time of the oldest record taken whose line is not yet with the kernel; `.max` when there is none.
    var oldestUnwritten: UInt64 { get }
    /// The time of the oldest record taken that is not a line yet; `.max` when there is none.
    var oldestQueued: UInt64 { get }
    /// Whether a full sink means that traffic waits (else records are dropped and counted).
    var waits: Bool { get }
}

extension TapSink {
    /// Hands over records behind which others may come.
    package func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64) -> TapOffer {
        offer(batch, loop: loop, oldest: oldest, isLast: false)
    }
}

package enum TapOffer {
    case taken(spare: [UInt8])
    /// No room: the batch comes back. Under `drop` it has been counted as lost and comes back emptied.
    case full([UInt8])
    /// The recording has failed for good and traffic must stop (`--on-disk-full stop`).
    case failed([UInt8])
}
