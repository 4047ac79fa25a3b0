internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRedaction
package import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

/// Joins tapes into one. Connections and events are numbered anew, and so are pseudonyms that an earlier tape has, too; there is
/// one clock, so that later takes are no takes any more. Memory: a line and the open connections of each tape, and its pseudonyms.
package enum TapeMerge {
    package enum Order: String, CaseIterable, Sendable {
        /// As it happened: by the times at which the recordings were started.
        case time
        /// One behind the other.
        case sequence
    }

    package struct Result: Hashable, Sendable {
        package var events: UInt64
        package var connections: UInt64
        /// Pseudonyms that got another number, and those that there was none for.
        package var renumbered: Int
        package var unnumbered: Int
    }

    /// - Parameter isOneServer: upstreams of one name are one, wherever they were when: the address of the first tape that has it counts.
    ///   Else those at different addresses get names of their own.
    package static func write(
        _ paths: [String], by order: Order, isOneServer: Bool = false, to target: TapeRewrite.Target, tool: String,
        longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws -> Result {
        // A reader holds its file open: as many as there are tapes.
        var sources: [MergeSource] = []
        var numbers = PseudonymNumbers()
        for path in paths {
            let new = numbers.add(try TapeRedactor.numbers(on: path, longestLine: longestLine, in: files))
            sources.append(try MergeSource(path, pseudonyms: new, longestLine: longestLine, in: files))
        }
        let header = MergeHeader(sources, by: order, isOneServer: isOneServer, tool: tool)
        var merger = Merger(sources, header, by: order)
        try TapeRewrite.write(target, of: paths[0], isCompressed: true, in: files) { output in
            var line: [UInt8] = []
            TapeLines.appendHeader(header.header, into: &line)
            line.removeLast()
            try output.line(line.span, event: nil)
            while let new = try merger.next() { try output.line(new.bytes.span, event: new.event) }
        }
        return Result(
            events: merger.events, connections: merger.connections, renumbered: numbers.changed,
            unnumbered: numbers.unnumbered)
    }
}

/// A tape that is merged, one line ahead.
final class MergeSource {
    let path: String
    private(set) var header = TapeHeader()
    private var reader: MergeReader
    /// The next event, and the comments before it.
    private(set) var line: TapeLine?
    private(set) var comments: [TapeNewLine] = []
    /// What the last line gave behind that.
    private var rest: [TapeLine] = []
    /// Gives the pseudonyms their new numbers; nil: they keep theirs, and lines stay as they are.
    private var renumbering: TapeRedactor?
    private var lastLine: TapeLine?
    /// On the tape's clock, of which later takes are a part.
    private(set) var time: UInt64 = 0
    private var clock = CutClock()
    /// New numbers of this tape's connections and events.
    var connections: [UInt32: UInt32] = [:]
    var numbers = NumberTrail()
    var isStopped = false
    private var isNewTake = false

    /// - Parameter pseudonyms: new numbers of those that do not keep theirs.
    init(_ path: String, pseudonyms: [Int: Int], longestLine: Int, in files: any FileSystem) throws {
        self.path = path
        renumbering = pseudonyms.isEmpty ? nil : TapeRedactor(renumbering: pseudonyms)
        reader = MergeReader(try TapeLineReader(path: path, longestLine: longestLine, in: files))
        try advance()
        guard header.protocolID == nil else {
            throw TapeError(
                .notATape, file: path,
                "is a sparse tape, whose openings stand nowhere; record its replay, and merge that")
        }
    }

    /// When the recording was started, in nanoseconds since 1970; nil when the tape does not tell.
    var started: UInt64? { header.started.flatMap { SystemClock.nanoseconds(rfc3339: $0) } }

    /// What stands in a text of the tape on the joined one.
    func renumbered(_ text: String) -> String { renumbering?.text(text) ?? text }

    func advance() throws {
        line = nil
        comments = []
        while rest.isEmpty, let next = try reader.reader.next() {
            // All of the take before has been written.
            if isNewTake { connections = [:] }
            isNewTake = false
            try take(next)
        }
        if rest.isEmpty, let lastLine {
            rest = stands(for: lastLine, renumbering?.rest() ?? [])
            self.lastLine = nil
        }
        line = rest.isEmpty ? nil : rest.removeFirst()
    }

    private func take(_ next: TapeLine) throws {
        switch next.what {
        case .header(let header): self.header = header
        case .comment: comments += renumbering?.change(next) ?? [TapeNewLine(next)]
        case .bad(let fault):
            throw TapeError(
                .badLine, file: path, event: next.number,
                "line \(next.line), column \(fault.offset + 1): \(fault.reason); see `wiretape validate \(path)`")
        case .event(let event, _):
            time = clock.read(event)
            lastLine = next
            rest = stands(for: next, renumbering?.change(next) ?? [TapeNewLine(next)])
            if case .take = event.kind {
                isNewTake = true
            } else if case .stop = event.kind {
                isStopped = true
            } else {
                isStopped = false
            }
        }
    }

    /// The events of new lines, in the place of an old one. Those that begin and end takes have no meaning any more.
    private func stands(for old: TapeLine, _ new: [TapeNewLine]) -> [TapeLine] {
        new.compactMap { one in
            guard let event = one.event else { return nil }
            if case .take = event.kind { return nil }
            if case .stop = event.kind { return nil }
            var line = old
            line.bytes = one.bytes
            line.what = .event(event, isUnframed: false)
            return line
        }
    }
}

/// Holds a reader, which cannot be copied.
private final class MergeReader {
    var reader: TapeLineReader

    init(_ reader: consuming TapeLineReader) { self.reader = reader }
}

/// The header of the joined tape, and what became of the upstreams' names.
struct MergeHeader {
    private(set) var header: TapeHeader
    /// New names of each tape's upstreams.
    private(set) var names: [[String: String]] = []
    /// What is added to each tape's times; of the tapes that follow each other it is not known before.
    private(set) var offsets: [UInt64] = []

    init(_ sources: [MergeSource], by order: TapeMerge.Order, isOneServer: Bool, tool: String) {
        let starts = sources.map { $0.started }
        let first = starts.compactMap(\.self).min()
        header = TapeHeader(
            started: first.map { SystemClock.rfc3339($0) } ?? sources.first?.header.started, tool: tool,
            mode: sources.first?.header.mode)
        for (i, source) in sources.enumerated() {
            var renamed: [String: String] = [:]
            for (name, url) in source.header.upstreams {
                var new = name
                var number = 2
                while !isOneServer, let other = header.upstreams.first(where: { $0.name == new }), other.url != url {
                    new = "\(name)-\(number)"
                    number += 1
                }
                if !header.upstreams.contains(where: { $0.name == new }) {
                    header.upstreams.append((new, source.renumbered(url)))
                }
                if new != name { renamed[name] = new }
            }
            names.append(renamed)
            offsets.append(starts[i].map { $0 - (first ?? $0) } ?? 0)
        }
        let redactions = sources.map { $0.header.redaction ?? "none" }
        header.redaction = redactions.contains("none") ? "none" : redactions.contains("rules") ? "rules" : "default"
    }
}

/// Takes the lines of several tapes in their order.
private struct Merger {
    private let sources: [MergeSource]
    private let header: MergeHeader
    private let order: TapeMerge.Order
    private var current = 0
    private var offset: UInt64 = 0
    private var lastTime: UInt64 = 0
    private var waiting: [TapeNewLine] = []
    private var isOver = false
    private(set) var events: UInt64 = 0
    private(set) var connections: UInt64 = 0

    init(_ sources: [MergeSource], _ header: MergeHeader, by order: TapeMerge.Order) {
        self.sources = sources
        self.header = header
        self.order = order
    }

    mutating func next() throws -> TapeNewLine? {
        while waiting.isEmpty {
            guard !isOver else { return nil }
            try fill()
        }
        return waiting.removeFirst()
    }

    private mutating func fill() throws {
        guard let i = chosen(), let line = sources[i].line, let event = line.event else { return finish() }
        let source = sources[i]
        waiting += source.comments
        let added = order == .time ? header.offsets[i] : offset
        let (sum, overflow) = source.time.addingReportingOverflow(added)
        lastTime = max(lastTime, overflow ? .max : sum)
        waiting.append(try written(line, event, source, header.names[i]))
        try source.advance()
        if source.line == nil { waiting += source.comments }
    }

    /// Which tape is next.
    private mutating func chosen() -> Int? {
        switch order {
        case .sequence:
            while current < sources.count, sources[current].line == nil {
                current += 1
                offset = lastTime
            }
            return current < sources.count ? current : nil
        case .time:
            let ready = sources.indices.filter { sources[$0].line != nil }
            return ready.min { at($0) < at($1) }
        }
    }

    private func at(_ i: Int) -> UInt64 {
        let (sum, overflow) = sources[i].time.addingReportingOverflow(header.offsets[i])
        return overflow ? .max : sum
    }

    /// The recordings have ended properly when all of them have.
    private mutating func finish() {
        isOver = true
        guard sources.allSatisfy(\.isStopped) else { return }
        let stop = TapeEvent(
            time: lastTime, connection: 0, .stop(events: events, connections: connections, level: nil))
        var bytes: [UInt8] = []
        TapeLines.append(stop, into: &bytes)
        bytes.removeLast()
        events += 1
        waiting.append(TapeNewLine(bytes, stop))
    }

    private mutating func written(
        _ line: TapeLine, _ old: TapeEvent, _ source: MergeSource, _ names: [String: String]
    ) throws -> TapeNewLine {
        var event = old
        var text = JSONText(line.bytes)
        events += 1
        event.time = lastTime
        source.numbers.note(line.number, is: events)
        do throws(JSONText.Fault) {
            if old.time != lastTime { try text.set("/t", to: Array("\(lastTime)".utf8)) }
            if old.connection > 0 {
                event.connection = number(old, source)
                if event.connection != old.connection {
                    try text.set("/c", to: Array("\(event.connection)".utf8))
                }
            }
            switch old.kind {
            case .open(let open):
                if let upstream = open.upstream, let new = names[upstream] {
                    try text.set("/upstream", to: Array(JSONValue.string(new).text.utf8))
                }
            case .fault(_, _, let reference?, _, _):
                if let new = source.numbers[reference] { try text.set("/ref", to: Array("\(new)".utf8)) }
            case .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault,
                .mark, .take, .gap, .missing, .stop, .unknown:
                break
            }
        } catch {
            throw TapeError(.badLine, file: source.path, event: line.number, "line \(line.line): \(error.reason)")
        }
        return TapeNewLine(text.bytes, event)
    }

    /// The connection's new number. One that is opened again is a new one.
    private mutating func number(_ event: TapeEvent, _ source: MergeSource) -> UInt32 {
        var isOpen = false
        if case .open = event.kind { isOpen = true }
        if !isOpen, let known = source.connections[event.connection] { return known }
        connections += 1
        let new = UInt32(clamping: connections)
        source.connections[event.connection] = new
        return new
    }
}
