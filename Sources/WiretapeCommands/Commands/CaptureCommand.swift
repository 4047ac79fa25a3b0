internal import WiretapeBytes
internal import WiretapeCapture
package import WiretapeCommandLine
internal import WiretapeNet
internal import WiretapeRuntime
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeCommands

/// `wiretape capture -i lo --filter 'tcp port 5000' --output FILE`.
package struct CaptureCommand: Command {
    package static let spec = CommandSpec(
        name: "capture", abstract: "Record what passes on a network interface, without standing between",
        discussion: """
            Reads the packets of an interface through the system's libpcap as they pass, puts the TCP connections together as \
            'wiretape import' does with a capture file, and writes what HTTP/1.1, WebSockets, event streams and multipart answers \
            said to a tape. Nothing is sent and nothing is changed. It ends with ctrl-C, --timeout or the command behind --.

            Packets for which the kernel's buffer had no room are told at once and at the end; what they carried is a gap on the tape. \
            TLS is read with a key log: --keylog.

            Capturing needs the right to read an interface. Either run it with sudo: it becomes your own user again once the \
            interface is open. Or give the program that right and no other: sudo setcap cap_net_raw=ep "$(command -v wiretape)"
            """,
        groups: [
            OptionGroup(
                "Capture",
                [
                    OptionSpec("interface", short: "i", "NAME", .text, required: true, "The interface: lo, eth0, any."),
                    OptionSpec(
                        "filter", "EXPR", .text, default: "tcp",
                        "Which packets, as tcpdump takes it (pcap-filter(7)): 'tcp port 5000'."),
                    OptionSpec(
                        "output", short: "o", "FILE", .file, required: true,
                        "The tape: compressed when its name ends in .gz (chat.tape.gz), lines of text otherwise (chat.tape)."
                    ),
                    EditedTape.force,
                    OptionSpec(
                        "keylog", "FILE", .file, repeatable: true,
                        "Secrets of TLS connections (SSLKEYLOGFILE), read at the beginning."),
                    OptionSpec(
                        "buffer", "SIZE",
                        .checked(suggestions: ["64MiB", "256MiB"], { _ = try CaptureCommand.size($0) }),
                        default: "64MiB", "What the kernel keeps of packets that were not read yet."),
                    OptionSpec("timeout", "D", .duration, "End after this time."),
                    OptionSpec(switch: "json", "Print what was found as an object on standard output."),
                    OptionSpec(switch: "quiet", short: "q", "Tell errors and the verdict only."),
                    OptionGroup.fileMemory, OptionGroup.config,
                ]), .redaction,
        ],
        tail: TailSpec("A command that is run meanwhile; the capture ends with it."),
        examples: [
            ExampleSpec(
                "wiretape capture -i lo --filter 'tcp port 5000' -o chat.tape.gz", "Records what passes to port 5000."),
            ExampleSpec(
                "sudo wiretape capture -i any --filter 'tcp port 80' -o web.tape.gz --timeout 1m -- curl http://example.test/",
                "Records what one command does."),
        ], exitCodes: [.failure, .timeout, .commandUnusable, .commandMissing, .signal])

    private static func size(_ text: String) throws(OptionError) -> Int {
        guard let size = ByteSize.parse(text), (1 << 20...1 << 30).contains(size) else {
            throw OptionError("'\(text)' is no size from 1MiB to 1GiB")
        }
        return size
    }

    private let arguments: ParsedArguments
    private let output: String
    private let redaction: RedactionChoice

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        output = arguments.value("output") ?? ""
        redaction = try RedactionChoice(arguments)
        if output == "-" {
            throw arguments.error("--output -: a tape on standard output is not built yet; name a file")
        }
    }

    package func run() throws -> Int32 {
        try CommandCheck.check(arguments.tail)
        let log = Log(arguments)
        let interface = arguments.value("interface") ?? ""
        let packets: PacketCapture
        do throws(PacketCapture.Fault) {
            packets = try PacketCapture(
                interface, filter: arguments.value("filter") ?? "tcp",
                buffer: arguments.value("buffer").flatMap(ByteSize.parse) ?? 64 << 20)
        } catch {
            let help =
                error.kind == .noPermission
                ? "; run it with sudo, or give the program this right: sudo setcap cap_net_raw=ep \(ThisProcess.executable)"
                : ""
            throw Failure(error.reason + help)
        }
        // The interface is open: nothing that follows needs more than its user has.
        if let why = ThisProcess.dropPrivileges() { log.warning(why) }
        let target = try TapeFile(path: output, force: arguments.has("force"))
        redaction.warn(log, output)
        do {
            return try follow(packets, interface, target, log)
        } catch {
            target.discard()
            throw error
        }
    }

    private func follow(_ packets: PacketCapture, _ interface: String, _ target: TapeFile, _ log: Log) throws -> Int32 {
        let shell = try RunShell(arguments)
        defer { shell.close() }
        let live = try LiveCapture(packets, arguments, redaction, target, log)
        let watch = CaptureWatch(live, shell)
        defer { watch.close() }
        log.info("capturing on \(interface); ctrl-C ends it")
        let end = try shell.run(ReadyLine(urls: [])) { live.stop() }
        switch live.wait() {
        case .failure(let error): throw error
        case .success(let outcome): return end.verdict(verdict(outcome, log)).tell(arguments)
        }
    }

    private func verdict(_ outcome: LiveOutcome, _ log: Log) -> Verdict {
        for line in ImportWords.details(outcome.report) { log.info(line) }
        if !outcome.report.unnamedServers.isEmpty {
            log.info(
                "the tape names one server, the first: what went to \(outcome.report.unnamedServers.sorted().joined(separator: ", ")) "
                    + "stands under it; a --filter for one server keeps them apart")
        }
        let counters = outcome.counters
        var text =
            "\(ImportWords.count(outcome.events, "event")) of \(ImportWords.count(outcome.report.connections, "connection")) on \(output); "
            + "\(ImportWords.count(counters.received, "packet")), \(counters.dropped + counters.droppedByInterface) dropped"
        text += ImportWords.losses(outcome.report)
        if let ended = outcome.ended {
            return Verdict(.failed, ExitCode.failure.code, "the capture ended: \(ended); \(text)")
        }
        return Verdict(.done, 0, text)
    }
}

/// Looks for the end of the capture's thread, and lets the run end then.
private final class CaptureWatch {
    private static let step: UInt64 = 20_000_000
    private var timer: (any LoopTimer)?

    init(_ live: LiveCapture, _ shell: RunShell) {
        // Lifetime: both live until the run is over, and the timer is closed before.
        timer = shell.loop.timer { [unowned self, unowned shell] in
            guard live.outcome != nil else { return arm(shell) }
            shell.finish()
            shell.workStopped()
        }
        arm(shell)
    }

    private func arm(_ shell: RunShell) { timer?.arm(at: shell.loop.now.advanced(by: CaptureWatch.step)) }

    func close() { timer?.close() }
}
