internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape export TAPE --format har --output FILE`.
package struct ExportCommand: Command {
    package enum Format: String, CaseIterable { case har, jsonl, pcapng }

    package static let spec = CommandSpec(
        name: "export", abstract: "Write a tape in another tool's format",
        discussion: """
            har: an HTTP archive (HAR 1.2) for browsers' developer tools and for mitmproxy, with WebSocket messages and the events of \
            event streams; what such a file has no place for stands beside it, so that 'wiretape import' makes the same tape of it again.

            jsonl: an object a decoded message, a line each, as 'wiretape inspect --format json' prints them: for DuckDB, jq and pandas.

            pcapng: a capture in the clear for Wireshark and tshark, with TCP connections that are made up around what was said, at the times of the tape.

            A tape that was recorded with --redact off gives a file with all that passed, credentials too. docs/export.md tells more, \
            docs/queries.md what can be asked of a folder of tapes.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape.")],
        groups: [
            OptionGroup(
                "Export",
                [
                    OptionSpec(
                        "format", short: "f", "FORMAT", .choice(Format.allCases.map(\.rawValue)),
                        "What is written. (default: what the name of --output ends in)"),
                    OptionSpec(
                        "output", short: "o", "FILE", .file, required: true,
                        "Write there; - is standard output, for har and jsonl."),
                    EditedTape.force,
                    OptionSpec(switch: "quiet", short: "q", "Tell errors and the verdict only."),
                    OptionGroup.fileMemory,
                ])
        ],
        examples: [
            ExampleSpec(
                "wiretape export chat.tape.gz -o chat.har", "Makes a HAR to open in a browser's developer tools."),
            ExampleSpec("wiretape export chat.tape.gz -f jsonl -o - | jq .summary", "Hands the messages to jq."),
            ExampleSpec("wiretape export chat.tape.gz -o chat.pcapng && tshark -r chat.pcapng", "Shows it to tshark."),
        ],
        exitCodes: [.failure, .badFile])

    private let arguments: ParsedArguments
    private let path: String
    private let output: String
    private let format: Format
    private let log: Log

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        path = arguments.positionals[0]
        output = arguments.value("output") ?? "-"
        log = Log(arguments)
        let named = arguments.value("format") ?? output.split(separator: ".").last.map(String.init) ?? ""
        guard let format = Format(rawValue: named) else {
            throw arguments.error("nothing says what is written: name --format har, jsonl or pcapng")
        }
        self.format = format
        if path == "-" { throw arguments.error("FILE -: a tape on standard input cannot be exported yet; name a file") }
        if format == .pcapng, output == "-" { throw arguments.error("--output -: a pcapng file is bytes; name a file") }
        if output != "-", File.resolved(output) == File.resolved(path) {
            throw arguments.error("--output is FILE itself")
        }
    }

    package func run() throws -> Int32 {
        let header = try TapeReader(path: path).header
        if header.redaction == "none" {
            log.warning(
                "WARNING: \(path) was recorded with --redact off: \(output) will hold all that passed, credentials too")
        }
        let target = try ExportTarget(output, force: arguments.has("force"))
        do {
            let text =
                switch format {
                case .har: try har(to: target)
                case .jsonl: try jsonl(to: target)
                case .pcapng: try pcapng(to: target)
                }
            return Verdict(.done, 0, text + (output == "-" ? "" : " on \(output)")).tell(arguments)
        } catch let fault as HARExport.Fault {
            target.discard()
            throw Failure("\(path): \(fault)", .badFile)
        } catch {
            target.discard()
            throw error
        }
    }

    private func har(to target: ExportTarget) throws -> String {
        var reader = try TapeLineReader(path: path, longestLine: TapeLineReader.longestLine(memory: arguments.memory))
        let export = HARExport(maker: ToolVersion.text, memory: arguments.memory / 2) { try target.write($0) }
        var bar = bar(reader.progress.size)
        while let line = try reader.next() {
            try export.take(line)
            if line.number % 256 == 0 { bar.show(reader.progress.read, of: reader.progress.size) }
        }
        try export.finish()
        bar.clear()
        return ImportWords.count(export.entries, "entry", "entries")
    }

    private func jsonl(to target: ExportTarget) throws -> String {
        var tape = try TapeReader(path: path, longestLine: TapeReader.longestLine(memory: arguments.memory))
        var printer = InspectPrinter(JSONFormat(), filter: nil, header: tape.header) { target.put($0) }
        var bar = bar(tape.progress.size)
        while let next = try tape.next() {
            printer.append(next)
            if next.number % 256 == 0 {
                bar.show(tape.progress.read, of: tape.progress.size)
                try target.check()
            }
        }
        printer.finish()
        bar.clear()
        try target.check()
        return printer.totals
    }

    private func pcapng(to target: ExportTarget) throws -> String {
        var tape = try TapeReader(path: path, longestLine: TapeReader.longestLine(memory: arguments.memory))
        if tape.header.protocolID != nil {
            throw Failure(
                "\(path): a sparse tape has no requests; play it to a client and export what was recorded of it")
        }
        var export = PcapngExport(tape.header, tool: ToolVersion.named) { try target.write($0) }
        var bar = bar(tape.progress.size)
        while let next = try tape.next() {
            try export.take(next.event)
            if next.number % 256 == 0 { bar.show(tape.progress.read, of: tape.progress.size) }
        }
        try export.finish()
        bar.clear()
        return ImportWords.count(UInt64(export.connections), "connection")
    }

    private func bar(_ size: UInt64) -> ProgressBar {
        ProgressBar(path, isWanted: !arguments.has("quiet") && size > 8 << 20 && output != "-")
    }
}

/// Where an export goes: a new file, or standard output.
private final class ExportTarget {
    private let path: String
    private let file: File?
    private let isRegular: Bool
    private var failure: Failure?

    init(_ path: String, force: Bool) throws {
        self.path = path
        guard path != "-" else {
            file = nil
            isRegular = false
            return
        }
        do throws(FileError) {
            let made = try File.creating(path, overwrite: force)
            isRegular = made.isRegular
            file = consume made
        } catch {
            throw Failure(
                error.isExisting ? "\(path) exists already; --force overwrites it" : "\(path): \(error.reason)")
        }
    }

    func write(_ bytes: Span<UInt8>) throws {
        guard file != nil else { return Console.output.writeTape(bytes) }
        do throws(FileError) {
            try file?.write(bytes)
        } catch {
            throw Failure("\(path): \(error.reason)")
        }
    }

    /// Text, whose failure is told by ``check()``.
    func put(_ text: String) {
        guard file != nil else { return Console.output.writeJSON(text) }
        guard failure == nil else { return }
        do {
            let bytes = Array(text.utf8)
            try write(bytes.span)
        } catch let error as Failure {
            failure = error
        } catch {
            failure = Failure("\(error)")
        }
    }

    func check() throws {
        if let failure { throw failure }
    }

    func discard() {
        if isRegular { try? File.remove(path) }
    }
}
