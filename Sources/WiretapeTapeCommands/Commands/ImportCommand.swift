internal import WiretapeBytes
internal import WiretapeCapture
package import WiretapeCommandLine
internal import WiretapePackets
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape import FILE`.
package struct ImportCommand: Command {
    package static let spec = CommandSpec(
        name: "import", abstract: "Make a tape of a capture, a HAR, or what other tools recorded",
        discussion: """
            Reads what somebody has recorded with another tool and writes a tape of it. What kind of file it is its content tells, \
            not its name; --format says it where that is not enough.

            Packet captures (pcap, pcapng): the TCP connections are put together, and what HTTP/1.1, WebSockets, event streams and \
            multipart answers said is written as 'wiretape record' would have done between the two. Bytes that are not in the \
            capture are a gap on the tape. TLS is read with a key log: --keylog, or the one that is in the capture.

            HTTP archives (HAR, and .har.zip of Playwright) of Chrome, Firefox, Playwright, mitmproxy, Fiddler and 'wiretape export', \
            with WebSocket messages and event streams; mitmproxy's flow files; Hoverfly simulations and WireMock mappings. \
            What such a file does not tell (how a WebSocket was closed, when an event came) is a mark on the tape and is told here; \
            nothing is made up. Of a Toxiproxy configuration the output is a plan of faults. 'wiretape replay' plays a HAR or a flow file directly, too.

            Credentials do not reach the tape: numbered pseudonyms stand in their places (docs/redaction.md). docs/import.md tells more.
            """,
        positionals: [PositionalSpec("FILE", .file, "The file; - reads standard input.")],
        groups: [
            OptionGroup(
                "Import",
                [
                    OptionSpec(
                        "output", short: "o", "FILE", .file, required: true,
                        "The tape: compressed when its name ends in .gz (chat.tape.gz), lines of text otherwise (chat.tape). "
                            + "- is standard output, as lines."
                    ),
                    EditedTape.force,
                    OptionSpec(
                        "format", "FORMAT", .choice(ImportFormat.allCases.map(\.rawValue)),
                        "What FILE is. (default: what its content says)"),
                    OptionSpec(
                        "keylog", "FILE", .file, repeatable: true,
                        "Secrets of TLS connections, as programs write them to the file that SSLKEYLOGFILE names."),
                    OptionSpec(
                        "port", "N", .count(1...65535), repeatable: true,
                        "Take only connections to servers on this port."),
                    OptionSpec(switch: "json", "Print what was found as an object on standard output."),
                    OptionSpec(switch: "quiet", short: "q", "Tell errors and the verdict only."),
                    OptionGroup.fileMemory, OptionGroup.config,
                ]), .redaction,
        ],
        examples: [
            ExampleSpec("wiretape import chat.pcapng -o chat.tape.gz", "Makes a tape that replays."),
            ExampleSpec("wiretape import session.har -o session.tape.gz", "Takes over what a browser has saved."),
            ExampleSpec(
                "wiretape import toxiproxy.json -o plan.yaml", "Makes a plan of faults of Toxiproxy's configuration."),
            ExampleSpec(
                "wiretape import chat.pcapng --keylog keys.log --port 443 -o chat.tape.gz",
                "Reads TLS, and one server only."),
        ], exitCodes: [.failure, .badFile])

    private let arguments: ParsedArguments
    private let path: String
    private let output: String
    private let redaction: RedactionChoice

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        path = arguments.positionals[0]
        output = arguments.value("output") ?? ""
        redaction = try RedactionChoice(arguments)
        if output == "-", arguments.has("json") {
            throw arguments.error("--output - and --json both want standard output")
        }
        if output != "-", File.resolved(output) == File.resolved(path) {
            throw arguments.error("--output is FILE itself")
        }
    }

    package func run() throws -> Int32 {
        let log = Log(arguments)
        let file: ImportFile
        var begun: [UInt8] = []
        do {
            file = try ImportFile(path == "-" ? "/dev/stdin" : path)
            // A pipe gives what it has at the moment.
            while begun.count < ImportFormat.lookedAt {
                let left = ImportFormat.lookedAt - begun.count
                guard try file.read(at: UInt64(begun.count), limit: left, into: &begun) > 0 else { break }
            }
        } catch let error as FileError {
            throw Failure("\(path): \(error.reason)")
        } catch let fault as CaptureFault {
            throw Failure("\(path): \(fault.reason)")
        }
        if begun.isEmpty { throw Failure("\(path): it is empty", .badFile) }
        let named = arguments.value("format").flatMap { ImportFormat(rawValue: $0) }
        let format = named ?? ImportFormat.of(begun) ?? .capture
        if format == .toxiproxy { return try ToxiproxyPlan.write(path, file, begun, to: output, arguments) }
        redaction.warn(log, output)
        guard let archive = format.archive else {
            let keys = KeyLog()
            for path in arguments.all("keylog") { _ = try ImportRun.read(keys: path, into: keys, log) }
            let run = ImportRun(arguments, redaction, keys, log)
            return try run.run(path, file, begun: begun, to: output).tell(arguments)
        }
        for name in ["keylog", "port"] where arguments.has(name) || arguments.value(name) != nil {
            throw arguments.error("--\(name) is for packet captures, and \(path) is of another kind: \(format.name)")
        }
        let source: any ForeignSource =
            file.isRegular ? file : ForeignMemory(try file.whole(after: begun, limit: arguments.memory / 4))
        let run = ArchiveRun(arguments, redaction, log)
        return try run.run(archive, path, source, isZip: ImportFormat.isZip(begun), to: output).tell(arguments)
    }
}
