internal import WiretapeTape

/// What the loops and the writer's thread share, under the gate's lock.
struct WriterQueue: Sendable {
    enum Item: Sendable {
        case batch([UInt8], loop: Int, oldest: UInt64)
        case gap(UInt64, loop: Int)
    }

    /// From `next` on they wait.
    private var items: [Item] = []
    private var next = 0
    /// Bytes of batches, those in hand included.
    private(set) var bytes = 0
    /// Emptied batches that go back to the loops.
    private var spares: [[UInt8]] = []
    /// Events dropped since the loop's last batch, by loop, in the order of the first loss.
    private var pendingLosses: [(loop: Int, events: UInt64)] = []
    /// Events of all drops.
    private(set) var lost: UInt64 = 0
    var discarded: UInt64 = 0
    /// What was written.
    var written = MemberTally()
    var isFinishing = false
    var failure: TapeError?
    var totals: TapeTotals?

    /// More of them would only be memory that nobody uses.
    private static let mostSpares = 8
    private static let largestSpare = 1 << 20

    mutating func push(_ batch: consuming [UInt8], loop: Int, oldest: UInt64) -> [UInt8] {
        if let at = pendingLosses.firstIndex(where: { $0.loop == loop }) {
            items.append(.gap(pendingLosses.remove(at: at).events, loop: loop))
        }
        bytes += batch.count
        items.append(.batch(batch, loop: loop, oldest: oldest))
        return spares.popLast() ?? []
    }

    mutating func lose(_ events: UInt64, loop: Int) {
        lost += events
        if let at = pendingLosses.firstIndex(where: { $0.loop == loop }) {
            pendingLosses[at].events += events
        } else {
            pendingLosses.append((loop, events))
        }
    }

    var isEmpty: Bool { next == items.count }

    mutating func takeNext() -> Item? {
        guard next < items.count else { return nil }
        let item = items[next]
        // Else the array would share the batch.
        items[next] = .gap(0, loop: 0)
        next += 1
        if next == items.count {
            items.removeAll(keepingCapacity: true)
            next = 0
        } else if next >= 64 {
            items.removeSubrange(..<next)
            next = 0
        }
        return item
    }

    /// The losses after which nothing more came.
    mutating func takeLosses() -> [(loop: Int, events: UInt64)] {
        let all = pendingLosses
        pendingLosses = []
        return all
    }

    /// A batch was turned into lines; its buffer goes back to the loops.
    mutating func done(_ batch: inout [UInt8]) {
        bytes -= batch.count
        guard spares.count < WriterQueue.mostSpares, batch.capacity <= WriterQueue.largestSpare else { return }
        batch.removeAll(keepingCapacity: true)
        spares.append(batch)
    }

    /// The oldest record that waits; `.max` when there is none.
    var oldest: UInt64 {
        items[next...].reduce(.max) { least, item in
            if case .batch(_, _, let oldest) = item { min(least, oldest) } else { least }
        }
    }
}
