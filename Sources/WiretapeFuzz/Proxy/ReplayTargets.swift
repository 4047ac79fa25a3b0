internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeSimulation
internal import WiretapeTape
internal import WiretapeWire

/// A replay of a small tape to a client that says anything: no trap, no write after an end, everything ends, and the verdict is a
/// pass only for a client that said all that the tape has of it.
enum ReplayTargets {
    static let all = [FuzzTarget("replay") { judge(FuzzInput($0)) }]

    /// What the tape's client says, in any order.
    private static let said = ["Hello", "Count"]

    private static let tape = """
        {"tape":1,"protocol":"signalr","route":"/chat"}
        {"d":">","json":{"type":1,"target":"Hello","arguments":["a"],"invocationId":"1"}}
        {"d":"<","after":"1ms","json":{"type":3,"invocationId":"1","result":1}}
        {"d":">","json":{"type":4,"target":"Count","arguments":[2],"invocationId":"2"}}
        {"d":"<","after":"1ms","json":{"type":2,"invocationId":"2","item":1}}
        {"d":"<","after":"1ms","json":{"type":3,"invocationId":"2"}}
        {"d":"<","after":"1ms","json":{"type":1,"target":"Tick","arguments":[1]}}

        """

    private static let sessions: [RecordedSession] = {
        guard var reader = try? TapeReader(bytes: Array(tape.utf8), name: "fuzz.tape") else { return [] }
        var found = SessionReader(codecs: Codecs.all, header: reader.header)
        var messages: [DecodedMessage] = []
        while let next = try? reader.next() {
            found.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return found.finish()
    }()

    private static func judge(_ input: FuzzInput) -> String? {
        guard sessions.count == 1 else { return "the tape has \(sessions.count) sessions" }
        let loop = SimulatedLoop(seed: UInt64(input.choices), conditions: input.chooses(0) ? .rough : .calm)
        var options = ReplayOptions()
        options.ending.until = input.chooses(1) ? .finished : options.ending.until
        let engine = ReplayEngine(
            sessions: sessions, tapeName: "fuzz.tape", options: options, faults: FaultPlan(), seed: 1)
        let server = ReplayService(loop, driver: engine, leading: ReplayLeading(.standard, Codecs.all))
        var heard = ""
        server.observe = { event in
            if case .message(.toServer, _, let bytes, _, _) = event.kind {
                heard += String(decoding: bytes, as: UTF8.self)
            }
            if case .request(_, _, .whole(let bytes)) = event.kind { heard += String(decoding: bytes, as: UTF8.self) }
            if case .chunk(_, .toServer, let bytes) = event.kind { heard += String(decoding: bytes, as: UTF8.self) }
        }
        guard let address = try? server.listen(on: Address(host: "127.0.0.1", port: 0)) else { return "cannot listen" }
        var clients: [FuzzPeer] = []
        for half in [false, true] {
            let client = FuzzPeer(
                loop, input.turns.filter { $0.chooses(0) == half }.map(\.bytes), resets: input.chooses(2))
            client.stream = loop.connect(to: address, client)
            clients.append(client)
        }
        loop.run(until: loop.now.advanced(by: 120_000_000_000), limit: 100_000)
        let report = server.report()
        var isStopped = false
        server.stop { isStopped = true }
        loop.run(until: loop.now.advanced(by: 20_000_000_000), limit: 100_000)
        guard isStopped, server.count == 0 else { return "does not stop" }
        let leaks = loop.leaks
        loop.shutdown()
        if !loop.violations.isEmpty { return "\(loop.violations)" }
        if !leaks.isEmpty { return "left open: \(leaks)" }
        // Text may be written with escapes; then nothing can be said.
        if report.verdict == .pass, !heard.contains("\\"), !said.allSatisfy(heard.contains) {
            return "a pass for a client that said only: \(heard)"
        }
        return nil
    }
}
