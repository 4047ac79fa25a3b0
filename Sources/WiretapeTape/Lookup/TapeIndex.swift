/// Where the events of a tape stand, roughly: of each member, or each MiB of a plain tape, the first event. Made from what
/// ``TapeReader`` reads; 20 bytes an entry.
package struct TapeIndex: Sendable {
    /// Plain tapes: bytes between two entries.
    package static let stride: UInt64 = 1 << 20

    package let isCompressed: Bool
    private var numbers: [UInt64] = []
    private var offsets: [UInt64] = []
    private var lines: [UInt32] = []

    package init(isCompressed: Bool) { self.isCompressed = isCompressed }

    /// Takes in the next event of the tape.
    package mutating func add(_ event: NumberedEvent) {
        if let last = offsets.last {
            guard isCompressed ? event.offset != last : event.offset - last >= TapeIndex.stride else { return }
        }
        numbers.append(event.number)
        offsets.append(event.offset)
        lines.append(UInt32(clamping: event.line))
    }

    package var count: Int { numbers.count }

    /// Where lines begin, and the number of the first event there.
    package struct Place: Hashable, Sendable {
        package var offset: UInt64
        package var first: UInt64
        /// The first event's line.
        package var line: UInt32
    }

    /// Where the event stands; nil when it is before the first.
    package func place(of number: UInt64) -> Place? {
        let at = count(upTo: number)
        return at > 0 ? place(at - 1) : nil
    }

    /// The place behind the one whose first event that is.
    package func place(after first: UInt64) -> Place? {
        let at = count(upTo: first)
        return at < numbers.count ? place(at) : nil
    }

    private func place(_ at: Int) -> Place { Place(offset: offsets[at], first: numbers[at], line: lines[at]) }

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
