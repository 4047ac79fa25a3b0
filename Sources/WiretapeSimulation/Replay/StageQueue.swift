package import WiretapeBytes

/// What is to happen, by time, and by order of scheduling where times are equal.
package struct StageQueue<Event: Sendable>: Sendable {
    private struct Entry: Sendable {
        var at: WireInstant
        var order: Int
        var event: Event

        func isEarlier(than other: Entry) -> Bool { at == other.at ? order < other.order : at < other.at }
    }

    private var heap: [Entry] = []
    private var order = 0

    package init() {}

    package var next: WireInstant? { heap.first?.at }

    package mutating func add(_ event: Event, at: WireInstant) {
        order += 1
        heap.append(Entry(at: at, order: order, event: event))
        var i = heap.count - 1
        while i > 0, heap[i].isEarlier(than: heap[(i - 1) / 2]) {
            heap.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    /// Takes the earliest event out; nil when there is none.
    package mutating func removeNext() -> Event? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        var i = 0
        while true {
            var least = i
            for child in [2 * i + 1, 2 * i + 2] where child < heap.count && heap[child].isEarlier(than: heap[least]) {
                least = child
            }
            if least == i { return first.event }
            heap.swapAt(i, least)
            i = least
        }
    }
}
