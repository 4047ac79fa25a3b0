import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTape
import WiretapeWire

/// Recorded sessions, the engine and the server on the simulated network, and a client that says what the recorded one said.
struct ReplayEndToEndTests {
    /// Says each recorded message once it has heard as much as the recorded client had.
    private final class Client {
        let session: RecordedSession
        let stage: Stage
        var socket: ScriptedPeer?
        var heard: [String] = []
        private var said = 0

        init(_ session: RecordedSession, _ stage: Stage) {
            self.session = session
            self.stage = stage
        }

        func start() {
            guard let negotiate = session.negotiate else {
                open(target: session.opening.request.target)
                return
            }
            let peer = stage.connect {
                $0.send("POST \(negotiate.request.target) HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            }
            peer.onBytes = { [unowned self] peer in
                guard peer.text.hasSuffix("}") || peer.text.hasSuffix("]}"), socket == nil,
                    let body = peer.text.firstIndex(of: "{"),
                    let json = try? JSONValue(parsing: String(peer.text[body...]))
                else { return }
                let token = json["connectionToken"]?.string ?? json["connectionId"]?.string ?? ""
                let target = session.opening.request.target.split(separator: "?").map(String.init)
                let rest = (target.last ?? "").split(separator: "&").filter { !$0.hasPrefix("id=") }
                open(target: target[0] + "?" + (rest + ["id=\(token)"]).joined(separator: "&"))
            }
        }

        private func open(target: String) {
            let socket = stage.connect {
                $0.send(
                    """
                    GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
                    """)
            }
            socket.onBytes = { [unowned self] socket in
                heard = ReplayStage.messages(socket.received).flatMap { message in
                    message.split(separator: "\u{1e}").map(String.init).filter { !$0.contains(#""type":6"#) }
                }
                if socket.text.hasPrefix("HTTP/1.1 101 ") { speak() }
            }
            self.socket = socket
        }

        /// What the recorded client had heard before its next message, and that message.
        private func speak() {
            var before = 0
            var mine = 0
            for entry in session.entries {
                guard case .message(let message) = entry.what else { continue }
                if message.direction == .toClient {
                    if message.role != .keepalive { before += 1 }
                    continue
                }
                mine += 1
                if mine <= said { continue }
                guard before <= heard.count else { return }
                said = mine
                socket?.send(ReplayStage.frame(String(decoding: message.bytes, as: UTF8.self)))
            }
            if before <= heard.count, !isOver {
                isOver = true
                socket?.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
            }
        }
        private var isOver = false
    }

    private final class Stage {
        let loop: SimulatedLoop
        let server: ReplayService
        private let address: Address

        init(_ sessions: [RecordedSession], _ speed: ReplayOptions.Speed, seed: UInt64) throws {
            loop = SimulatedLoop(seed: seed, conditions: .rough)
            var options = ReplayOptions()
            options.speed = speed
            let engine = ReplayEngine(
                sessions: sessions, tapeName: "test.tape", options: options, faults: FaultPlan(), seed: 1)
            server = ReplayService(loop, driver: engine)
            address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        }

        func connect(_ onConnect: @escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
            let peer = ScriptedPeer()
            peer.onConnect = onConnect
            peer.stream = loop.connect(to: address, peer)
            return peer
        }
    }

    private func sessions(_ name: String) throws -> [RecordedSession] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var tape = try TapeReader(path: tests.appending(path: "Fixtures/signalr/\(name).tape").path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return reader.finish()
    }

    @Test(arguments: ["signalr-js-ws-json", "aspnet10-dotnet-ws-json", "signalr-swift-ws-json"])
    func oneDigestOnRoughNetworks(name: String) throws {
        let sessions = try sessions(name)
        let first = try #require(sessions.first)
        var digests: Set<String> = []
        var heard: Set<[String]> = []
        for seed in 1...12 as ClosedRange<UInt64> {
            for speed in [ReplayOptions.Speed.instant, .factor(1), .factor(10)] {
                let stage = try Stage([first], speed, seed: seed)
                let client = Client(first, stage)
                client.start()
                _ = stage.loop.run(until: stage.loop.now.advanced(by: 120_000_000_000))
                let report = stage.server.report()
                #expect(report.verdict == .pass, "\(name) seed \(seed) \(speed): \(report.reasons)")
                digests.insert(report.digest)
                // A reply may pass messages of other chains that wait for the client: the order across chains may differ.
                heard.insert(client.heard.sorted())
                var isDone = false
                stage.server.stop { isDone = true }
                _ = stage.loop.run(until: stage.loop.now.advanced(by: 2_000_000_000))
                #expect(isDone)
                stage.loop.shutdown()
                #expect(stage.loop.violations == [])
            }
        }
        #expect(digests.count == 1)
        #expect(heard.count == 1 && heard.first?.isEmpty == false)
    }
}
