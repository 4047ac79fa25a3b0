internal import WiretapeBytes
package import WiretapeCapture
internal import WiretapeCommandLine
internal import WiretapePackets
internal import WiretapeProtocol
package import WiretapeSystem
internal import WiretapeTape

/// One import, from the file to the verdict.
final class ImportRun {
    /// What is read at a time.
    private static let pieceSize = 1 << 20
    /// Most bytes of a key log.
    private static let mostKeys = 256 << 20

    private let redaction: RedactionChoice
    private let log: Log
    private let memory: Int
    private let force: Bool
    private let capture: CaptureImport
    private let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ redaction: RedactionChoice, _ keys: KeyLog, _ log: Log) {
        self.redaction = redaction
        self.log = log
        memory = arguments.memory
        force = arguments.has("force")
        isQuiet = arguments.has("quiet")
        var options = CaptureOptions()
        options.ports = Set(arguments.all("port").compactMap { UInt16($0) })
        capture = CaptureImport(options, keys: keys)
    }

    /// The bytes of a key log.
    private static func text(ofKeys path: String) throws -> [UInt8] {
        let text: [UInt8]
        do {
            let file = try File.reading(path == "-" ? StandardInput.once : path)
            var all: [UInt8] = []
            while all.count <= mostKeys {
                guard try file.read(at: UInt64(all.count), limit: pieceSize, into: &all) > 0 else { break }
            }
            text = all
        } catch {
            throw Failure("--keylog \(path): \(error.reason)")
        }
        guard text.count <= mostKeys else { throw Failure("--keylog \(path): it is larger than \(mostKeys >> 20) MiB") }
        return text
    }

    /// The text of a key log that has secrets; lines of it that are none are told.
    static func read(keys path: String, into keys: KeyLog, _ log: Log) throws -> [UInt8] {
        let text = try text(ofKeys: path)
        let lines = keys.add(text.span)
        if lines.secrets + lines.tooMany == 0 {
            throw Failure("--keylog \(path): there is no secret in it; it should have lines such as CLIENT_RANDOM …")
        }
        if let first = lines.firstBad {
            let text =
                lines.bad == 1
                ? "line \(first) is no secret and left out"
                : "\(lines.bad) lines are no secret and left out, the first is line \(first)"
            log.warning("--keylog \(path): \(text)")
        }
        if lines.tooMany > 0 {
            log.warning(
                "--keylog \(path): no more than \(KeyLog.mostEntries) secrets are kept, \(lines.tooMany) are left out")
        }
        return text
    }

    /// - Parameter file: the capture's.
    func run(_ path: String, _ file: ImportFile, begun: [UInt8], to output: String) throws -> Verdict {
        let target = try output == "-" ? TapeFile.standardOutput() : TapeFile(path: output, force: force)
        do {
            let tape = try read(file, begun, path, to: target)
            return verdict(tape, path, output, target)
        } catch {
            target.discard()
            throw error
        }
    }

    private func read(_ file: ImportFile, _ begun: [UInt8], _ path: String, to target: TapeFile) throws -> CapturedTape?
    {
        var tape: CapturedTape?
        var bar = ImportProgress(path, of: file.isRegular ? file.size : 0, isWanted: !isQuiet)
        defer { bar.clear() }
        // What was looked at to tell the format.
        var piece = begun
        var at: UInt64 = 0
        var goesOn = true
        while goesOn {
            var count = piece.count
            if count == 0 {
                do throws(CaptureFault) {
                    count = try file.read(at: at, limit: ImportRun.pieceSize, into: &piece)
                } catch {
                    throw Failure("\(path): \(error.reason)")
                }
            }
            defer { piece.removeAll(keepingCapacity: true) }
            at += UInt64(count)
            goesOn = count > 0 && capture.feed(piece.span)
            if count == 0 { capture.finish() }
            if !goesOn, count > 0 { capture.finish() }
            let (records, oldest) = capture.takeRecords()
            bar.show(at, now: SystemClock.monotonic)
            guard capture.report.connections > 0 else { continue }
            if tape == nil { tape = try begin(target) }
            try tape?.take(records, oldest: oldest)
        }
        try tape?.finish()
        return tape
    }

    // MARK: Live

    /// Records of a live capture go to the tape so often.
    private static let patience: UInt64 = 250_000_000

    /// Captures until it is stopped, and finishes the tape.
    /// - Parameters:
    ///   - told: gets each batch of records before the tape, with the time of the tape's beginning.
    ///   - stops: whether the end was asked for; looked at every 100 ms at least.
    func follow(
        _ packets: PacketCapture, to target: TapeFile, told: ([UInt8], UInt64) -> Void, stops: () -> Bool
    ) throws -> LiveOutcome {
        var tape: CapturedTape?
        var written = SystemClock.monotonic
        var ended: String?
        while ended == nil, !stops() {
            switch packets.next() {
            case .packet(let packet):
                capture.take(live: packet.bytes.span, link: packets.link, at: packet.time, length: packet.length)
            case .nothing: capture.tick(at: SystemClock.wall)
            case .ended(let why): ended = why
            }
            guard SystemClock.monotonic - written >= ImportRun.patience / 5 else { continue }
            written = SystemClock.monotonic
            try hand(&tape, target, told)
        }
        // What the kernel still holds was on the wire before the end.
        while case .packet(let packet) = packets.next(), ended == nil {
            capture.take(live: packet.bytes.span, link: packets.link, at: packet.time, length: packet.length)
            if SystemClock.monotonic - written > 4 * ImportRun.patience { break }
        }
        capture.finish()
        try hand(&tape, target, told)
        if tape == nil { tape = try begin(target) }
        try tape?.finish()
        return LiveOutcome(
            events: tape?.events ?? 0, report: capture.report, counters: packets.counters, ended: ended)
    }

    private func hand(_ tape: inout CapturedTape?, _ target: TapeFile, _ told: ([UInt8], UInt64) -> Void) throws {
        let (records, oldest) = capture.takeRecords()
        guard capture.report.connections > 0 else { return }
        if tape == nil {
            tape = try begin(target)
            capture.seal()
        }
        let origin = capture.report.firstTime ?? 0
        if !records.isEmpty { told(records, origin - origin % 1000) }
        try tape?.take(records, oldest: oldest)
        try tape?.flush()
    }

    private func begin(_ target: TapeFile) throws(TapeError) -> CapturedTape {
        let report = capture.report
        let origin = report.firstTime ?? 0
        let header = TapeHeader(
            started: SystemClock.rfc3339(origin), tool: ToolVersion.named, mode: "reverse",
            upstreams: report.servers.map { ($0.name, $0.url) }, redaction: redaction.name)
        let log = log
        let memory = memory
        // Times on the tape count from a whole microsecond, as the header tells it.
        return try CapturedTape(
            header, origin: origin - origin % 1000, to: target, isCompressed: target.isCompressed,
            memory: memory / 2,
            redaction: redaction.rules.map { TapeRedaction($0, mostWaiting: memory / 4) { log.warning($0) } })
    }

    private func verdict(_ tape: CapturedTape?, _ path: String, _ output: String, _ target: TapeFile) -> Verdict {
        let report = capture.report
        for line in ImportWords.details(report) { log.info(line) }
        guard let tape else {
            target.discard()
            if let fault = report.fault {
                return Verdict(.failed, ExitCode.badFile.code, "\(path), byte \(fault.offset): \(fault.reason)")
            }
            return Verdict(.failed, ExitCode.failure.code, "\(path): \(ImportWords.nothing(report))")
        }
        var text =
            "\(ImportWords.count(tape.events, "event")) of \(ImportWords.count(report.connections, "connection")) "
            + "on \(output)"
        text += ImportWords.losses(report)
        guard let fault = report.fault else { return Verdict(.done, 0, text) }
        return Verdict(
            .failed, ExitCode.badFile.code,
            "\(path), byte \(fault.offset): \(fault.reason); what stands before it is imported: \(text)")
    }
}

/// What a live capture came to.
package struct LiveOutcome {
    package var events: UInt64
    package var report: CaptureReport
    package var counters: PacketCapture.Counters
    /// Why the capture ended by itself.
    package var ended: String?
}
