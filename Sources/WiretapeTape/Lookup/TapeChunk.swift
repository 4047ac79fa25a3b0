internal import WiretapeBytes

/// The lines of one place of a tape's index.
struct TapeChunk: Sendable {
    /// The number of its first event.
    package let first: UInt64
    private var lines: [UInt8] = []
    /// Where the lines of its events begin, and where the last one ends.
    private var starts: [Int] = []
    /// Their lines.
    private var numbers: [Int] = []

    /// - Parameter until: the next place; nil at the end of the tape.
    init(_ inflow: consuming TapeInflow, _ place: TapeIndex.Place, until next: TapeIndex.Place?) throws(TapeError) {
        first = place.first
        inflow.seek(to: place.offset)
        while true {
            let step = try inflow.read(into: &lines)
            if step == .end || step == .memberEnd { break }
            if !inflow.isCompressed, let next, place.offset + UInt64(lines.count) >= next.offset {
                lines.removeSubrange(Int(next.offset - place.offset)...)
                break
            }
        }
        find(firstLine: Int(place.line), isHeaderFirst: place.offset == 0)
    }

    private mutating func find(firstLine: Int, isHeaderFirst: Bool) {
        var at = 0
        var passesHeader = isHeaderFirst
        var line = firstLine
        let lines = lines
        let bytes = lines.span
        while at < bytes.count {
            let end = firstIndex(of: 0x0a, in: bytes, from: at) ?? bytes.count
            if TapeReader.isEvent(bytes, at..<end) {
                if passesHeader {
                    passesHeader = false
                } else {
                    starts.append(at)
                    numbers.append(line)
                }
            }
            if !starts.isEmpty { line += 1 }
            at = end + 1
        }
    }

    /// Nil when it is not here.
    package func event(_ number: UInt64, isSparse: Bool) throws(TapeLineFault) -> TapeLookup.Found? {
        guard number >= first, number - first < UInt64(starts.count) else { return nil }
        let start = starts[Int(number - first)]
        let bytes = lines.span
        let end = firstIndex(of: 0x0a, in: bytes, from: start) ?? bytes.count
        var parser = TapeLineParser(sparse: isSparse)
        let (event, isUnframed) = try parser.parse(bytes.extracting(start..<end))
        return (event, numbers[Int(number - first)], isUnframed)
    }
}
