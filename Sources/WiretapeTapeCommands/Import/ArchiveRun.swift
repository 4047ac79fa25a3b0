internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeCommandLine
internal import WiretapePackets
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape

/// One import of an archive: HAR, flows, stubs.
struct ArchiveRun {
    let redaction: RedactionChoice
    let log: Log
    let memory: Int
    let force: Bool
    let isQuiet: Bool

    init(redaction: RedactionChoice, log: Log, memory: Int, force: Bool, isQuiet: Bool) {
        self.redaction = redaction
        self.log = log
        self.memory = memory
        self.force = force
        self.isQuiet = isQuiet
    }

    init(_ arguments: ParsedArguments, _ redaction: RedactionChoice, _ log: Log) {
        self.init(
            redaction: redaction, log: log, memory: arguments.memory, force: arguments.has("force"),
            isQuiet: arguments.has("quiet"))
    }

    /// - Parameters:
    ///   - path: as messages call it.
    ///   - file: its bytes.
    ///   - isZip: the archive is in a ZIP file.
    func run(
        _ format: ForeignImport.Format, _ path: String, _ file: any ForeignSource, isZip: Bool, to output: String
    ) throws -> Verdict {
        let source: any ForeignSource
        do throws(CaptureFault) {
            source = isZip ? try ZipArchive(file, memory: memory / 2) : file
        } catch {
            throw ArchiveRun.failure(error, path)
        }
        let archive = ForeignImport(format, source, memory: memory)
        var bar = ImportProgress(path, of: source.size, isWanted: !isQuiet)
        archive.scan { bar.show($0, now: SystemClock.monotonic) }
        bar.clear()
        guard archive.count > 0 || archive.restored != nil else { return nothing(archive, path) }
        let target = try TapeFile(path: output, force: force)
        do {
            let tape = try write(archive, to: target)
            return verdict(archive, tape, path, output)
        } catch let fault as CaptureFault {
            target.discard()
            throw ArchiveRun.failure(fault, path)
        } catch {
            target.discard()
            throw error
        }
    }

    private func write(_ archive: ForeignImport, to target: TapeFile) throws -> CapturedTape {
        let restored = archive.restored
        let isMasked = restored.map { $0.header.redaction == "default" || $0.header.redaction == "rules" } ?? false
        let asIs = restored != nil && (isMasked || redaction.rules == nil)
        let origin = archive.firstTime.map { $0 / 1_000 * 1_000 }
        var header = TapeHeader(
            started: origin.map { SystemClock.rfc3339($0) }, tool: ToolVersion.named, mode: "reverse",
            upstreams: archive.report.servers.map { ($0.name, $0.url) }, redaction: redaction.name)
        if let restored {
            header = restored.header
            if !asIs { header.redaction = redaction.name }
        }
        let log = log
        let tape = try CapturedTape(
            header, line: asIs ? restored?.line : nil, origin: 0, to: target,
            isCompressed: TapeFile.isCompressed(target.path), memory: memory / 4,
            redaction: asIs
                ? nil : redaction.rules.map { TapeRedaction($0, mostWaiting: memory / 4) { log.warning($0) } })
        var bar = ImportProgress(target.path, of: 0, isWanted: false)
        try archive.write(to: tape, asIs: asIs) { bar.show($0, now: SystemClock.monotonic) }
        return tape
    }

    private func nothing(_ archive: ForeignImport, _ path: String) -> Verdict {
        if let fault = archive.report.fault {
            return Verdict(.failed, ExitCode.badFile.code, "\(path), byte \(fault.offset): \(fault.reason)")
        }
        for note in archive.report.notes { log.info(ArchiveRun.sentence(note)) }
        return Verdict(.failed, ExitCode.failure.code, "\(path): there is no entry in it that a tape can hold")
    }

    private func verdict(_ archive: ForeignImport, _ tape: CapturedTape, _ path: String, _ output: String) -> Verdict {
        let report = archive.report
        if let maker = report.maker { log.info("made by \(maker)") }
        for note in report.notes { log.info(ArchiveRun.sentence(note)) }
        let what = report.isRestored ? ", as it was when it was exported" : ""
        let text =
            "\(ImportWords.count(tape.events, "event")) of \(ImportWords.count(report.exchanges, "entry", "entries")) on \(output)"
            + what
        guard let fault = report.fault else { return Verdict(.done, 0, text) }
        return Verdict(
            .failed, ExitCode.badFile.code,
            "\(path), byte \(fault.offset): \(fault.reason); what stands before it is imported: \(text)")
    }

    private static func sentence(_ note: (text: String, count: UInt64)) -> String {
        note.count == 1 ? note.text : "\(note.text) (\(note.count) times)"
    }

    static func failure(_ fault: CaptureFault, _ path: String) -> Failure {
        let place = fault.offset > 0 ? ", byte \(fault.offset)" : ""
        return Failure("\(path)\(place): \(fault.reason)", .badFile)
    }
}
