internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Looks at every line of a tape: whether it is an event, whether the codecs can read it, and what sessions there are.
/// Memory does not grow with the tape.
package struct TapeValidator: Sendable {
    private var summary = TapeSummary()
    private var reader: SessionReader?
    private let codecs: [CodecEntry]
    private var decoded: [DecodedMessage] = []
    private var lastTime: UInt64 = 0
    private var opened: Set<UInt32> = []
    private var hasTake = false
    /// Lines that no reader takes for events.
    private var hasBadLines = false
    /// Connections that were complained about.
    private var strangers: Set<UInt32> = []
    private var sessions: [Int: (messages: Int, opaque: Int)] = [:]

    package init(codecs: [CodecEntry]) { self.codecs = codecs }

    /// - Parameter findings: gets what is wrong with the line.
    package mutating func check(_ line: TapeLine, into findings: inout [TapeFinding]) {
        let before = findings.count
        switch line.what {
        case .header(let header):
            summary.isSparse = header.protocolID != nil
            reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
            check(header, at: line.line, &findings)
        case .comment: summary.comments += 1
        case .bad(let fault):
            hasBadLines = true
            bad(line, fault, &findings)
        case .event(let event, let isUnframed):
            // The reader of lines forgives what other readers of JSON do not.
            if let fault = TapeValidator.notJSON(line.bytes) {
                bad(line, fault, &findings)
            } else {
                check(event, isUnframed: isUnframed, line, &findings)
            }
        }
        for finding in findings[before...] {
            summary.errors += finding.severity == .error ? 1 : 0
            summary.warnings += finding.severity == .warning ? 1 : 0
        }
    }

    /// - Parameter isTruncated: whether the file ends within a line or member.
    package mutating func finish(isTruncated: Bool, into findings: inout [TapeFinding]) -> TapeSummary {
        summary.isTruncated = isTruncated
        if isTruncated {
            findings.append(
                TapeFinding(.warning, line: 0, "the last event is cut off, as a recorder that was killed leaves it"))
            summary.warnings += 1
        }
        guard let reader else { return summary }
        for one in reader.unplaced {
            findings.append(TapeFinding(.warning, line: one.line, one.text))
            summary.warnings += 1
        }
        summary.exchanges = reader.exchangeCount
        summary.failedExchanges = reader.exchanges.compactMap { exchange in
            exchange.failureText.map { (exchange.line, $0) }
        }
        summary.sessions = reader.finish().map { session in
            let counts = sessions[session.number] ?? (0, 0)
            return TapeSummary.Session(
                number: session.number, name: session.name, codec: session.codec.id, transport: session.transport,
                route: session.route, messages: counts.messages, opaque: counts.opaque,
                obstacle: session.obstacle
                    ?? (hasBadLines ? "stands on a tape with lines that cannot be read" : nil))
        }
        return summary
    }

    // MARK: Lines

    private func check(_ header: TapeHeader, at line: Int, _ findings: inout [TapeFinding]) {
        guard let name = header.protocolID else { return }
        if !codecs.contains(where: { $0.id == name }) {
            let ids = codecs.map(\.id)
            findings.append(
                TapeFinding(
                    .error, line: line,
                    "there is no protocol '\(name)'; this version has \(ids.joined(separator: ", "))"
                        + NearestName.hint(name, among: ids)))
        }
        if header.route?.hasPrefix("/") == false {
            findings.append(
                TapeFinding(.error, line: line, "the route '\(header.route ?? "")' does not begin with '/'"))
        }
    }

    private static func notJSON(_ bytes: [UInt8]) -> TapeLineFault? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return TapeLineFault(error.reason, at: error.offset)
        }
    }

    private mutating func bad(_ line: TapeLine, _ fault: TapeLineFault, _ findings: inout [TapeFinding]) {
        if let json = TapeValidator.notJSON(line.bytes) {
            let hint = TapeLineAdvice.hint(line.bytes, at: json.offset)
            findings.append(
                TapeFinding(.error, line: line.line, column: json.offset + 1, "not JSON: \(json.reason)\(hint)"))
            return
        }
        var message = fault.reason
        for key in TapeLineAdvice.unknownKeys(line.bytes) where fault.reason.contains("\"") {
            message += TapeLineAdvice.hint(key: key.name)
        }
        // Faults of the whole line have no place of their own.
        findings.append(
            TapeFinding(.error, line: line.line, column: fault.offset > 0 ? fault.offset + 1 : nil, message))
    }

    /// Bytes that could not be read, as recorders write them (``RawLines``).
    private func isRaw(_ event: TapeEvent) -> Bool {
        if case .frame = event.kind { return true }
        return if case .unknown(let kind) = event.kind { kind == "malformed" || kind == "frame" } else { false }
    }

    private mutating func check(
        _ event: TapeEvent, isUnframed: Bool, _ line: TapeLine, _ findings: inout [TapeFinding]
    ) {
        summary.events += 1
        summary.isStopped = false
        func warn(_ message: String, column: Int? = nil) {
            findings.append(TapeFinding(.warning, line: line.line, column: column, message))
        }
        let unknown = isRaw(event) ? [] : TapeLineAdvice.unknownKeys(line.bytes)
        for key in unknown where TapeSummary.count(key.name, in: &summary.unknownKeys) {
            let hint = TapeLineAdvice.hint(key: key.name)
            if !hint.isEmpty { warn("unknown key \"\(key.name)\", which is skipped\(hint)", column: key.column) }
        }
        if event.time < lastTime { warn("\"t\" goes back, by \(DurationText.spoken(lastTime - event.time))") }
        lastTime = event.time
        switch event.kind {
        case .frame: break
        case .unknown where isRaw(event): break
        case .unknown(let kind):
            if TapeSummary.count(kind, in: &summary.unknownKinds) {
                warn("unknown kind \"\(kind)\", which is skipped\(TapeLineAdvice.hint(kind: kind))")
            }
        case .open:
            summary.connections += 1
            opened.insert(event.connection)
        case .take:
            hasTake = true
            lastTime = 0
            opened = []
            strangers = []
        case .gap(let lost): warn("about \(lost) events are missing here")
        case .missing(let direction, let bytes):
            let whose = direction == .toServer ? "client" : "server"
            let count = bytes.map { "\($0) byte\($0 == 1 ? "" : "s")" } ?? "bytes"
            warn("\(count) of the \(whose) on connection \(event.connection) are missing here")
        case .stop(let events, let connections, _):
            summary.isStopped = true
            let isRight = events == summary.events - 1 && connections == UInt64(summary.connections)
            if !hasTake, !isRight {
                warn(
                    "\"stop\" tells of \(events) events of \(connections) connections, and there are "
                        + "\(summary.events - 1) of \(summary.connections)")
            }
        case .mark(let text):
            if text.contains(UndecodedBody.staysEncoded) { warn(text) }
        case .fault: break
        case .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .gone:
            if !summary.isSparse, !opened.contains(event.connection), strangers.insert(event.connection).inserted {
                warn("connection \(event.connection) was never opened")
            }
        }
        decode(event, isUnframed: isUnframed, line, &findings)
    }

    private mutating func decode(
        _ event: TapeEvent, isUnframed: Bool, _ line: TapeLine, _ findings: inout [TapeFinding]
    ) {
        decoded.removeAll(keepingCapacity: true)
        reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
        for body in reader?.undecoded ?? [] {
            let end = body.isBegun ? "" : "; it is replayed as it was received"
            findings.append(TapeFinding(.warning, line: line.line, body.text + end))
        }
        for one in decoded {
            var counts = sessions[one.session] ?? (0, 0)
            if one.message.role != .keepalive, one.message.role != .ack { counts.messages += 1 }
            if one.message.role == .opaque {
                counts.opaque += 1
                findings.append(
                    TapeFinding(
                        .warning, line: line.line,
                        "the \(one.codec) codec cannot read this message: \(one.message.summary)"))
            }
            sessions[one.session] = counts
        }
    }
}

/// Something about a tape that a person may want to mend.
package struct TapeFinding: Hashable, Sendable {
    package enum Severity: String, Sendable {
        /// The tape cannot be read there.
        case error
        /// It can be read and may not be what was meant.
        case warning
    }

    package var severity: Severity
    /// From 1; 0 when the tape as a whole is meant.
    package var line: Int
    /// In bytes, from 1; nil when the whole line is meant.
    package var column: Int?
    /// A sentence without its full stop.
    package var message: String

    package init(_ severity: Severity, line: Int, column: Int? = nil, _ message: String) {
        self.severity = severity
        self.line = line
        self.column = column
        self.message = message
    }
}
