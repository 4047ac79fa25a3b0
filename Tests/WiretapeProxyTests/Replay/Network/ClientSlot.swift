import WiretapeBytes
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// One TCP connection of a client: HTTP requests one after the other, an event stream, or a WebSocket. What comes is told as
/// ``ClientEvent``s until the client ends the connection itself.
final class ClientSlot: StreamHandler {
    private let number: Int
    private let tell: (ClientEvent) -> Void
    private var stream: (any ByteStream)?
    private var scanner = HTTPScanner(.toClient)
    private var assembler = MessageAssembler(.toClient)
    private var state = State.http
    private var isConnected = false
    private var unsent: [UInt8] = []
    private var response: ResponseHead?
    private var body: [UInt8] = []
    private var hasShut = false

    private enum State { case http, events, webSocket, over }

    init(_ loop: any Loop, to address: Address, _ number: Int, _ tell: @escaping (ClientEvent) -> Void) {
        self.number = number
        self.tell = tell
        stream = loop.connect(to: address, self)
    }

    // MARK: What the client does

    func request(_ head: RequestHead, body: [UInt8]) {
        scanner.expect(method: head.method)
        var text = "\(head.method) \(head.target) HTTP/1.1\r\n"
        for field in head.headers { text += "\(field.name): \(field.value)\r\n" }
        if head.method == "POST" { text += "Content-Length: \(body.count)\r\n" }
        write(Array((text + "\r\n").utf8) + body)
    }

    func send(_ opcode: Opcode, _ payload: [UInt8]) {
        var frame: [UInt8] = []
        FrameWriter.append(opcode: opcode == .text ? 1 : 2, payload: payload.span, mask: 0x1234_5678, into: &frame)
        write(frame)
    }

    func sendClose(_ code: UInt16) {
        var frame: [UInt8] = []
        FrameWriter.appendClose(code: code, mask: 0x1234_5678, into: &frame)
        write(frame)
    }

    /// The client's end: it hears nothing more.
    func end(reset: Bool) {
        state = .over
        if reset { stream?.reset() } else { shut() }
    }

    private func write(_ bytes: [UInt8]) {
        guard isConnected else { return unsent += bytes }
        stream?.write(bytes.span)
    }

    private func shut() {
        guard !hasShut else { return }
        hasShut = true
        if isConnected { stream?.halfClose() }
    }

    // MARK: What the stream tells

    func connected() {
        isConnected = true
        stream?.isReading = true
        let bytes = unsent
        if !bytes.isEmpty { stream?.write(bytes.span) }
        if hasShut { stream?.halfClose() }
    }

    func received(_ bytes: Span<UInt8>) {
        var at = 0
        while true {
            switch state {
            case .http, .events:
                guard let next = readHTTP(bytes, at) else { return }
                at = next
            case .webSocket:
                guard let next = readFrame(bytes, at) else { return }
                at = next
            case .over:
                // The kernel of a client that has closed its socket resets the connection when something comes.
                if hasShut { stream?.reset() }
                return
            }
        }
    }

    func receivedEnd() {
        let isOver = state == .over
        state = .over
        if !isOver { tell(.ended(slot: number, reset: false)) }
        shut()
    }

    func drained() {}

    func ended(_ how: StreamEnd) {
        stream = nil
        guard state != .over else { return }
        state = .over
        tell(.ended(slot: number, reset: how != .closed))
    }

    private func readHTTP(_ bytes: Span<UInt8>, _ at: Int) -> Int? {
        switch scanner.scan(bytes, from: at) {
        case .more, .bad: return nil
        case .request(_, _, let next): return next
        case .response(let head, let info, let next):
            if info.isInterim { return next }
            if head.status == 101 {
                state = .webSocket
                tell(.upgraded(slot: number))
            } else if head.headers.first("Content-Type")?.hasPrefix("text/event-stream") == true {
                state = .events
                tell(.streamOpened(slot: number, status: head.status))
            } else {
                (response, body) = (head, [])
            }
            return next
        case .body(let range, let next):
            var piece: [UInt8] = []
            piece.append(copying: bytes.extracting(range))
            if state == .events { tell(.streamBytes(slot: number, piece)) } else { body += piece }
            return next
        case .end(_, let next):
            if state == .events {
                state = .over
                tell(.streamEnded(slot: number))
            } else if let head = response {
                response = nil
                tell(.answered(slot: number, status: head.status, headers: head.headers, body: body))
            }
            return next
        }
    }

    private func readFrame(_ bytes: Span<UInt8>, _ at: Int) -> Int? {
        switch assembler.feed(bytes, from: at) {
        case .more, .violation: return nil
        case .message(let opcode, let payload, _, _, let next):
            tell(.message(slot: number, opcode, payload))
            return next
        case .ping(_, let next), .pong(_, let next): return next
        case .close(let code, _, _):
            tell(.closeFrame(slot: number, code: code))
            return nil
        }
    }
}
