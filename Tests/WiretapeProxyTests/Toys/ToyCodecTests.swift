import Testing
import WiretapeBytes
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTape

/// Two protocols that nobody else knows, each a codec in this folder and nothing anywhere else: recorded by the relay,
/// replayed to a client with ids of its own, and faulted.
struct ToyCodecTests {
    private static let codecs = [CodecEntry(ToySocketCodec.self), CodecEntry(ToyPollCodec.self)]
    private static let heard = ["reply %1 apples", "news rain", "reply %2 pears"]

    private func sessions(_ tape: [String]) throws -> [RecordedSession] {
        let header = #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z","redaction":"none"}"#
        var reader = try TapeReader(
            bytes: Array(([header] + tape).joined(separator: "\n").utf8) + [10], name: "toy.tape")
        var sessions = SessionReader(codecs: Self.codecs, header: reader.header)
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            sessions.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        #expect(messages.allSatisfy { $0.message.role != .opaque })
        return sessions.finish()
    }

    /// A server that plays those sessions, under rules.
    private func replay(_ sessions: [RecordedSession], _ rules: [String] = []) throws -> (
        ReplayService, SimulatedLoop, Address
    ) {
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        var options = ReplayOptions()
        options.speed = .instant
        let engine = ReplayEngine(sessions: sessions, tapeName: "toy.tape", options: options, faults: plan, seed: 1)
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let server = ReplayService(loop, driver: engine)
        return (server, loop, try server.listen(on: Address(host: "127.0.0.1", port: 0)))
    }

    private func finish(_ server: ReplayService, _ loop: SimulatedLoop) {
        var isDone = false
        server.stop { isDone = true }
        _ = loop.run(until: loop.now.advanced(by: 2_000_000_000))
        #expect(isDone)
        loop.shutdown()
        #expect(loop.violations == [])
    }

    private func connect(
        _ loop: SimulatedLoop, _ address: Address
    ) -> (@escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
        { onConnect in
            let peer = ScriptedPeer()
            peer.onConnect = onConnect
            peer.stream = loop.connect(to: address, peer)
            return peer
        }
    }

    private func said(_ ids: [String]) -> [String] {
        Self.heard.map { $0.replacing("%1", with: ids[0]).replacing("%2", with: ids[1]) }
    }

    // MARK: Over WebSockets

    private func recordedSocket() throws -> [RecordedSession] {
        let stage = try RelayStage(serve: ToySocket.serve)
        let client = stage.client { ToySocket.ask($0, ids: ["1", "2"]) }
        let tape = stage.finish()
        #expect(ReplayStage.messages(client.received).prefix(3) == said(["1", "2"])[...])
        return try sessions(tape)
    }

    @Test func socketIsRecordedAndReplayed() throws {
        let recorded = try recordedSocket()
        #expect(recorded.map(\.codec.id) == ["toy-socket"])
        let (server, loop, address) = try replay(recorded)
        let client = connect(loop, address)({ ToySocket.ask($0, ids: ["x7", "x8"]) })
        _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
        #expect(ReplayStage.messages(client.received).prefix(3) == said(["x7", "x8"])[...])
        let report = server.report()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions.map(\.matched) == [2])
        finish(server, loop)
    }

    @Test func socketIsFaulted() throws {
        let (server, loop, address) = try replay(try recordedSocket(), ["reset after reply[1]"])
        let client = connect(loop, address)({ ToySocket.ask($0, ids: ["1", "2"]) })
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        #expect(ReplayStage.messages(client.received) == ["reply 1 apples"])
        #expect(client.end == .reset)
        #expect(server.report().faults.map(\.counted) == ["reply[1] (server message 1)"])
        finish(server, loop)
    }

    @Test func socketDivergesAtAnotherWord() throws {
        let (server, loop, address) = try replay(try recordedSocket())
        let client = connect(loop, address)({ ToySocket.ask($0, ids: ["1", "2"]) })
        client.onConnect = { peer in
            ToySocket.ask(peer, ids: ["1", "2"])
            peer.onBytes = { peer in
                peer.onBytes = { _ in }
                peer.send(ReplayStage.frame("ask 1 plums"))
            }
        }
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        let report = server.report()
        #expect(report.verdict == .diverged)
        #expect(report.divergences.first?.contains("ask plums") == true, "\(report.divergences)")
        finish(server, loop)
    }

    // MARK: Over polls

    private func recordedPolls() throws -> [RecordedSession] {
        let box = ToyBox()
        let stage = try RelayStage(serve: box.serve)
        let client = ToyPollClient(ids: ["1", "2"], stage.client)
        client.start()
        let tape = stage.finish()
        #expect(client.heard == said(["1", "2"]))
        return try sessions(tape)
    }

    @Test func pollsAreRecordedAndReplayed() throws {
        let recorded = try recordedPolls()
        #expect(recorded.map(\.codec.id) == ["toy-poll"])
        let (server, loop, address) = try replay(recorded)
        let client = ToyPollClient(ids: ["x7", "x8"], connect(loop, address))
        client.start()
        _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
        #expect(client.heard == said(["x7", "x8"]))
        let report = server.report()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions.map(\.matched) == [2])
        finish(server, loop)
    }

    @Test func pollsAreFaulted() throws {
        let (server, loop, address) = try replay(try recordedPolls(), ["respond(503) on poll[2]"])
        let client = ToyPollClient(ids: ["1", "2"], connect(loop, address))
        client.start()
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        #expect(client.statuses.contains { $0.hasPrefix("HTTP/1.1 503") }, "\(client.statuses)")
        #expect(server.report().faults.count == 1)
        finish(server, loop)
    }
}
