internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeSystem

/// Reads a tape line by line, comments and bad lines included: for the tools that copy or check tapes. Memory: one line.
package struct TapeLineReader: ~Copyable {
    private var inflow: TapeInflow
    private var parser = TapeLineParser()
    private var lines: [UInt8] = []
    private var at = 0
    private var scanned = 0
    private var line = 0
    private var number: UInt64 = 0
    private var isOver = false
    /// Nil before its line was read.
    package private(set) var header: TapeHeader?
    /// At the end: whether the file ends within a line or member, as that of a recorder that was killed does.
    package private(set) var isTruncated = false

    private let longest: Int

    /// The longest line for a reader that has so many bytes: a ``TapeReader`` has one copy less.
    package static func longestLine(memory: Int) -> Int { min(TapeReader.longestLine, memory / 5) }

    /// - Parameter longestLine: a longer one is an error.
    package init(
        path: String, longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws(TapeError) {
        try self.init(TapeInput(path: path, in: files), longestLine)
    }

    /// - Parameter name: what errors call it.
    package init(bytes: [UInt8], name: String) throws(TapeError) {
        try self.init(TapeInput(bytes, name: name), TapeReader.longestLine)
    }

    private init(_ input: consuming TapeInput, _ longest: Int) throws(TapeError) {
        self.longest = longest
        inflow = try TapeInflow(input)
    }

    package var isCompressed: Bool { inflow.isCompressed }
    package var name: String { inflow.name }
    package var progress: (read: UInt64, size: UInt64) { (inflow.offset, max(inflow.offset, inflow.size)) }

    /// The next line, or nil at the end. A last line that does not parse is no line: it was cut off.
    /// - Throws: when the file is no tape or is damaged, naming the place. The reader is of no more use then.
    package mutating func next() throws(TapeError) -> TapeLine? {
        guard let range = try nextLine() else {
            guard header != nil else {
                throw TapeError(.empty, file: name, inflow.size == 0 ? "is empty" : "has no header and no events")
            }
            return nil
        }
        line += 1
        var bytes: [UInt8] = []
        bytes.append(copying: lines.span.extracting(range))
        if bytes.last == 0x0d { bytes.removeLast() }
        let what = try what(bytes)
        return TapeLine(bytes: bytes, line: line, number: number, what: what)
    }

    private mutating func what(_ bytes: [UInt8]) throws(TapeError) -> TapeLine.What {
        guard TapeReader.isEvent(bytes.span, bytes.indices) else { return .comment }
        guard header != nil else {
            let header = try TapeStart.header(bytes.span, name)
            self.header = header
            parser = TapeLineParser(sparse: header.protocolID != nil)
            return .header(header)
        }
        do {
            let (event, isUnframed) = try parser.parse(bytes.span)
            number += 1
            return .event(event, isUnframed: isUnframed)
        } catch {
            return .bad(error)
        }
    }

    private mutating func nextLine() throws(TapeError) -> Range<Int>? {
        while !isOver {
            if let end = firstIndex(of: 0x0a, in: lines.span, from: scanned) {
                let range = at..<end
                at = end + 1
                scanned = at
                return range
            }
            scanned = lines.count
            guard lines.count - at <= longest else {
                throw TapeError(
                    .tooLarge, file: name, offset: inflow.memberOffset, event: number, TapeReader.tooLong(longest))
            }
            guard header != nil || lines.count - at <= TapeStart.longest else { throw TapeStart.notATape(name) }
            if at > 0 {
                lines.removeSubrange(..<at)
                scanned -= at
                at = 0
            }
            if try read() { continue }
            isOver = true
            isTruncated = inflow.isTorn
            return lastLine()
        }
        return nil
    }

    /// False at the end.
    private mutating func read() throws(TapeError) -> Bool {
        do {
            return try inflow.read(into: &lines) != .end
        } catch {
            if header == nil, error.kind == .damaged, inflow.inflated == 0 { throw TapeStart.notATape(name) }
            let hint = "; `wiretape repair` saves what can be saved"
            throw TapeError(
                error.kind, file: error.file, offset: error.offset, event: number,
                error.kind == .damaged ? "\(error.message), after event \(number)\(hint)" : error.message)
        }
    }

    /// What follows the last line feed.
    private mutating func lastLine() -> Range<Int>? {
        let range = at..<lines.count
        at = lines.count
        guard !range.isEmpty else { return nil }
        if TapeReader.isEvent(lines.span, range), (try? TapeFields(parsing: lines.span.extracting(range))) == nil {
            isTruncated = true
            return nil
        }
        return range
    }
}
