internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeSystem

/// Reads a tape (`docs/tape-format.md`), compressed or plain, event by event. Memory does not grow with the tape: a line
/// has at most 64 MiB. The end of the file is no final state: when it has grown, ``next()`` reads on.
package struct TapeReader: ~Copyable {
    package let header: TapeHeader
    /// The number of the last event that was read; 0 before the first.
    package internal(set) var number: UInt64 = 0
    /// Whether a `stop` was read and nothing after it: the recording ended properly.
    package private(set) var isStopped = false

    package var inflow: TapeInflow
    package var lines: [UInt8]
    /// Where the next line begins, and up to where no line feed was found.
    package var at: Int
    var scanned: Int
    /// Of the next line; 0: not known.
    package var line: Int
    /// The last line came without its line feed, which may follow when the tape grows.
    var owesLineFeed = false
    /// Plain tapes: file offset of `lines[0]`.
    package var origin: UInt64
    package var parser: TapeLineParser
    /// Events before this time are passed over (after a seek).
    package var from: UInt64?

    package static let longestLine = 64 << 20
    private let longest: Int

    /// The longest line for a reader that has so many bytes: the line, its payload, and a message and its meaning are held at
    /// once.
    package static func longestLine(memory: Int) -> Int { min(longestLine, memory / 4) }

    /// - Parameter longestLine: a longer one is an error.
    package init(
        path: String, longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws(TapeError) {
        try self.init(TapeInput(path: path, in: files), longestLine)
    }

    /// - Parameter name: what errors call it.
    package init(bytes: [UInt8], name: String, longestLine: Int = TapeReader.longestLine) throws(TapeError) {
        try self.init(TapeInput(bytes, name: name), longestLine)
    }

    private init(_ input: consuming TapeInput, _ longest: Int) throws(TapeError) {
        self.longest = longest
        var start = try TapeStart(TapeInflow(input))
        header = start.header
        parser = TapeLineParser(sparse: start.header.protocolID != nil)
        lines = start.lines
        at = start.at
        scanned = start.at
        line = start.line
        origin = 0
        start.lines = []
        inflow = start.inflow
    }

    /// As it was given.
    package var name: String { inflow.name }
    package var isCompressed: Bool { inflow.isCompressed }
    /// Bytes of the file that were used, and that it has now.
    package var progress: (read: UInt64, size: UInt64) { (inflow.offset, max(inflow.offset, inflow.size)) }
    /// Bytes that were inflated so far (of a plain tape: read).
    package var inflated: UInt64 { inflow.inflated }
    /// At the end: whether the file ends within a line or member, as that of a recorder that was killed does.
    package var isTruncated: Bool { inflow.isTorn || at < lines.count }

    /// The next event, or nil when there is none now.
    /// - Throws: an error that names the place and the event before. The reader is of no more use then.
    package mutating func next() throws(TapeError) -> NumberedEvent? {
        while let range = try nextLine() {
            let place = inflow.isCompressed ? inflow.memberOffset : origin + UInt64(range.lowerBound)
            line += line > 0 ? 1 : 0
            guard TapeReader.isEvent(lines.span, range) else { continue }
            do {
                let lines = lines
                let (event, isUnframed) = try parser.parse(lines.span.extracting(range))
                number += 1
                if let from, event.time < from { continue }
                from = nil
                if case .stop = event.kind { isStopped = true } else { isStopped = false }
                return NumberedEvent(
                    number: number, line: max(0, line - 1), offset: place, event: event, isUnframed: isUnframed)
            } catch {
                throw fault(error, at: place)
            }
        }
        return nil
    }

    package static func tooLong(_ longest: Int) -> String {
        "a line of more than \(ByteSize.text(longest))"
            + (longest < longestLine ? ", which takes more than --memory allows" : "")
    }

    /// The line's range in `lines` without its line feed.
    private mutating func nextLine() throws(TapeError) -> Range<Int>? {
        while true {
            if owesLineFeed, at < lines.count {
                owesLineFeed = false
                if lines[at] == 0x0a { at += 1 }
                scanned = at
            }
            if let end = firstIndex(of: 0x0a, in: lines.span, from: scanned) {
                let range = at..<end
                at = end + 1
                scanned = at
                return range
            }
            scanned = lines.count
            guard lines.count - at <= longest else {
                throw error(.tooLarge, at: inflow.memberOffset, TapeReader.tooLong(longest))
            }
            compact()
            do {
                if try inflow.read(into: &lines) == .end { return wholeLastLine() }
            } catch {
                throw TapeError(
                    error.kind, file: error.file, offset: error.offset, event: number,
                    number > 0 && error.kind == .damaged
                        ? "\(error.message), after event \(number); `wiretape repair` saves what can be saved"
                        : error.message)
            }
        }
    }

    /// A last line that only lacks its line feed, as editors leave it.
    private mutating func wholeLastLine() -> Range<Int>? {
        let range = at..<lines.count
        let isEvent = TapeReader.isEvent(lines.span, range)
        // What was cut off within an event never parses.
        if isEvent, (try? TapeFields(parsing: lines.span.extracting(range))) == nil { return nil }
        at = range.upperBound
        scanned = at
        owesLineFeed = true
        return isEvent ? range : nil
    }

    private mutating func compact() {
        guard at > 0 else { return }
        origin += UInt64(at)
        if at == lines.count { lines.removeAll(keepingCapacity: true) } else { lines.removeSubrange(..<at) }
        scanned -= at
        at = 0
    }

    /// Neither blank nor a comment.
    package static func isEvent(_ lines: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for i in range where lines[i] != 0x20 && lines[i] != 0x09 && lines[i] != 0x0d {
            return lines[i] != UInt8(ascii: "#")
        }
        return false
    }

    package func error(_ kind: TapeError.Kind, at offset: UInt64, _ message: String) -> TapeError {
        TapeError(kind, file: name, offset: offset, event: number, message)
    }

    private func fault(_ fault: TapeLineFault, at place: UInt64) -> TapeError {
        let where_ = line > 1 ? "line \(line - 1)" : "the line after event \(number)"
        return error(
            .badLine, at: place,
            "\(where_) (\(inflow.isCompressed ? "member " : "")at byte \(place), column \(fault.offset + 1)): \(fault.reason)"
        )
    }
}
