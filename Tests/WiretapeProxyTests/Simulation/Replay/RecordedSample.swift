import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeRuntime
import WiretapeSamples
import WiretapeSimulation
import WiretapeTape

/// What a sample client does.
enum SampleScript {
    /// Every kind of call, pipelined, on a timetable with so many nanoseconds between two steps.
    case calls(think: UInt64)
    case chat([String])

    /// Starts it. `told` gets a line for everything that the application sees; `ended` whether it got what it wanted.
    func start(
        _ client: HubClient, _ loop: any Loop, told: @escaping (String) -> Void, ended: @escaping (Bool) -> Void
    ) {
        func see(_ event: HubEvent) {
            switch event {
            // Ids are new in every run.
            case .connected: told("connected")
            case .reconnected: told("reconnected")
            default: told("\(event)")
            }
        }
        switch self {
        case .calls(let think):
            _ = CallsScript(client, loop, think: think, observe: see, report: told, ended: ended)
        case .chat(let lines):
            _ = ChatScript(client, user: "ada", lines: lines, goal: nil, observe: see, ended: ended)
        }
        client.start()
    }
}

/// A session of the sample client with the sample hub, recorded through the proxy in virtual time.
struct RecordedSample {
    let sessions: [RecordedSession]
    /// What the application saw while it was recorded.
    let told: [String]

    init(_ script: SampleScript, seed: UInt64 = 1) throws {
        let loop = SimulatedLoop(seed: seed)
        var options = SampleHub.Options(seed: seed)
        options.path = "/chat"
        let hub = try SampleHub(loop, on: Address(host: "127.0.0.1", port: 5_000), options)
        let tape = InlineTape(header: TapeHeader(started: "2026-01-01T00:00:00.000000Z"), origin: loop.now)
        let tap = Tap(loop, index: 0, sink: tape)
        let node = RelayNode(
            loop, upstream: Upstream(name: "main", url: "http://hub", host: "127.0.0.1", port: 5_000, isTLS: false),
            tap: tap, numbers: ConnectionNumbers(), options: RelayOptions(), pressure: RelayPressure(loop)
        ) { address, handler in loop.connect(to: address, handler) }
        let address = try node.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false)
        let client = HubClient(loop, HubOptions(url: try #require(HubURL("http://\(address)/chat")), seed: seed))
        var lines: [String] = []
        var reached: Bool?
        script.start(client, loop, told: { lines.append($0) }, ended: { reached = $0 })
        loop.run(until: WireInstant(nanoseconds: 60_000_000_000)) { reached == nil }
        try #require(reached == true, "\(lines)")
        node.stop {}
        hub.close()
        loop.run()
        tap.close()
        try #require(loop.leaks == [])
        told = lines

        var reader = try TapeReader(bytes: tape.finish(), name: "sample.tape")
        var messages: [DecodedMessage] = []
        var found = SessionReader(codecs: Codecs.all, header: reader.header)
        while let next = try reader.next() {
            found.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        sessions = found.finish()
        try #require(sessions.count == 1)
    }
}
