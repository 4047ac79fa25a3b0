internal import WiretapeBytes
internal import WiretapePackets
package import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// Turns an archive of another tool into a tape: HTTP archives, mitmproxy's flows, stubs. The file is read twice: first for the
/// order of its entries, then entry by entry. Memory: one entry, and the events of entries that overlap in time.
package final class ForeignImport {
    package enum Format: String, CaseIterable, Sendable { case har, flows, hoverfly, wiremock }

    /// Where an entry stands in the file, and when it begins: nanoseconds since 1970, or its first line's number.
    private struct Place {
        var key: UInt64
        var offset: UInt64
        var length: Int
        var number: Int
    }

    private enum Entry {
        case exchange(ForeignExchange)
        case lines([(number: UInt64, line: [UInt8])])
        case leftOut(String)
    }

    private static let pieceSize = 1 << 20

    private let format: Format
    private let source: any ForeignSource
    private let memory: Int
    private var places: [Place] = []
    private var vendor: HARVendor.Log?
    private var isPlain = false
    private var earliest = UInt64.max
    package private(set) var report = ForeignReport()

    /// - Parameter memory: what may be held of the file.
    package init(_ format: Format, _ source: any ForeignSource, memory: Int) {
        self.format = format
        self.source = source
        self.memory = memory
    }

    /// When the first entry begins, nanoseconds since 1970; nil where the file has no times.
    package var firstTime: UInt64? { hasTimes && earliest != .max ? earliest : nil }

    private var hasTimes: Bool { format == .har || format == .flows }

    /// Of the tape that the archive was made of, when all of it is still there.
    package var restored: (header: TapeHeader, line: [UInt8])? {
        guard let vendor, !isPlain, !places.isEmpty || !vendor.lines.isEmpty else { return nil }
        return (vendor.header, vendor.headerLine)
    }

    /// Entries that can be on the tape.
    package var count: Int { places.count }

    // MARK: The first pass

    /// Reads the file for the order of its entries. What is wrong with it is in the report; what stands before is kept.
    package func scan(_ progress: (UInt64) -> Void) {
        do throws(CaptureFault) {
            switch format {
            case .har: try scan(JSONItems(["log", "entries"], most: memory / 8), progress)
            case .hoverfly: try scan(JSONItems(["data", "pairs"], most: memory / 8), progress)
            case .wiremock: try scan(JSONItems(["mappings"], most: memory / 8), progress)
            case .flows: try scan(TNetItems(most: memory / 8), progress)
            }
        } catch {
            report.fault = error
        }
        places.sort { ($0.key, $0.number) < ($1.key, $1.number) }
        if vendor != nil, isPlain {
            report.note("entries were put in or changed since it was exported: it is read as any HAR")
        }
        report.isRestored = restored != nil
    }

    private func scan(_ cut: some ArchiveItems, _ progress: (UInt64) -> Void) throws(CaptureFault) {
        var items = cut
        var at: UInt64 = 0
        while true {
            let count = try read(at: at) { items.append($0) }
            at += UInt64(count)
            try take { items.next() }
            progress(at)
            guard count > 0 else { break }
        }
        if let torn = items.torn { throw torn }
    }

    private func read(at offset: UInt64, _ body: (Span<UInt8>) -> Void) throws(CaptureFault) -> Int {
        var piece: [UInt8] = []
        let count = try source.read(at: offset, limit: ForeignImport.pieceSize, into: &piece)
        body(piece.span)
        return count
    }

    private func take(_ next: () -> ArchiveStep) throws(CaptureFault) {
        while true {
            switch next() {
            case .more: return
            case .bad(let fault): throw fault
            case .member(let name, let text, let offset): try member(name, text, at: offset)
            case .item(let text, let offset): try index(text, at: offset)
            }
        }
    }

    private func member(_ name: String, _ text: [UInt8], at offset: UInt64) throws(CaptureFault) {
        switch name {
        case "log/creator", "log/browser":
            guard let value = try? JSONValue(parsing: text), let maker = value["name"]?.string else { return }
            let words = [maker, value["version"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
            if report.maker == nil || name == "log/browser" { report.maker = words }
        case "log/" + HARVendor.key:
            do {
                let value = try JSONValue(parsing: text.span, most: mostValues)
                vendor = try HARVendor.log(value)
            } catch let fault as HARVendor.Fault {
                throw CaptureFault(offset: offset, reason: fault.reason)
            } catch let fault as JSONError {
                throw CaptureFault(offset: offset + UInt64(fault.offset), reason: fault.reason)
            } catch {
                throw CaptureFault(offset: offset, reason: "\(error)")
            }
        default: break
        }
    }

    private var mostValues: Int { max(1 << 16, memory / 256) }

    private func index(_ text: [UInt8], at offset: UInt64) throws(CaptureFault) {
        let number = places.count
        var place = Place(key: 0, offset: offset, length: text.count, number: number)
        if format == .har, !isPlain, let lines = try ownLines(text, at: offset) {
            place.key = lines.map(\.number).min() ?? 0
            restoredKeys.append(place)
        } else {
            isPlain = true
        }
        let entry = try entry(text, at: offset, asPlain: true)
        guard case .exchange(let exchange) = entry else {
            if case .leftOut(let reason) = entry { report.note("left out: \(reason)") }
            return
        }
        earliest = min(earliest, exchange.requestTime)
        _ = report.name(of: exchange.server)
        place.key = exchange.requestTime
        places.append(place)
    }

    private var restoredKeys: [Place] = []

    private func ownLines(_ text: [UInt8], at offset: UInt64) throws(CaptureFault) -> [(number: UInt64, line: [UInt8])]?
    {
        let value = try parsed(text, at: offset)
        do throws(HARVendor.Fault) {
            return try HARVendor.lines(of: value)
        } catch {
            throw CaptureFault(offset: offset, reason: error.reason)
        }
    }

    private func parsed(_ text: [UInt8], at offset: UInt64) throws(CaptureFault) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: text.span, most: mostValues)
        } catch {
            throw CaptureFault(offset: offset + UInt64(error.offset), reason: error.reason)
        }
    }

    private func entry(_ text: [UInt8], at offset: UInt64, asPlain: Bool) throws(CaptureFault) -> Entry {
        do {
            switch format {
            case .flows:
                var left = mostValues
                let flow = try TNetValue(text.span, origin: offset, left: &left)
                guard let exchange = try FlowEntry.read(flow) else { return .leftOut("a flow that is no HTTP") }
                return .exchange(exchange)
            case .har:
                let value = try parsed(text, at: offset)
                if !asPlain { return .lines(try HARVendor.lines(of: value) ?? []) }
                return .exchange(try HAREntry.read(value, from: source, memory: memory / 4))
            case .hoverfly:
                return .exchange(try StubEntry(source, memory: memory / 4, time: 0).hoverfly(parsed(text, at: offset)))
            case .wiremock:
                return .exchange(try StubEntry(source, memory: memory / 4, time: 0).wiremock(parsed(text, at: offset)))
            }
        } catch let skip as ForeignSkip {
            return .leftOut(skip.reason)
        } catch let fault as CaptureFault {
            throw fault
        } catch let fault as HAREntry.Fault {
            throw CaptureFault(offset: offset, reason: "entry \(places.count + 1): \(fault.reason)")
        } catch let fault as FlowEntry.Fault {
            throw CaptureFault(offset: offset, reason: "flow \(places.count + 1): \(fault.reason)")
        } catch let fault as StubEntry.Fault {
            throw CaptureFault(offset: offset, reason: "stub \(places.count + 1): \(fault.reason)")
        } catch let fault as HARVendor.Fault {
            throw CaptureFault(offset: offset, reason: fault.reason)
        } catch {
            throw CaptureFault(offset: offset, reason: "\(error)")
        }
    }

    // MARK: The second pass

    /// Writes what was found.
    /// - Parameter asIs: lines of a tape that the archive was made of are copied; else their secrets go.
    package func write(to tape: CapturedTape, asIs: Bool, _ progress: (UInt64) -> Void) throws {
        guard restored == nil else { return try restore(to: tape, asIs: asIs, progress) }
        var timeline = ForeignTimeline(origin: hasTimes ? (firstTime ?? 0) / 1_000 * 1_000 : 0, memory: memory / 2)
        for (i, place) in places.enumerated() {
            let found = try entry(
                source.bytes(at: place.offset, count: place.length), at: place.offset, asPlain: true)
            guard case .exchange(let exchange) = found else { continue }
            while let item = timeline.next(before: timeline.key(of: exchange.requestTime)) { try put(item, tape) }
            for note in Set(exchange.notes + exchange.remarks).sorted() { report.note(note) }
            timeline.add(exchange, upstream: report.name(of: exchange.server))
            report.exchanges += 1
            try check(timeline)
            progress(UInt64(i))
        }
        while let item = timeline.next() { try put(item, tape) }
        report.connections = UInt64(timeline.connections)
        try tape.finish()
    }

    private func restore(to tape: CapturedTape, asIs: Bool, _ progress: (UInt64) -> Void) throws {
        var timeline = ForeignTimeline(origin: 0, memory: memory / 2)
        var writer = RestoredLines(tape, asIs: asIs)
        // Events of the tape are numbered from 1 on: those of an entry that was taken away are missing.
        var (own, last): (UInt64, UInt64) = (0, 0)
        func put(_ lines: [(number: UInt64, line: [UInt8])]) {
            for (number, line) in lines {
                timeline.put(line: line, number: number)
                guard TapeReader.isEvent(line.span, line.indices) else { continue }
                own += 1
                last = max(last, number)
            }
        }
        put(vendor?.lines ?? [])
        restoredKeys.sort { ($0.key, $0.number) < ($1.key, $1.number) }
        for (i, place) in restoredKeys.enumerated() {
            while case .line(let line)? = timeline.next(before: ForeignTimeline.lineKey(place.key)) {
                try writer.put(line)
            }
            let text = try source.bytes(at: place.offset, count: place.length)
            guard case .lines(let lines) = try entry(text, at: place.offset, asPlain: false) else { continue }
            put(lines)
            report.exchanges += 1
            try check(timeline)
            progress(UInt64(i))
        }
        while case .line(let line)? = timeline.next() { try writer.put(line) }
        if own < last {
            report.note("events of the tape that the archive was made of are missing in it: \(last - own) of \(last)")
        }
        if own > last { report.note("events of the tape that the archive was made of stand in it twice") }
        report.isRestored = own == last
        report.connections = writer.connections
        try writer.finish()
    }

    private func put(_ item: ForeignTimeline.Item, _ tape: CapturedTape) throws {
        guard case .event(let event) = item else { return }
        try tape.take(event)
    }

    private func check(_ timeline: ForeignTimeline) throws {
        guard timeline.isTooMuch else { return }
        throw CaptureFault(
            offset: 0,
            reason: "what overlaps in time takes more than --memory allows (\(ByteSize.text(memory))); raise it")
    }
}

/// Puts lines of an earlier tape on a new one.
private struct RestoredLines {
    private let tape: CapturedTape
    private let asIs: Bool
    private var parser = TapeLineParser()
    /// A `stop` is true only while no line is missing before it.
    private var stop: (line: [UInt8], event: TapeEvent)?
    private(set) var connections: UInt64 = 0
    /// The latest time of its take.
    private var lastTime: UInt64 = 0

    init(_ tape: CapturedTape, asIs: Bool) {
        self.tape = tape
        self.asIs = asIs
    }

    mutating func put(_ line: [UInt8]) throws {
        guard TapeReader.isEvent(line.span, line.indices) else {
            if asIs { try tape.take(line: line, nil) }
            return
        }
        let event: TapeEvent
        do throws(TapeLineFault) {
            event = try parser.parse(line.span).event
        } catch {
            throw CaptureFault(offset: 0, reason: "a line of _wiretape is no event of a tape: \(error.reason)")
        }
        try follow(event)
        if case .open = event.kind { connections += 1 }
        if let stop, asIs { try tape.take(line: stop.line, stop.event) }
        stop = nil
        if case .stop = event.kind { return stop = (line, event) }
        if asIs { try tape.take(line: line, event) } else { try tape.take(event) }
    }

    /// Where times go back within a take somebody has changed them: what follows stands nowhere.
    private mutating func follow(_ event: TapeEvent) throws {
        if case .take = event.kind { lastTime = 0 }
        guard event.time >= lastTime else {
            throw CaptureFault(
                offset: 0, reason: "a line of _wiretape is of a time before the line that it stands behind")
        }
        lastTime = event.time
    }

    mutating func finish() throws {
        guard let stop else { return asIs ? try tape.finishAsIs() : try tape.finish() }
        guard asIs, case .stop(let events, _, _) = stop.event.kind, events == tape.events else {
            return try tape.finish()
        }
        try tape.take(line: stop.line, stop.event)
        try tape.finishAsIs()
    }
}
