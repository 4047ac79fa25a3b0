internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeCommandLine
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
internal import WiretapeTapeTools

/// What a tape lacks, recorded beside its replay and put behind it when the run has ended well (`auto --record-mode new-episodes`).
///
/// It is a recorder on the replay's loop, behind listeners of its own on the loopback interface: what the replay passes on goes
/// through it as through `wiretape record`. It begins with the first such request, so that runs that need nothing new leave no
/// trace, and as many of them as wanted may run at once.
final class EpisodeRecording {
    /// What became of it when the run ended.
    enum Outcome {
        /// Nothing was asked for that the tape lacks.
        case unneeded
        /// It is on the tape.
        case appended(ReplayReport.Appended)
        /// The run did not end well: the tape is as it was.
        case dropped
        /// It could not be recorded; the tape is as it was.
        case failed(String)
    }

    private let command: RecordCommand
    private let tape: String
    private let log: Log
    /// What records, from the first request on.
    private var running: Running?
    /// Why nothing can be recorded: said once, and an answer to every request from then on.
    private var trouble: String?

    private struct Running {
        let writer: TapeWriter
        let relays: LoopRelays
        let ledger: UpstreamLedger
        /// Where the relay of each upstream listens.
        var places: [String: Address]
    }

    /// - Parameters:
    ///   - command: `record` with the run's options; it writes to a file beside the tape.
    ///   - tape: what is replayed.
    init(_ command: RecordCommand, besides tape: String, _ log: Log) {
        self.command = command
        self.tape = tape
        self.log = log
    }

    /// - Parameter upstreams: of the tape; none where it has one.
    /// - Throws: when what the tape lacks could not be put behind it.
    func check(_ upstreams: Upstreams) throws {
        let header = try TapeReader(path: tape).header
        guard header.protocolID == nil else {
            throw Failure(
                "\(tape) is a sparse tape, and what a server says is put behind recordings only; record it again with "
                    + "--record-mode all", .usage)
        }
        let known = command.plan.upstreams.map(\.name)
        for name in upstreams.names where !known.contains(name) {
            throw Failure(
                "\(tape) has the upstreams \(upstreams.names.joined(separator: ", ")): say where each is, with --upstream "
                    + "\(name)=URL", .usage)
        }
        if upstreams.names.isEmpty, known.count > 1 {
            throw Failure(
                "\(tape) has one upstream, and \(known.count) are given (\(known.joined(separator: ", "))); record it again with "
                    + "--record-mode all", .usage)
        }
    }

    /// The way to an upstream through the recorder, which begins with the first.
    /// - Parameter name: nil where the tape has one upstream only.
    func way(to name: String?, on loop: UVLoop) throws(NetError) -> ReplayService.Way {
        if let trouble { throw NetError("record", code: 0, reason: trouble) }
        if running == nil {
            do {
                running = try begin(on: loop)
            } catch {
                let why = "what \(tape) lacks cannot be recorded: \(error)"
                log.error(why)
                trouble = why
                throw NetError("record", code: 0, reason: why)
            }
        }
        let upstream =
            name.flatMap { name in command.plan.upstreams.first { $0.name == name } } ?? command.plan.upstreams[0]
        guard let place = running?.places[upstream.name] else {
            throw NetError("record", code: 0, reason: "no upstream is called \(upstream.name)")
        }
        let url = "http://\(place)"
        let through = Upstream(name: upstream.name, url: url, host: place.host, port: place.port, isTLS: false)
        // Lifetime: streams are opened on the loop while it runs.
        return (through, { [unowned loop] in loop.connect(to: $0, $1) })
    }

    private func begin(on loop: UVLoop) throws -> Running {
        let plan = command.plan
        let connector = try UpstreamConnector(plan)
        // Its file is one recorder's at a time, so that nobody else adds pseudonyms meanwhile.
        let writer = try command.openTape(log) { [tape] () throws(TapeError) in try TapeRedactor.largestNumber(tape) + 1
        }
        let log = log
        let ledger = UpstreamLedger { log.error($0) }
        let shared = LoopRelays.Shared(
            loop: loop, tap: Tap(loop, index: 0, sink: writer), numbers: ConnectionNumbers(), options: plan.options,
            admission: Admission(loop, limits: plan.limits), pressure: RelayPressure(loop, memory: plan.memory),
            ledger: ledger, connect: connector.connect(on: loop))
        // Lifetime: the relays are kept here, and stopped before this goes.
        let relays = LoopRelays(shared, plan.upstreams, forward: nil) { [unowned self] in
            trouble = "the recording of what \(tape) lacks has failed"
        }
        do {
            let addresses = plan.upstreams.map { _ in Address(host: "127.0.0.1", port: 0) }
            let real = try relays.listen(
                on: addresses, doors: Array(repeating: nil, count: addresses.count), reusePort: false)
            let places = Dictionary(uniqueKeysWithValues: zip(plan.upstreams.map(\.name), real))
            log.warning("\(tape) lacks what is asked for: it is asked of the server, and recorded")
            return Running(writer: writer, relays: relays, ledger: ledger, places: places)
        } catch {
            relays.stop {}
            writer.discard()
            throw error
        }
    }

    /// Ends all connections of the recorder; `done` is called once, perhaps within this call.
    func stop(_ done: @escaping () -> Void) {
        guard let running else { return done() }
        running.relays.stop(done)
    }

    /// Puts what was recorded behind the tape when the run has ended well.
    /// - Parameter isWell: whether it ended with 0.
    func settle(isWell: Bool) -> Outcome {
        guard let running else { return trouble.map { .failed($0) } ?? .unneeded }
        self.running = nil
        let totals = running.writer.finish()
        defer { try? File.remove(command.output) }
        if let failure = totals.failure { return .failed("what \(tape) lacks was not recorded: \(failure)") }
        if let trouble { return .failed(trouble) }
        if totals.lost > 0 { return .failed("\(totals.lost) events of what \(tape) lacks were lost to overload") }
        guard running.ledger.hasAnswered else {
            let why = running.ledger.summary ?? "no request was passed on"
            return .failed("no request for what \(tape) lacks was answered by an upstream: \(why)")
        }
        guard isWell else { return .dropped }
        do {
            _ = try TapeMerge.write(
                [tape, command.output], by: .sequence, isOneServer: true, to: .place, tool: ToolVersion.named,
                longestLine: TapeLineReader.longestLine(memory: command.plan.memory))
            if command.isCanonical {
                try TapeCanon.write(
                    tape, to: .place, codecs: Codecs.all,
                    longestLine: TapeCanon.longestLine(memory: command.plan.memory))
            }
        } catch {
            return .failed("what \(tape) lacks could not be put behind it: \(error)")
        }
        return .appended(ReplayReport.Appended(events: totals.events, connections: totals.connections))
    }
}
