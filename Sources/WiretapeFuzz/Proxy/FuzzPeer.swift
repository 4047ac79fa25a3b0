internal import WiretapeBytes
internal import WiretapeRuntime

/// One end of a connection: says its turns one after the other as time passes, and keeps what it hears.
final class FuzzPeer: StreamHandler {
    var stream: (any ByteStream)?
    private(set) var received: [UInt8] = []
    private(set) var sent: [UInt8] = []
    private var turns: [[UInt8]]
    private let resets: Bool
    private var timer: (any LoopTimer)?
    private let loop: any Loop
    private var isDone = false

    /// - Parameter resets: whether an RST follows the last turn instead of a FIN.
    init(_ loop: any Loop, _ turns: [[UInt8]], resets: Bool = false) {
        self.loop = loop
        self.turns = turns
        self.resets = resets
        // Lifetime: the stream keeps its handler until it has ended, and the timer is closed then.
        timer = loop.timer { [unowned self] in say() }
    }

    func begin() {
        stream?.isReading = true
        timer?.arm(at: loop.now.advanced(by: 1_000_000))
    }

    private func say() {
        guard !isDone, let stream else { return }
        guard !turns.isEmpty else {
            isDone = true
            return resets ? stream.reset() : stream.halfClose()
        }
        let bytes = turns.removeFirst()
        stream.write(bytes.span)
        sent += bytes
        // What the other side sends in between has its chance.
        timer?.arm(at: loop.now.advanced(by: turns.isEmpty ? 50_000_000 : 3_000_000))
    }

    func connected() { begin() }
    func received(_ bytes: Span<UInt8>) { received.append(copying: bytes) }
    func receivedEnd() {
        guard !isDone else { return }
        isDone = true
        stream?.halfClose()
    }
    func drained() {}
    func ended(_ how: StreamEnd) {
        stream = nil
        timer?.close()
        timer = nil
    }
}
