import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeRuntime

/// A handler that notes everything it hears and does what the test says.
final class Peer: StreamHandler {
    var stream: (any ByteStream)?
    var bytes: [UInt8] = []
    /// connected, end, drained, ended(…)
    var events: [String] = []
    var end: StreamEnd?
    var onConnected: (Peer) -> Void = { _ in }
    var onBytes: (Peer) -> Void = { _ in }
    var onEnd: (Peer) -> Void = { _ in }
    var onDrained: (Peer) -> Void = { _ in }
    var onEnded: (Peer) -> Void = { _ in }
    /// Reading goes on when the stream is there.
    var reads = true
    private var isCalling = false

    init() {}

    /// A call on the stream: nothing may come back from within it.
    func call(_ body: (any ByteStream) -> Void) {
        guard let stream else { return }
        isCalling = true
        body(stream)
        isCalling = false
    }

    func write(_ bytes: [UInt8]) { call { $0.write(bytes.span) } }
    func write(_ text: String) { write(Array(text.utf8)) }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func connected() {
        note("connected")
        if reads { stream?.isReading = true }
        onConnected(self)
    }
    func received(_ span: Span<UInt8>) {
        #expect(!isCalling)
        bytes.append(copying: span)
        onBytes(self)
    }
    func receivedEnd() {
        note("end")
        onEnd(self)
    }
    func drained() {
        note("drained")
        onDrained(self)
    }
    func ended(_ how: StreamEnd) {
        note("ended")
        #expect(end == nil, "ended came twice")
        end = how
        onEnded(self)
    }
    private func note(_ event: String) {
        #expect(!isCalling, "\(event) came from within a call of the owner")
        #expect(end == nil, "\(event) came after ended")
        events.append(event)
    }
}

extension UVLoop {
    static let anyPort = Address(host: "127.0.0.1", port: 0)

    /// Connects `client`, accepts as `server`.
    @discardableResult func pair(_ client: Peer, _ server: Peer, on address: Address = anyPort) throws -> any Listener {
        let listener = try listen(on: address, reusePort: false) { stream in
            server.stream = stream
            if server.reads { stream.isReading = true }
            server.onConnected(server)
            return server
        }
        client.stream = connect(to: listener.address, client)
        return listener
    }

    /// Calls `body` after `milliseconds`.
    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) {
        var timer: (any LoopTimer)?
        timer = self.timer {
            timer?.close()
            timer = nil
            body()
        }
        timer?.arm(at: now.advanced(by: milliseconds * 1_000_000))
    }
}

/// Runs a loop on this thread until `stop()`; `body` sets it up. Fails when nothing stops it.
func onLoop(limit seconds: UInt64 = 20, _ body: (UVLoop) throws -> Void) throws {
    ProcessSetup.ignoreSIGPIPE()
    let loop = try UVLoop()
    defer { loop.shutdown() }
    loop.after(seconds * 1000) {
        Issue.record("the loop was not stopped")
        loop.stop()
    }
    try body(loop)
    loop.run()
}

/// Pseudo-random bytes, the same each time.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var draws = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: draws.next()) }
}

/// `#expect(a == b)` computes and prints a difference, which takes hours for megabytes.
func expectSame(_ a: [UInt8], _ b: [UInt8]) {
    guard a != b else { return }
    let first = zip(a, b).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    Issue.record("\(a.count) and \(b.count) bytes differ from \(first ?? min(a.count, b.count)) on")
}
