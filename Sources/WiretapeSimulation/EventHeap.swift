/// What is to happen, by time, and by order of scheduling where times are equal.
struct EventHeap {
    struct Event {
        let at: UInt64
        let order: UInt64
        let what: What
    }

    enum What {
        case call(() -> Void)
        /// A timer, and the arming that it belongs to: an outdated one is skipped without moving the clock.
        case timer(SimulatedTimer, arming: UInt64)
    }

    private var events: [Event] = []
    private var order: UInt64 = 0

    var next: Event? { events.first }

    mutating func add(_ what: What, at: UInt64) {
        order += 1
        events.append(Event(at: at, order: order, what: what))
        var i = events.count - 1
        while i > 0, isEarlier(i, (i - 1) / 2) {
            events.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    /// Takes the earliest event out. There must be one.
    mutating func removeNext() -> Event {
        events.swapAt(0, events.count - 1)
        let event = events.removeLast()
        var i = 0
        while true {
            var least = i
            for child in [2 * i + 1, 2 * i + 2] where child < events.count && isEarlier(child, least) { least = child }
            if least == i { return event }
            events.swapAt(i, least)
            i = least
        }
    }

    private func isEarlier(_ a: Int, _ b: Int) -> Bool {
        events[a].at != events[b].at ? events[a].at < events[b].at : events[a].order < events[b].order
    }
}
