import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// A replay with rules on a simulated network, and raw clients that note when each byte came.
final class FaultStage {
    let loop: SimulatedLoop
    let server: ReplayService
    let address: Address
    private(set) var clients: [FaultClient] = []

    init(_ rules: [String], ticks: Int = 6, every: UInt64 = 10, text: String = "", keepalive: String = "off") throws {
        loop = SimulatedLoop(seed: 1, conditions: .calm)
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        var options = ReplayOptions()
        options.keepalive = keepalive == "off" ? .off : .auto
        options.ending.until = .signal
        let engine = ReplayEngine(
            sessions: [FaultStage.session(ticks: ticks, every: every, text: text)], tapeName: "t.tape",
            options: options, faults: plan, seed: 1)
        server = ReplayService(loop, driver: engine)
        address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
    }

    /// Server messages at equal distances behind the handshake.
    static func session(ticks: Int, every: UInt64, text: String) -> RecordedSession {
        let upgrade = RequestHead(method: "GET", target: "/chat", headers: [HeaderField("Upgrade", "websocket")])
        var codec = SignalRCodec(StreamOpening(request: upgrade))
        var entries: [RecordedSession.Entry] = []
        var payloads: [(UInt64, Direction, String)] = [
            (1, .toServer, #"{"protocol":"json","version":1}"#), (2, .toClient, "{}"),
        ]
        for n in 1...ticks { payloads.append((2 + UInt64(n) * every, .toClient, tick(n, text))) }
        for (i, (time, direction, json)) in payloads.enumerated() {
            var messages: [Message] = []
            codec.decode((Array(json.utf8) + [0x1e]).span, .text, direction, into: &messages)
            for message in messages {
                entries.append(
                    .init(event: UInt64(i + 10), time: time * 1_000_000, connection: 1, frame: i, .message(message)))
            }
        }
        return RecordedSession(
            number: 1, codec: CodecEntry(SignalRCodec.self), writer: codec, transport: .ws, route: "/chat",
            opening: StreamOpening(request: upgrade, response: ResponseHead(status: 101)), negotiate: nil,
            serverIDs: nil, connections: [1], entries: entries, opened: 0)
    }

    static func tick(_ n: Int, _ text: String = "") -> String {
        #"{"type":1,"target":"Tick","arguments":[\#(n),"\#(text)"]}"#
    }

    /// The frame of a tick.
    static func frame(_ n: Int, _ text: String = "") -> [UInt8] {
        var out: [UInt8] = []
        FrameWriter.append(opcode: 1, payload: (Array(tick(n, text).utf8) + [0x1e]).span, into: &out)
        return out
    }

    /// A client that connects and says `bytes`; by itself it opens a WebSocket and shakes hands.
    func client(_ bytes: [UInt8]? = nil) -> FaultClient {
        let first = bytes ?? ReplayStage.opening + ReplayStage.frame(#"{"protocol":"json","version":1}"# + "\u{1e}")
        let client = FaultClient(loop, first: first)
        client.stream = loop.connect(to: address, client)
        clients.append(client)
        return client
    }

    func run(_ seconds: Double) {
        _ = loop.run(until: loop.now.advanced(by: UInt64(seconds * 1e9)))
    }

    /// Stops the server; nothing may be left over.
    func finish() {
        for client in clients { client.stream?.reset() }
        var isDone = false
        server.stop { isDone = true }
        run(2)
        #expect(isDone && server.count == 0)
        loop.shutdown()
        #expect(loop.violations == [] && loop.leaks == [])
    }
}

/// Collects what comes, and when.
final class FaultClient: StreamHandler {
    private let loop: any Loop
    private let first: [UInt8]
    var stream: (any ByteStream)?
    private(set) var received: [UInt8] = []
    private(set) var arrivals: [(at: WireInstant, count: Int)] = []
    private(set) var finAt: WireInstant?
    private(set) var end: (how: StreamEnd, at: WireInstant)?
    var answersFIN = true

    init(_ loop: any Loop, first: [UInt8]) {
        self.loop = loop
        self.first = first
    }

    var now: WireInstant { loop.now }
    var text: String { String(decoding: received, as: UTF8.self) }
    var messages: [String] { ReplayStage.messages(received).flatMap { $0.split(separator: "\u{1e}").map(String.init) } }

    /// What came behind the head of the answer.
    var body: [UInt8] {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard let at = received.indices.first(where: { received[$0...].starts(with: mark) }) else { return [] }
        return Array(received[(at + 4)...])
    }

    /// Bytes that came in that second.
    func bytes(from: Double, to: Double, since start: WireInstant) -> Int {
        arrivals.filter { $0.at.since(start) > UInt64(from * 1e9) && $0.at.since(start) <= UInt64(to * 1e9) }
            .reduce(0) { $0 + $1.count }
    }

    func send(_ bytes: [UInt8]) { stream?.write(bytes.span) }

    func connected() {
        stream?.isReading = true
        send(first)
    }
    func received(_ bytes: Span<UInt8>) {
        received.append(copying: bytes)
        arrivals.append((loop.now, bytes.count))
    }
    func receivedEnd() {
        finAt = loop.now
        if answersFIN { stream?.halfClose() }
    }
    func drained() {}
    func ended(_ how: StreamEnd) {
        end = (how, loop.now)
        stream = nil
    }
}
