package import WiretapeRuntime

/// What the relays of one loop hold for peers that do not take it, and of requests whose head is not whole.
///
/// A connection has limits of its own: ``RelayConnection/pressureLimit``, and the longest head. Above one for all queues together nobody
/// is read while something is queued for the other side, and the loop reads in small pieces: who has nothing queued yet adds no more
/// than one of those. Above half of it for all unfinished heads a long one is refused.
///
/// Counted are the bytes that no kernel has taken. Confined to its loop's thread.
package final class RelayPressure {
    /// The most that one read takes while too much is queued.
    package static let smallRead = 4096
    /// Longer heads that are not whole are refused while there are too many.
    package static let longHead = 8192

    private let loop: any Loop
    private let limit: Int
    /// Bytes queued for peers.
    package private(set) var queued = 0
    /// Bytes of unfinished heads.
    package private(set) var heads = 0

    /// One for each loop, whose ``Loop/readLimit`` it sets.
    /// - Parameters:
    ///   - memory: the whole of `--memory`. A quarter of it is for what is queued, an eighth for heads.
    ///   - loops: how many share that.
    package init(_ loop: any Loop, memory: Int = MemoryBudget.standard, loops: Int = 1) {
        self.loop = loop
        limit = memory / 4 / max(1, loops)
    }

    /// What is queued on one stream has changed.
    /// - Parameter counted: what was queued there by now; set to `bytes`.
    /// - Returns: whether that is little enough for the other side to be read.
    func mayQueueMore(_ bytes: Int, counted: inout Int) -> Bool {
        let wasHigh = queued > limit
        queued += bytes - counted
        counted = bytes
        let isHigh = queued > limit
        if isHigh != wasHigh { loop.readLimit = isHigh ? Self.smallRead : .max }
        return bytes == 0 || bytes <= RelayConnection.pressureLimit && !isHigh
    }

    /// What has come of one connection's head that is not whole has changed.
    /// - Parameter counted: what had come by now; set to `bytes`.
    /// - Returns: whether the head may go on.
    func mayGoOn(head bytes: Int, counted: inout Int) -> Bool {
        heads += bytes - counted
        counted = bytes
        return bytes <= Self.longHead || heads <= limit / 2
    }
}
