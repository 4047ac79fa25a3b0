internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape

/// `wiretape new PROTOCOL`.
package struct NewCommand: Command {
    package static let spec = CommandSpec(
        name: "new", abstract: "Write a small tape to start from by hand",
        discussion: """
            Writes a sparse tape: a header and a few messages, with comments that explain them. It can be replayed as it is; \
            change its lines in an editor, and see what 'wiretape validate' says. What the protocol needs beside the \
            messages (negotiation, openings, handshake) is supplied at replay.
            """,
        positionals: [
            PositionalSpec(
                "PROTOCOL", .choice(Codecs.all.map(\.id)),
                "What the tape speaks: \(Codecs.all.map(\.id).joined(separator: ", "))."),
            PositionalSpec("FILE", .file, required: false, "The tape, .tape; without it, or -, standard output."),
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(
                        "route", "PATH", routeKind, default: "/chat", "The path that clients connect to."),
                    OptionSpec(switch: "force", "Write over a file that is there."),
                ])
        ],
        examples: [
            ExampleSpec("wiretape new signalr --route /chat chat.tape", "Begins a tape of a SignalR hub."),
            ExampleSpec("wiretape new signalr | less", "Looks at it."),
        ], exitCodes: [.failure])

    private static let routeKind = ValueKind.checked(suggestions: []) {
        guard $0.hasPrefix("/"), !$0.contains(where: { $0.isWhitespace }) else {
            throw OptionError("--route: '\($0)' is no path; it begins with '/', as in /chat")
        }
    }

    private let codec: CodecEntry
    private let path: String?
    private let route: String
    private let force: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        guard let codec = Codecs.named(arguments.positionals[0]) else {
            throw arguments.error("there is no protocol '\(arguments.positionals[0])'")
        }
        self.codec = codec
        path = arguments.positionals.count > 1 && arguments.positionals[1] != "-" ? arguments.positionals[1] : nil
        route = arguments.value("route") ?? "/"
        force = arguments.has("force")
        if let path, path.hasSuffix(".gz") {
            throw arguments.error("FILE: '\(path)' would be compressed; a tape to edit ends in .tape")
        }
    }

    package func run() throws -> Int32 {
        var text: [UInt8] = []
        TapeLines.appendHeader(TapeHeader(protocolID: codec.id, route: route), into: &text)
        for line in codec.type.example { text.append(contentsOf: Array((line + "\n").utf8)) }
        guard let path else {
            Console.output.writeTape(text.span)
            return 0
        }
        try TapeFile(path: path, force: force).write(text.span)
        return Verdict(.done, 0, "\(path): edit it, then 'wiretape validate \(path)' and 'wiretape replay \(path)'")
            .tell()
    }
}
