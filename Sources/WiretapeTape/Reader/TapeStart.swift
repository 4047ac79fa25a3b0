internal import WiretapeBytes
internal import WiretapeProtocol

/// The beginning of a tape: up to and with its header.
struct TapeStart: ~Copyable {
    package let header: TapeHeader
    package var inflow: TapeInflow
    /// What was read, the header's line included.
    package var lines: [UInt8] = []
    /// Where the line after the header begins, and its number.
    package private(set) var at = 0
    package private(set) var line = 1

    /// A first line longer than this is no header.
    static let longest = 1 << 20

    init(_ inflow: consuming TapeInflow) throws(TapeError) {
        var inflow = inflow
        let name = inflow.name
        guard inflow.size > 0 || inflow.input.available > 0 else {
            throw TapeError(.empty, file: name, "is empty: no tape was recorded there")
        }
        var lines: [UInt8] = []
        var at = 0
        var line = 1
        while true {
            let end = firstIndex(of: 0x0a, in: lines.span, from: at)
            guard end != nil || lines.count - at <= TapeStart.longest else { throw TapeStart.notATape(name) }
            if let end {
                let range = at..<end
                at = end + 1
                line += 1
                guard TapeReader.isEvent(lines.span, range) else { continue }
                header = try TapeStart.header(lines.span.extracting(range), name)
                break
            }
            var step = TapeInflow.Step.end
            do {
                step = try inflow.read(into: &lines)
            } catch {
                // Whatever begins with gzip's magic and is nothing of ours.
                let isOurs = try inflow.member(at: 0) != nil || inflow.inflated > 0
                throw error.kind == .damaged && !isOurs ? TapeStart.notATape(name) : error
            }
            guard step == .end else { continue }
            // A header without its line feed is a tape without events.
            guard TapeReader.isEvent(lines.span, at..<lines.count) else { throw TapeStart.nothing(name, inflow.isTorn) }
            if inflow.isTorn { throw TapeStart.nothing(name, true) }
            header = try TapeStart.header(lines.span.extracting(at..<lines.count), name)
            at = lines.count
            line += 1
            break
        }
        self.inflow = inflow
        self.lines = lines
        self.at = at
        self.line = line
    }

    package static func header(_ line: Span<UInt8>, _ name: String) throws(TapeError) -> TapeHeader {
        guard let header = TapeLineParser.header(line) else { throw notATape(name) }
        guard header.version <= TapeHeader.currentVersion else {
            throw TapeError(
                .newerVersion, file: name,
                "is a tape of version \(header.version); this wiretape reads up to \(TapeHeader.currentVersion)")
        }
        return header
    }

    package static func notATape(_ name: String) -> TapeError {
        TapeError(.notATape, file: name, #"is not a tape: its first line is not {"tape":1,…}"#)
    }

    private static func nothing(_ name: String, _ torn: Bool) -> TapeError {
        TapeError(.empty, file: name, torn ? "was cut off before its first line ended" : "has no header and no events")
    }
}
