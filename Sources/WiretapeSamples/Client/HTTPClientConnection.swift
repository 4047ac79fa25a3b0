internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// One TCP connection of a client: one request and its answer, and a WebSocket when that is 101.
///
/// Exactly one of `.response` and `.ended` is told for a request, and `.ended` once for a WebSocket. What comes from the
/// server is limited: 1 MiB for a body, 16 MiB for a message.
package final class HTTPClientConnection: StreamHandler {
    package enum Event: Hashable, Sendable {
        /// Any answer but a 101 that was asked for.
        case response(ResponseHead, body: [UInt8])
        case opened
        case message([UInt8])
        /// In words for people.
        case ended(String)
    }

    private enum State {
        case connecting, waiting, open, closing, over
    }

    /// How long the server may take to end its side after ours.
    private static let linger: UInt64 = 5_000_000_000
    private static let bodyLimit = 1 << 20

    private let loop: any Loop
    private let tell: (Event) -> Void
    private var addresses: [Address]
    private let request: [UInt8]
    private let acceptKey: String?
    private var stream: (any ByteStream)?
    private var state = State.connecting
    private var scanner = HTTPScanner(.toClient)
    private var response: ResponseHead?
    private var body: [UInt8] = []
    private var assembler = MessageAssembler(.toClient, limit: 16 << 20)
    private var random: SplitMix64
    private var timer: (any LoopTimer)?

    /// - Parameters:
    ///   - addresses: tried in order.
    ///   - key: of a WebSocket's opening handshake, which `request` must be; nil for a plain request.
    ///   - seed: for the masks.
    package init(
        _ loop: any Loop, _ addresses: [Address], request: [UInt8], key: String?, seed: UInt64,
        _ tell: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.addresses = addresses
        self.request = request
        self.tell = tell
        acceptKey = key.map { WebSocketHandshake.acceptKey(for: $0) }
        random = SplitMix64(seed: seed)
        connect()
    }

    private func connect() {
        guard !addresses.isEmpty else { return }
        stream = loop.connect(to: addresses.removeFirst(), self)
    }

    // MARK: What the owner does

    /// Sends a text message; does nothing when the WebSocket is not open.
    package func send(_ payload: [UInt8]) {
        guard case .open = state else { return }
        var frame: [UInt8] = []
        FrameWriter.append(
            opcode: 1, payload: payload.span, mask: UInt32(truncatingIfNeeded: random.next()), into: &frame)
        stream?.write(frame.span)
    }

    /// Ends in order: a close frame and FIN. Nothing is told after this.
    package func close(code: UInt16 = 1000) {
        switch state {
        case .open:
            sendClose(code)
            end()
        case .connecting, .waiting:
            state = .over
            stream?.reset()
        case .closing, .over: break
        }
    }

    // MARK: What the stream tells

    package func connected() {
        guard case .connecting = state else { return }
        state = .waiting
        stream?.isReading = true
        let bytes = request
        stream?.write(bytes.span)
    }

    package func received(_ bytes: Span<UInt8>) {
        var at = 0
        if case .waiting = state { at = readResponse(bytes) }
        readFrames(bytes, from: at)
    }

    package func receivedEnd() {
        switch state {
        case .waiting:
            if scanner.finish() == .endOfBody, let response {
                end()
                tell(.response(response, body: body))
            } else {
                fail("connection ended without an answer")
            }
        case .open: fail("connection ended without a close frame")
        case .connecting, .closing, .over: break
        }
    }

    package func drained() {}

    package func ended(_ how: StreamEnd) {
        stream = nil
        timer?.close()
        timer = nil
        switch state {
        case .connecting where !addresses.isEmpty: connect()
        case .connecting, .waiting, .open:
            state = .over
            tell(.ended(HTTPClientConnection.words(how)))
        case .closing, .over: state = .over
        }
    }

    // MARK: Reading

    /// Returns where the frames begin.
    private func readResponse(_ bytes: Span<UInt8>) -> Int {
        var at = 0
        while case .waiting = state {
            switch scanner.scan(bytes, from: at) {
            case .more: return bytes.count
            case .request(_, _, let next): at = next
            case .response(let head, let info, let next):
                at = next
                if info.isInterim { continue }
                response = head
                if head.status == 101 { open(head) }
            case .body(let range, let next):
                at = next
                guard body.count + range.count <= Self.bodyLimit else {
                    fail("answer over 1 MiB")
                    break
                }
                body.append(copying: bytes.extracting(range))
            case .end:
                guard let response else { break }
                end()
                tell(.response(response, body: body))
                return bytes.count
            case .bad(let fault, _): fail("not an HTTP answer: \(fault.reason)")
            }
        }
        return at
    }

    private func open(_ head: ResponseHead) {
        guard let acceptKey, head.headers.first("Sec-WebSocket-Accept") == acceptKey else {
            return fail("wrong Sec-WebSocket-Accept")
        }
        state = .open
        tell(.opened)
    }

    private func readFrames(_ bytes: Span<UInt8>, from: Int) {
        var at = from
        while case .open = state {
            switch assembler.feed(bytes, from: at) {
            case .more: return
            case .message(_, let payload, _, _, let next):
                at = next
                tell(.message(payload))
            case .ping(let payload, let next):
                at = next
                var pong: [UInt8] = []
                FrameWriter.append(
                    opcode: 10, payload: payload.span, mask: UInt32(truncatingIfNeeded: random.next()), into: &pong)
                stream?.write(pong.span)
            case .pong(_, let next): at = next
            case .close(let code, let reason, _):
                sendClose(code)
                fail("closed by the server with \(code ?? 1005)\(reason.isEmpty ? "" : " \(reason)")")
            case .violation(let code, let reason):
                sendClose(code)
                fail("broken WebSocket: \(reason)")
            }
        }
    }

    // MARK: The end

    private func sendClose(_ code: UInt16?) {
        var frame: [UInt8] = []
        FrameWriter.appendClose(code: code, mask: UInt32(truncatingIfNeeded: random.next()), into: &frame)
        stream?.write(frame.span)
    }

    private func fail(_ reason: String) {
        end()
        tell(.ended(reason))
    }

    /// FIN; the server gets some time for its own.
    private func end() {
        state = .closing
        stream?.halfClose()
        stream?.isReading = true
        let timer = loop.timer { [weak self] in self?.stream?.reset() }
        timer.arm(at: loop.now.advanced(by: Self.linger))
        self.timer = timer
    }

    private static func words(_ how: StreamEnd) -> String {
        switch how {
        case .closed: "connection closed"
        case .reset: "connection reset by the server"
        case .aborted: "connection aborted"
        case .failed(let text): text
        }
    }
}
