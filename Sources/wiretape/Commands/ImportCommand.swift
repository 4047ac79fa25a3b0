internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape import FILE`.
package struct ImportCommand: Command {
    package static let spec = CommandSpec(
        name: "import", abstract: "Make a tape of a packet capture",
        discussion: """
            Reads pcap and pcapng files, puts the TCP connections in them together, and writes what HTTP/1.1, WebSockets, event \
            streams and multipart answers said to a tape, as 'wiretape record' would have done between the two. Bytes that are not \
            in the capture are a gap on the tape. TLS is read with a key log: --keylog, or the one that is in the capture. \
            Credentials do not reach the tape: numbered pseudonyms stand in their places (docs/redaction.md).
            """,
        positionals: [PositionalSpec("FILE", .file, "The capture; - reads standard input.")],
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
        let keys = KeyLog()
        for path in arguments.all("keylog") { try ImportRun.read(keys: path, into: keys) }
        redaction.warn(log, output)
        let run = ImportRun(arguments, redaction, keys, log)
        return try run.run(path, to: output).tell(arguments)
    }
}
