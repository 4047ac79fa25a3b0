internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRuntime
package import WiretapeSystem
package import WiretapeTape

/// Saves what can be saved of a damaged tape: every whole line of every readable member, in order, as it was. Members
/// whose checksum is wrong are left out as a whole, since any of their lines may be wrong; of a member that the end of
/// the file cuts, the whole lines stay. Nothing is made up: what is known to be missing becomes a `gap`, and no `stop` is
/// added. Memory: the lines of a member, at most 80 MiB.
package struct TapeRepair: ~Copyable {
    private var inflow: TapeInflow
    private var output: TapeLineOutput
    private var report = RepairReport()
    private var parser = TapeLineParser()
    /// Whether the output has its first line.
    private var hasHeader = false
    /// What was inflated and not yet taken.
    private var lines: [UInt8] = []
    /// The number that the next event had on the damaged tape; nil when it is not known.
    private var expected: UInt64? = 1
    /// Something was left out since the last line that was taken.
    private var isBroken = false

    /// Lines of a member beyond this are taken before its checksum is known.
    private let mostLines: Int

    private init(
        _ input: consuming TapeInput, _ output: consuming TapeLineOutput, memory: Int = MemoryBudget.standard
    ) throws(TapeError) {
        mostLines = min(80 << 20, memory / 3)
        guard input.size > 0 else { throw TapeError(.empty, file: input.name, "is empty: there is nothing to save") }
        inflow = try TapeInflow(input)
        self.output = output
    }

    /// Repairs the tape at `path`, into `output` or in its place (by way of a file beside it that is then renamed). A
    /// tape without damage is left as it is when it would be replaced by itself.
    /// - Parameters:
    ///   - force: whether an `output` that is there is overwritten.
    ///   - memory: what may be held. With less, fewer lines of a member wait for its checksum.
    package static func repair(
        path: String, to output: String? = nil, force: Bool = false, memory: Int = MemoryBudget.standard,
        in files: any FileSystem = SystemFiles()
    ) throws -> RepairReport {
        if output == nil {
            let report = try TapeRepair(
                TapeInput(path: path, in: files), TapeLineOutput(nil, isCompressed: true), memory: memory
            ).run().report
            if report.isIntact { return report }
        }
        let target = output.map { TapeRewrite.Target.file($0, force: force) } ?? .place
        let isCompressed = try TapeInflow(TapeInput(path: path, in: files)).isCompressed
        var report = RepairReport()
        try TapeRewrite.write(target, of: path, isCompressed: isCompressed, in: files) { output in
            var own = TapeLineOutput(nil, isCompressed: false)
            swap(&own, &output)
            let done = try TapeRepair(TapeInput(path: path, in: files), own, memory: memory).run()
            report = done.report
            output = done.output
        }
        return report
    }

    /// Repairs a tape in memory.
    package static func repair(bytes: [UInt8], name: String, isCompressed: Bool) throws(TapeError)
        -> (bytes: [UInt8], report: RepairReport)
    {
        let output = TapeLineOutput(nil, isCompressed: isCompressed, keeps: true)
        let done = try TapeRepair(TapeInput(bytes, name: name), output).run()
        return (done.output.kept, done.report)
    }

    private struct Done: ~Copyable {
        var output: TapeLineOutput
        var report: RepairReport
    }

    private consuming func run() throws(TapeError) -> Done {
        if inflow.isCompressed { try members() } else { try plainLines() }
        guard report.events > 0 || (hasHeader && !report.isHeaderLost) else {
            throw TapeError(.notATape, file: inflow.name, "has no line of a tape that could be saved")
        }
        try output.finish()
        return Done(output: output, report: report)
    }

    private mutating func plainLines() throws(TapeError) {
        while try inflow.read(into: &lines) == .bytes { try takeLines() }
        try takeLastLine()
    }

    private mutating func members() throws(TapeError) {
        var offset: UInt64 = 0
        while offset < inflow.size {
            let info = try inflow.member(at: offset)
            inflow.seek(to: offset)
            do throws(TapeError) {
                guard try member(info) else { break }
                offset = inflow.offset
            } catch {
                guard error.kind == .damaged || error.kind == .tooLarge else { throw error }
                report.damagedMembers.append(offset)
                lines.removeAll()
                isBroken = true
                guard let next = try inflow.nextMember(after: offset) else {
                    try settleAtTheEnd(info)
                    return
                }
                offset = next
            }
        }
        try takeLastLine()
    }

    /// Takes the member that begins here. False when the file ends in it.
    private mutating func member(_ info: MemberInfo?) throws(TapeError) -> Bool {
        while true {
            let step = try inflow.read(into: &lines)
            if step == .bytes, lines.count <= mostLines { continue }
            try settle(info)
            try takeLines()
            switch step {
            case .bytes: continue
            case .memberEnd:
                if let info {
                    if info.events > 0 { expected = info.firstEvent.addingReportingOverflow(UInt64(info.events)).0 }
                } else {
                    expected = nil
                }
                return true
            case .end:
                report.isTruncated = report.isTruncated || inflow.isTorn
                return false
            }
        }
    }

    // MARK: Losses

    /// Before lines of a readable member are taken: says what is missing between them and the last ones.
    private mutating func settle(_ info: MemberInfo?) throws(TapeError) {
        guard isBroken else { return }
        isBroken = false
        guard let info, info.events > 0, let expected, info.firstEvent >= expected else {
            report.isMoreLost = true
            return
        }
        try lose(info.firstEvent - expected)
    }

    /// The damaged member was the last one.
    private mutating func settleAtTheEnd(_ info: MemberInfo?) throws(TapeError) {
        guard let info, info.firstEvent == expected || info.events == 0 else {
            report.isMoreLost = true
            return
        }
        try lose(UInt64(info.events))
    }

    private mutating func lose(_ events: UInt64) throws(TapeError) {
        // A number that no file of this size could hold comes from a damaged header.
        guard events <= inflow.size.multipliedReportingOverflow(by: 1000).partialValue else {
            report.isMoreLost = true
            return
        }
        guard events > 0 else { return }
        report.lost += events
        try begin(nil)
        try output.gap(events)
    }

    // MARK: Lines

    private mutating func takeLines() throws(TapeError) {
        var at = 0
        while let end = firstIndex(of: 0x0a, in: lines.span, from: at) {
            try take(at..<end)
            at = end + 1
        }
        guard lines.count - at <= TapeReader.longestLine else {
            throw TapeError(.tooLarge, file: inflow.name, offset: inflow.memberOffset, "a line of more than 64 MiB")
        }
        if at == lines.count { lines.removeAll(keepingCapacity: true) } else { lines.removeSubrange(..<at) }
    }

    /// The rest, when it only lacks its line feed; what was cut off never parses.
    private mutating func takeLastLine() throws(TapeError) {
        guard TapeReader.isEvent(lines.span, lines.indices) else { return }
        if (try? TapeFields(parsing: lines.span)) == nil {
            report.isTruncated = true
        } else {
            try take(lines.indices)
        }
    }

    private mutating func take(_ range: Range<Int>) throws(TapeError) {
        let lines = lines
        let line = lines.span.extracting(range)
        guard TapeReader.isEvent(lines.span, range) else {
            // Comments stay where they are.
            if !range.isEmpty { try output.line(line, event: nil) }
            return
        }
        if !hasHeader, let header = TapeLineParser.header(line) {
            guard header.version <= TapeHeader.currentVersion else {
                throw TapeError(
                    .newerVersion, file: inflow.name,
                    "is a tape of version \(header.version); this wiretape reads up to \(TapeHeader.currentVersion)")
            }
            parser = TapeLineParser(sparse: header.protocolID != nil)
            return try begin(line)
        }
        guard let (event, _) = try? parser.parse(line) else {
            report.badLines += 1
            return try lose(hasHeader ? 1 : 0)
        }
        try begin(nil)
        report.events += 1
        if case .stop = event.kind { report.isStopped = true } else { report.isStopped = false }
        try output.line(line, event: event)
    }

    /// Writes the first line: the header as it was, or an empty one where it was lost.
    private mutating func begin(_ header: Span<UInt8>?) throws(TapeError) {
        guard !hasHeader else { return }
        hasHeader = true
        if let header { return try output.line(header, event: nil) }
        report.isHeaderLost = true
        var line: [UInt8] = []
        TapeLines.appendHeader(TapeHeader(), into: &line)
        line.removeLast()
        try output.line(line.span, event: nil)
    }
}
