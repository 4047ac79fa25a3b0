/// The armed timers of a loop, the earliest first; those of one instant in the order of their arming. A binary heap: arming
/// and disarming take O(log n).
struct DeadlineHeap {
    private struct Entry {
        let at: UInt64
        let order: UInt64
        let timer: UVTimer

        func isBefore(_ other: Entry) -> Bool { at != other.at ? at < other.at : order < other.order }
    }
    private var entries: [Entry] = []

    /// The earliest deadline in nanoseconds, or nil.
    var first: UInt64? { entries.first?.at }

    /// `timer` is not in the heap yet. `order` grows with each arming.
    mutating func insert(_ timer: UVTimer, at: UInt64, order: UInt64) {
        let entry = Entry(at: at, order: order, timer: timer)
        entries.append(entry)
        siftUp(entry, from: entries.count - 1)
    }

    /// The earliest timer that was due at `now` and armed before `order`, taken out.
    mutating func popDue(at now: UInt64, armedBefore order: UInt64) -> UVTimer? {
        guard let first = entries.first, first.at <= now, first.order < order else { return nil }
        remove(first.timer)
        return first.timer
    }

    mutating func remove(_ timer: UVTimer) {
        let slot = timer.slot
        guard slot >= 0, slot < entries.count else { return }
        timer.slot = -1
        let last = entries.removeLast()
        guard slot < entries.count else { return }
        siftUp(last, from: siftDown(last, from: slot))
    }

    mutating func removeAll() {
        for entry in entries { entry.timer.slot = -1 }
        entries = []
    }

    private mutating func put(_ entry: Entry, _ slot: Int) {
        entries[slot] = entry
        entry.timer.slot = slot
    }

    private mutating func siftUp(_ entry: Entry, from start: Int) {
        var slot = start
        while slot > 0 {
            let parent = (slot - 1) / 2
            guard entry.isBefore(entries[parent]) else { break }
            put(entries[parent], slot)
            slot = parent
        }
        put(entry, slot)
    }

    private mutating func siftDown(_ entry: Entry, from start: Int) -> Int {
        var slot = start
        while true {
            var child = 2 * slot + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entry) else { break }
            put(entries[child], slot)
            slot = child
        }
        put(entry, slot)
        return slot
    }
}
