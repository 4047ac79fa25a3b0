internal import WiretapeBytes
internal import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

/// Makes the replays and recordings that the control API is asked for, with the options of the commands and in their words.
final class RunFactory: RunMaker {
    private let log: Log
    /// What belongs to the process, or to a command that runs until somebody stops it.
    private static let refused: Set<String> = [
        "control", "control-token", "events", "report", "timeout", "exit-with-parent", "json", "log-level", "quiet",
        "until",
        "canonical", "output", "upstream-ca", "help",
    ]

    init(_ log: Log) { self.log = log }

    func make(
        _ order: RunOrder, on loop: any Loop, _ done: @escaping (Result<any ControlledRun, ControlError>) -> Void
    ) throws(ControlError) {
        guard let loop = loop as? UVLoop else { throw .conflict("this loop makes no runs") }
        do {
            switch order.kind {
            case .replay:
                let arguments = try RunFactory.arguments(order, as: ReplayCommand.spec)
                try ReplayCommand(arguments).host(on: loop, done)
            case .record, .proxy:
                let arguments = try RunFactory.arguments(order, as: RecordCommand.spec)
                try HostedRecording.start(RecordCommand(arguments), on: loop, log, done)
            }
        } catch {
            throw RunFactory.refusal(error)
        }
    }

    /// The order as somebody would have written it at a terminal.
    private static func arguments(_ order: RunOrder, as spec: CommandSpec) throws -> ParsedArguments {
        let path = order.tape.hasPrefix("-") ? "./" + order.tape : order.tape
        var words: [String] = []
        for (name, value) in order.options {
            guard !name.isEmpty, !refused.contains(name), !name.contains("="),
                name != "upstream" || order.kind == .replay
            else { throw ControlError(400, "'\(Summary.line(name))' is no option of a run of the control API") }
            words.append(value.map { "--\(name)=\($0)" } ?? "--\(name)")
        }
        if let upstream = order.upstream {
            words += ["--upstream=\(upstream)", "--output=\(path)"]
        } else {
            words.append(path)
        }
        let outcome = try ArgumentParser.parse(words, as: spec) { arguments throws(UsageError) in
            try SettingsMerge.apply(to: arguments, spec)
        }
        guard case .arguments(let arguments) = outcome else { throw ControlError(400, "'help' is no option of a run") }
        return arguments
    }

    /// Why a run was not made, as the API tells it.
    static func refusal(_ error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: error
        case let error as UsageError: ControlError(400, error.message)
        case let error as RefusedRules: ControlError(422, error.failure.reason)
        case let error as Failure: ControlError(error.code == ExitCode.missing.code ? 404 : 409, error.reason)
        default: ControlError(409, "\(error)")
        }
    }

    /// Where a run may listen: names would have to be looked up while the others wait.
    static func address(_ origin: Origin) throws(ControlError) -> Address {
        let host = origin.host == "localhost" ? "127.0.0.1" : origin.host
        let isNumber =
            host.contains(":") || host.split(separator: ".").count == 4 && host.allSatisfy { $0.isNumber || $0 == "." }
        guard isNumber else { throw ControlError(400, "--listen \(origin.text): write the number of the host") }
        return Address(host: host, port: origin.port)
    }
}

extension ReplayCommand {
    /// Plays the tape on a loop that others use, too.
    /// - Parameter done: called when its listeners accept, or could not; never within this call.
    func host(on loop: UVLoop, _ done: @escaping (Result<any ControlledRun, ControlError>) -> Void) throws {
        try LoadedTape.require(path)
        let upstreams = try LoadedTape.upstreams(path: path)
        let listeners = try listeners(upstreams)
        let doors = try tlsDoors(listeners.origins)
            .open(listeners.origins, hosts: LoadedTape.hosts(path: path), log)
        let loading = try TapeLoading(path: path, ignore: options.ignore, memory: arguments.memory, log: log)
        var timer: (any LoopTimer)?
        let look = loop.timer {
            guard let result = loading.result else {
                return timer?.arm(at: loop.now.advanced(by: TapeLoading.look)) ?? ()
            }
            timer?.close()
            timer = nil
            do {
                done(.success(try serve(try result.get(), upstreams, listeners, doors, on: loop)))
            } catch {
                done(.failure(RunFactory.refusal(error)))
            }
        }
        timer = look
        look.arm(at: loop.now)
    }

    private func serve(
        _ tape: LoadedTape, _ upstreams: Upstreams, _ listeners: ReplayListeners, _ doors: TLSDoors.Opened,
        on loop: UVLoop
    ) throws -> any ControlledRun {
        try listeners.check(tape)
        guard let events = try RunEvents(nil, isControlled: true, log.rules) else { throw Failure("no journal") }
        let server = try server(
            engine(tape, upstreams, tellsTape: true), ClientPlaces(), MemoryBudget(memory: arguments.memory), on: loop)
        var ready = ReadyLine(
            urls: try listeners.open(server, doors.door, resolve: RunFactory.address),
            endpointPath: listeners.first(tape.sessions, upstreams)?.endpoint ?? "", seed: seed)
        ready.trust = doors.environment
        let journal = events.journal
        let run = ControlledReplay(server, on: loop, journal: journal, place: ready.members(pid: ThisProcess.id)) {
            (tape.sessions, tape.name)
        }
        server.observe = { [weak run] event in
            journal.passed(event)
            run?.noticed()
        }
        server.news = { journal.happened($0) }
        return run
    }
}
