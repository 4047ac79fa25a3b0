internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeProtocol
internal import WiretapeSystem
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

    static func read(keys path: String, into keys: KeyLog) throws {
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
        let before = keys.count
        keys.add(text.span)
        if keys.count == before {
            throw Failure("--keylog \(path): there is no secret in it; it should have lines such as CLIENT_RANDOM …")
        }
    }

    func run(_ path: String, to output: String) throws -> Verdict {
        let file: File
        do {
            file = try File.reading(path == "-" ? "/dev/stdin" : path)
        } catch {
            throw Failure("\(path): \(error.reason)")
        }
        let target = try output == "-" ? TapeFile.standardOutput() : TapeFile(path: output, force: force)
        do {
            let tape = try read(file, path, to: target)
            return verdict(tape, path, output, target)
        } catch {
            target.discard()
            throw error
        }
    }

    private func read(_ file: borrowing File, _ path: String, to target: TapeFile) throws -> CapturedTape? {
        var tape: CapturedTape?
        var bar = ImportProgress(path, of: file.isRegular ? file.size : 0, isWanted: !isQuiet)
        defer { bar.clear() }
        var piece: [UInt8] = []
        var at: UInt64 = 0
        var goesOn = true
        while goesOn {
            piece.removeAll(keepingCapacity: true)
            let count: Int
            do {
                count = try file.read(at: at, limit: ImportRun.pieceSize, into: &piece)
            } catch {
                throw Failure("\(path): \(error.reason)")
            }
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

    private func begin(_ target: TapeFile) throws(TapeError) -> CapturedTape {
        let report = capture.report
        let origin = report.firstTime ?? 0
        let header = TapeHeader(
            started: SystemClock.rfc3339(origin), tool: "wiretape/\(Tool.version)", mode: "reverse",
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
