package import WiretapeBytes
package import WiretapeFaults

/// What a rule has changed for a while.
package enum LastingChange: Hashable, Sendable {
    case stall(Stall)
    case mute
    case pace
}

/// Changes that end by themselves, each with the place where it was made.
package struct LastingChanges<Place: Sendable>: Sendable {
    package struct One: Sendable {
        package let change: LastingChange
        package let place: Place
        let until: WireInstant
    }

    private var all: [One] = []

    package init() {}

    package mutating func add(_ change: LastingChange, at place: Place, until: WireInstant) {
        all.append(One(change: change, place: place, until: until))
    }

    /// Those that have lasted long enough, in the order of their beginning.
    package mutating func takeOver(by now: WireInstant) -> [One] {
        guard !all.isEmpty else { return [] }
        let over = all.filter { $0.until <= now }
        if !over.isEmpty { all.removeAll { $0.until <= now } }
        return over
    }

    /// Somebody has ended these before.
    package mutating func forget(where isEnded: (One) -> Bool) { all.removeAll(where: isEnded) }

    /// When the next of them is over.
    package var next: WireInstant? { all.isEmpty ? nil : all.lazy.map { $0.until }.min() }
}
