package import WiretapeRuntime

/// What the relays of one loop hold for peers that do not take it, and of requests whose head is not whole.
///
/// A connection has limits of its own: ``RelayConnection/pressureLimit``, and the longest head. Above one for all queues together nobody
/// is read while something is queued for the other side, and the loop reads in small pieces: who has nothing queued yet adds no more
/// than one of those. Above half of it for all unfinished heads a long one is refused.
///
/// Counted are the bytes that no kernel has taken. Loop: confined to its thread.
package final class RelayPressure {
    /// Unless asked otherwise: a quarter of what `--memory` is then.
    package static let standard = MemoryBudget.standard / 4
    /// The most that one read takes while too much is queued.
    package static let smallRead = 4096

    /// Longer heads that are not whole are refused while there are too many.
    package static let longHead = 8192

    private let loop: any Loop
    private let limit: Int
    /// Bytes queued for peers.
    package private(set) var total = 0
    /// Bytes of unfinished heads.
    package private(set) var heads = 0

    /// - Parameter limit: bytes that are queued for all connections together.
    package init(_ loop: any Loop, limit: Int = RelayPressure.standard) {
        self.loop = loop
        self.limit = limit
    }

    /// Whether too much is queued over all connections.
    var isHigh: Bool { total > limit }

    /// Whether a head of which so much has come has to go.
    func refuses(headOf size: Int) -> Bool { size > Self.longHead && heads > limit / 2 }

    fileprivate func changeHeads(by difference: Int) { heads += difference }

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

/// What has come of one connection's head, as it was counted last; nothing any more when this goes.
final class CountedHead {
    private let pressure: RelayPressure
    private var bytes = 0

    init(_ pressure: RelayPressure) { self.pressure = pressure }

    deinit { pressure.changeHeads(by: -bytes) }

    /// So much of a head has come that is not whole; 0: none is under way.
    /// - Returns: whether it may go on.
    func set(_ size: Int) -> Bool {
        if size != bytes {
            pressure.changeHeads(by: size - bytes)
            bytes = size
        }
        return !pressure.refuses(headOf: size)
    }
}
