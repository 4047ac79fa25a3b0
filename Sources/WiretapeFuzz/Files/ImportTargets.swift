internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeTapeTools
internal import WiretapeWire

/// What others recorded: archives, flows, captures.
enum ImportTargets {
    static let all = [
        FuzzTarget("har") { archive($0, .har) },
        FuzzTarget("flows") { archive($0, .flows) },
        FuzzTarget("stubs") { stubs(FuzzInput($0)) },
        FuzzTarget("zip") { zip($0) },
        FuzzTarget("capture") { capture($0) },
        FuzzTarget("reassembly") { reassembly(FuzzInput($0)) },
        FuzzTarget("keylog", longest: 16_384) { keyLog($0) },
    ]

    private static let memory = 64 << 20

    /// What is not refused is a tape that can be read to its end, and a HAR of it gives that tape again.
    private static func archive(_ bytes: [UInt8], _ format: ForeignImport.Format) -> String? {
        archive(ForeignMemory(bytes), format)
    }

    private static func archive(_ source: any ForeignSource, _ format: ForeignImport.Format) -> String? {
        guard let tape = imported(source, format) else { return nil }
        if let problem = unreadable(tape) { return problem }
        var har: [UInt8] = []
        do {
            var reader = try TapeLineReader(bytes: tape, name: "fuzz.tape")
            let export = HARExport(maker: "fuzz", memory: memory) { har.append(copying: $0) }
            while let line = try reader.next() { try export.take(line) }
            try export.finish()
        } catch {
            return "the tape cannot be exported: \(error)"
        }
        guard let again = imported(ForeignMemory(har), .har) else { return "what was exported cannot be imported" }
        guard events(again) == events(tape) else { return "what was exported comes back as another tape" }
        return nil
    }

    private static func stubs(_ input: FuzzInput) -> String? {
        archive(input.payload, input.chooses(0) ? .hoverfly : .wiremock)
    }

    /// A HAR with its side files.
    private static func zip(_ bytes: [UInt8]) -> String? {
        guard let source = try? ZipArchive(ForeignMemory(bytes), memory: memory) else { return nil }
        return archive(source, .har)
    }

    private static func imported(_ source: any ForeignSource, _ format: ForeignImport.Format) -> [UInt8]? {
        let archive = ForeignImport(format, source, memory: memory)
        archive.scan { _ in }
        guard archive.count > 0 || archive.restored != nil else { return nil }
        let sink = TapeBytes()
        let restored = archive.restored
        do {
            let tape = try CapturedTape(
                restored?.header ?? TapeHeader(started: "2026-01-01T00:00:00.000000Z"), line: restored?.line, origin: 0,
                to: sink, isCompressed: false, memory: memory / 4, redaction: nil)
            try archive.write(to: tape, asIs: restored != nil) { _ in }
        } catch {
            return nil
        }
        return sink.bytes
    }

    private static func events(_ tape: [UInt8]) -> [TapeEvent]? {
        guard var reader = try? TapeReader(bytes: tape, name: "fuzz.tape") else { return nil }
        var events: [TapeEvent] = []
        do {
            while let event = try reader.next() { events.append(event.event) }
        } catch {
            return nil
        }
        return events
    }

    private static func unreadable(_ tape: [UInt8]) -> String? {
        events(tape) == nil ? "the tape that it became cannot be read" : nil
    }

    /// Any bytes as a capture file.
    private static func capture(_ bytes: [UInt8]) -> String? { tape(ofCapture: bytes).flatMap { unreadable($0) } }

    /// A key log, a NUL, and the capture that it opens. Line by line a log says what it says as a whole.
    private static func keyLog(_ bytes: [UInt8]) -> String? {
        let end = bytes.firstIndex(of: 0) ?? bytes.count
        let log = Array(bytes[..<end])
        let (keys, lines) = (KeyLog(), KeyLog())
        let bad = keys.add(log.span).bad
        var badOfLines = 0
        for line in log.split(separator: 0x0a) {
            let line = Array(line)
            badOfLines += lines.add(line.span).bad
        }
        guard (keys.count, bad) == (lines.count, badOfLines) else {
            return "\(keys.count) secrets and \(bad) bad lines, and line by line \(lines.count) and \(badOfLines)"
        }
        guard keys.count + bad <= log.count(where: { $0 == 0x0a }) + 1 else {
            return "more secrets than lines"
        }
        return tape(ofCapture: Array(bytes[end...].dropFirst()), keys: keys).flatMap { unreadable($0) }
    }

    private static func tape(ofCapture bytes: [UInt8], keys: KeyLog = KeyLog()) -> [UInt8]? {
        let capture = CaptureImport(CaptureOptions(), keys: keys)
        _ = capture.feed(bytes.span)
        return tape(of: capture)
    }

    private static func tape(of capture: CaptureImport) -> [UInt8]? {
        capture.finish()
        let sink = TapeBytes()
        do {
            let tape = try CapturedTape(
                TapeHeader(started: "2026-01-01T00:00:00.000000Z"), origin: 0, to: sink, isCompressed: false,
                memory: memory / 4, redaction: nil)
            let (records, oldest) = capture.takeRecords()
            try tape.take(records, oldest: oldest)
            try tape.finish()
        } catch {
            return nil
        }
        return sink.bytes
    }

    // MARK: Reassembly

    /// Segments of one connection, cut, ordered, doubled and left out as the input says: no byte of a body on the tape is another
    /// than the one that was sent there.
    private static func reassembly(_ input: FuzzInput) -> String? {
        let body = (0..<600).map { UInt8(ascii: "a") + UInt8($0 * 7 % 26) }
        let request = Array("GET /x HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        let start = UInt32(input.choices) << 24 | 0xff_fe00
        let capture = CaptureImport(CaptureOptions(), keys: KeyLog())
        var time: UInt64 = 1_000_000_000
        func segment(_ isClient: Bool, _ offset: Int, _ flags: UInt8, _ bytes: ArraySlice<UInt8>) {
            time += 1_000_000
            let packet = packet(isClient: isClient, start &+ UInt32(offset), flags, Array(bytes))
            capture.take(live: packet.span, link: 101, at: time, length: packet.count)
        }
        segment(true, -1 & 0xffff_ffff, 2, [])
        segment(false, -1 & 0xffff_ffff, 0x12, [])
        var i = 0
        let payload = input.payload
        while i + 3 < payload.count, i < 400 {
            let isClient = payload[i] & 1 == 1
            let bytes = isClient ? request : answer
            let from = (Int(payload[i + 1]) << 2 | Int(payload[i]) >> 6) % bytes.count
            let count = min(Int(payload[i + 2]), bytes.count - from)
            let flags: UInt8 = payload[i + 3] == 0 ? 0x11 : payload[i + 3] == 1 ? 0x14 : 0x10
            segment(isClient, from, flags, bytes[from..<from + count])
            i += 4
        }
        guard let tape = tape(of: capture), let events = events(tape) else { return "the tape cannot be read" }
        return wrong(events, body)
    }

    private static func wrong(_ events: [TapeEvent], _ body: [UInt8]) -> String? {
        var pieces: [UInt8] = []
        var hasGap = false
        for event in events {
            switch event.kind {
            case .response(_, _, .whole(let bytes), _, _, _):
                if bytes != body { return "the answer's body is another than the one that was sent" }
            case .chunk(_, .toClient, let bytes): if !hasGap { pieces += bytes }
            case .missing(.toClient, _): hasGap = true
            case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone,
                .fault, .mark, .take, .gap, .missing, .stop, .unknown:
                break
            }
        }
        return body.starts(with: pieces) ? nil : "a piece of the answer's body is not what was sent there"
    }

    private static func packet(isClient: Bool, _ sequence: UInt32, _ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
        func big(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
        let ports: [UInt8] = isClient ? [0x9c, 0x40, 0, 80] : [0, 80, 0x9c, 0x40]
        let tcp = ports + big(sequence) + big(0) + [0x50, flags, 0xff, 0xff, 0, 0, 0, 0] + payload
        let total = UInt16(20 + tcp.count)
        let addresses: [UInt8] = isClient ? [10, 0, 0, 1, 10, 0, 0, 2] : [10, 0, 0, 2, 10, 0, 0, 1]
        return [0x45, 0, UInt8(total >> 8), UInt8(truncatingIfNeeded: total), 0, 0, 0x40, 0, 64, 6, 0, 0] + addresses
            + tcp
    }
}
