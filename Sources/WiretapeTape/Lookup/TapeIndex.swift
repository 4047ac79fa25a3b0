/// Where the events of a tape stand, roughly: of each member, or each MiB of a plain tape, the first event. Made from what
/// ``TapeReader`` reads; 16 bytes an entry.
package struct TapeIndex: Sendable {
    /// Plain tapes: bytes between two entries.
    static let stride: UInt64 = 1 << 20

    let isCompressed: Bool
    private var numbers: [UInt64] = []
    private var offsets: [UInt64] = []

    package init(isCompressed: Bool) { self.isCompressed = isCompressed }

    /// Takes in the next event of the tape.
    package mutating func add(_ event: NumberedEvent) {
        guard let last = offsets.last else { return add(event.number, event.offset) }
        if isCompressed ? event.offset != last : event.offset - last >= TapeIndex.stride {
            add(event.number, event.offset)
        }
    }

    private mutating func add(_ number: UInt64, _ offset: UInt64) {
        numbers.append(number)
        offsets.append(offset)
    }

    package var count: Int { numbers.count }

    /// Where lines begin, and the number of the first event there.
    struct Place: Hashable, Sendable {
        var offset: UInt64
        var first: UInt64
    }

    /// Where the event stands; nil when it is before the first.
    func place(of number: UInt64) -> Place? {
        let at = count(upTo: number)
        return at > 0 ? Place(offset: offsets[at - 1], first: numbers[at - 1]) : nil
    }

    /// The place behind the one whose first event that is.
    func place(after first: UInt64) -> Place? {
        let at = count(upTo: first)
        return at < numbers.count ? Place(offset: offsets[at], first: numbers[at]) : nil
    }

    private func count(upTo number: UInt64) -> Int {
        var low = 0
        var high = numbers.count
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
