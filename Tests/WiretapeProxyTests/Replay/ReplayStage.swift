import Testing
import WiretapeBytes
import WiretapeProxy
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// A replay server with a scripted driver, and clients, on a simulated network.
final class ReplayStage {
    let loop: SimulatedLoop
    let driver = ScriptedDriver()
    let server: ReplayService
    private let address: Address

    let memory: MemoryBudget

    init(
        seed: UInt64 = 1, conditions: NetworkConditions = .calm, timeScale: Double = 1,
        limits: ClientLimits = ClientLimits(), places: ClientPlaces = ClientPlaces(),
        memory: MemoryBudget = MemoryBudget()
    ) throws {
        self.memory = memory
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        server = ReplayService(
            loop, driver: driver, timeScale: timeScale, limits: limits, places: places, memory: memory)
        address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
    }

    func client(_ onConnect: @escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = onConnect
        peer.stream = loop.connect(to: address, peer)
        return peer
    }

    func run(_ seconds: Double) {
        _ = loop.run(until: loop.now.advanced(by: UInt64(seconds * 1e9)))
    }

    /// Stops the server and wants nothing left over.
    func finish() {
        var isDone = false
        server.stop { isDone = true }
        run(1)
        #expect(isDone && server.count == 0)
        #expect(memory.used == 0)
        loop.shutdown()
        #expect(loop.violations == [] && loop.leaks == [])
    }

    static let opening = Array(
        """
        GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
        """.utf8)

    static func frame(_ text: String, opcode: UInt8 = 1) -> [UInt8] {
        var out: [UInt8] = []
        let bytes = Array(text.utf8)
        FrameWriter.append(opcode: opcode, payload: bytes.span, mask: 0x1234_5678, into: &out)
        return out
    }

    /// The messages behind the 101 that a client received, `close CODE` for a close frame.
    static func messages(_ received: [UInt8]) -> [String] {
        let end: [UInt8] = [13, 10, 13, 10]
        guard received.starts(with: Array("HTTP/1.1 101 ".utf8)),
            let start = received.indices.first(where: { received[$0...].starts(with: end) })
        else { return [] }
        var assembler = MessageAssembler(.toClient)
        var messages: [String] = []
        var at = start + 4
        while true {
            switch assembler.feed(received.span, from: at) {
            case .more: return messages
            case .message(_, let bytes, _, _, let next):
                messages.append(String(decoding: bytes, as: UTF8.self))
                at = next
            case .ping(_, let next), .pong(_, let next):
                messages.append("control")
                at = next
            case .close(let code, _, let next):
                messages.append("close \(code ?? 0)")
                at = next
            case .violation(let code, let reason): return messages + ["violation \(code) \(reason)"]
            }
        }
    }
}
