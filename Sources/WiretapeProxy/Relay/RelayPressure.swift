package import WiretapeRuntime

/// What the relays of one loop have queued for peers that do not take it. A connection has a limit of its own
/// (``RelayConnection/pressureLimit``). Above one for all of them together nobody is read while something is queued for the other side,
/// and the loop reads in small pieces: who has nothing queued yet adds no more than one of those.
///
/// Counted are the bytes that no kernel has taken. Loop: confined to its thread.
package final class RelayPressure {
    /// Unless asked otherwise: a quarter of what `--memory` is then.
    package static let standard = MemoryBudget.standard / 4
    /// The most that one read takes while too much is queued.
    package static let smallRead = 4096

    private let loop: any Loop
    private let limit: Int
    package private(set) var total = 0

    /// - Parameter limit: bytes for all connections together.
    package init(_ loop: any Loop, limit: Int = RelayPressure.standard) {
        self.loop = loop
        self.limit = limit
    }

    /// Whether too much is queued over all connections.
    var isHigh: Bool { total > limit }

    fileprivate func change(by difference: Int) {
        let wasHigh = isHigh
        total += difference
        if isHigh != wasHigh { loop.readLimit = isHigh ? Self.smallRead : .max }
    }
}

/// What is queued on one stream, as it was counted last.
struct CountedQueue {
    private var bytes = 0

    /// So much is queued now.
    /// - Returns: whether that is little enough for the other side to be read.
    mutating func set(_ queued: Int, _ pressure: RelayPressure) -> Bool {
        if queued != bytes {
            pressure.change(by: queued - bytes)
            bytes = queued
        }
        return queued == 0 || queued <= RelayConnection.pressureLimit && !pressure.isHigh
    }
}
