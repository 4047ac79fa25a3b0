internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeRuntime

/// A TLS client that rules may have something to say to: it waits from its first byte for what they say, and is then served
/// as any other, with another certificate, or not at all. Stays the handler of its stream and hands on what comes.
final class JudgedHandshake: StreamHandler {
    private enum Stage {
        /// Nothing has come.
        case silent
        /// The hello, which has no answer yet.
        case held([UInt8])
        case served(any StreamHandler)
        /// It had our last word.
        case over
    }

    /// A hello is shorter, and nothing follows it before its answer.
    private static let mostHeld = 64 << 10
    /// How long a client may take to say its hello.
    private static let patience: UInt64 = 60_000_000_000
    private static let lingering: UInt64 = 5_000_000_000

    private let loop: any Loop
    /// Nil once it is gone.
    private var stream: (any ByteStream)?
    private let watch: any HandshakeWatch
    private let handshake: Handshake
    /// Serves the client: with a flawed certificate, or as any other.
    private let serve: (HandshakeFate?) -> any StreamHandler
    private let refused: (HandshakeFate?, String) -> Void
    /// Called when a client has gone that nobody has served.
    private let gone: () -> Void
    private var stage = Stage.silent
    private var fate: HandshakeFate?
    private var timer: (any LoopTimer)?

    /// - Parameter refused: hears why no connection comes of it.
    init(
        _ loop: any Loop, _ stream: any ByteStream, _ watch: any HandshakeWatch, _ handshake: Handshake,
        refused: @escaping (HandshakeFate?, String) -> Void, gone: @escaping () -> Void,
        serve: @escaping (HandshakeFate?) -> any StreamHandler
    ) {
        self.loop = loop
        self.stream = stream
        self.watch = watch
        self.handshake = handshake
        self.refused = refused
        self.gone = gone
        self.serve = serve
        // Lifetime: the stream keeps its handler until it has ended, and `ended` closes the timer.
        timer = loop.timer { [unowned self] in rang() }
        timer?.arm(at: loop.now.advanced(by: Self.patience))
        stream.isReading = true
    }

    // MARK: StreamHandler

    func connected() { if case .served(let handler) = stage { handler.connected() } }

    func received(_ bytes: Span<UInt8>) {
        switch stage {
        case .silent:
            guard !bytes.isEmpty else { return }
            var held: [UInt8] = []
            held.append(copying: bytes)
            stage = .held(held)
            timer?.cancel()
            // The type of the record that a TLS connection begins with (RFC 8446 5.1). Others are told what to use.
            guard bytes[0] == 22 else { return goOn(nil) }
            watch.judge(handshake) { [weak self] in self?.judged($0) }
        case .held(var held):
            held.append(copying: bytes)
            stage = .held(held)
            if held.count > Self.mostHeld { end("the client says more than a hello") { $0.reset() } }
        case .served(let handler): handler.received(bytes)
        case .over: break
        }
    }

    func receivedEnd() {
        switch stage {
        case .silent, .held: end("the connection was closed in the middle of the TLS handshake") { $0.halfClose() }
        case .served(let handler): handler.receivedEnd()
        case .over: break
        }
    }

    func drained() { if case .served(let handler) = stage { handler.drained() } }

    func ended(_ how: StreamEnd) {
        stream = nil
        timer?.close()
        timer = nil
        switch stage {
        case .silent, .held:
            tell("the connection was reset in the middle of the TLS handshake")
            stage = .over
            gone()
        case .served(let handler): handler.ended(how)
        case .over: gone()
        }
    }

    // MARK: What rules say

    private func judged(_ fate: HandshakeFate?) {
        guard case .held = stage else { return }
        self.fate = fate
        guard let fate else { return goOn(nil) }
        guard let wait = fate.wait else { return }
        if wait == 0 { return carryOut(fate) }
        timer?.arm(at: loop.now.advanced(by: wait))
    }

    private func carryOut(_ fate: HandshakeFate) {
        switch fate.end {
        case .alert(let alert)?:
            end("alert \(alert.rawValue)") {
                $0.write(alert.record.span)
                $0.halfClose()
            }
        case .reset?: end("reset") { $0.reset() }
        case .disconnect?: end("disconnect") { $0.halfClose() }
        case nil: goOn(fate)
        }
    }

    private func goOn(_ fate: HandshakeFate?) {
        guard case .held(let held) = stage else { return }
        let handler = serve(fate)
        stage = .served(handler)
        handler.received(held.span)
    }

    private func rang() {
        switch stage {
        case .silent: end("the TLS handshake took too long") { $0.reset() }
        case .held: if let fate { carryOut(fate) }
        case .served: break
        case .over: stream?.reset()
        }
    }

    /// No connection comes of it.
    private func end(_ why: String, _ last: (any ByteStream) -> Void) {
        stage = .over
        tell(why)
        guard let stream else { return }
        timer?.arm(at: loop.now.advanced(by: Self.lingering))
        last(stream)
    }

    private func tell(_ why: String) {
        refused(fate, why)
        watch.failed(handshake, fate, why: why)
    }
}
