import WiretapeBytes
import WiretapeRuntime
import WiretapeWire

/// One end of a WebSocket in a test: opens it or grants it, and keeps bytes, messages and ends with their times.
final class FramePeer: StreamHandler {
    let loop: any Loop
    let direction: Direction
    var stream: (any ByteStream)?
    var deflate: DeflateParameters?
    /// What came behind the head, as bytes.
    var raw: [UInt8] = []
    var head: ResponseHead?
    var request: RequestHead?
    /// Whole messages and control frames, each with its time in milliseconds: `hello`, `ping`, `close 1000`.
    var heard: [(text: String, at: UInt64)] = []
    var sawEnd: UInt64?
    var end: (how: StreamEnd, at: UInt64)?
    var onOpen: (FramePeer) -> Void = { _ in }
    var onMessage: (FramePeer, String) -> Void = { _, _ in }
    /// Reads nothing of the connection while false.
    var reads = true
    var answersClose = true
    private var assembler: MessageAssembler
    private var deflater: Deflater?
    private var scanner: HTTPScanner
    private var isOpen = false
    var didEnd = false

    /// - Parameter direction: of what it sends: `.toServer` for a client.
    init(_ loop: any Loop, _ direction: Direction, deflate: DeflateParameters? = nil) {
        self.loop = loop
        self.direction = direction
        self.deflate = deflate
        assembler = MessageAssembler(direction.reversed, deflate: deflate)
        scanner = HTTPScanner(direction.reversed)
    }

    var texts: [String] { heard.map(\.text) }
    var now: UInt64 { loop.now.nanoseconds / 1_000_000 }

    // MARK: Saying

    func open(_ path: String = "/ws", headers: [String] = []) {
        var lines = [
            "GET \(path) HTTP/1.1", "Host: p", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        ]
        if deflate != nil { lines.append("Sec-WebSocket-Extensions: permessage-deflate") }
        send(Array((lines + headers + ["", ""]).joined(separator: "\r\n").utf8))
    }

    func send(_ bytes: [UInt8]) { stream?.write(bytes.span) }

    func say(_ text: String) { send(frame(1, Array(text.utf8))) }

    func ping() { send(frame(9, Array("p".utf8))) }

    func close(_ code: UInt16) {
        var out: [UInt8] = []
        FrameWriter.appendClose(code: code, mask: direction == .toServer ? 0x0102_0304 : nil, into: &out)
        send(out)
    }

    func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        let mask: UInt32? = direction == .toServer ? 0x0102_0304 : nil
        guard let deflate, opcode < 8 else {
            FrameWriter.append(opcode: opcode, payload: payload.span, mask: mask, into: &out)
            return out
        }
        if deflater == nil || deflate.resetsContext(direction) {
            deflater = Deflater(windowBits: deflate.windowBits(direction))
        }
        var packed: [UInt8] = []
        _ = deflater?.append(payload.span, flush: .message, into: &packed)
        FrameWriter.append(opcode: opcode, rsv1: true, payload: packed.span, mask: mask, into: &out)
        return out
    }

    // MARK: Hearing

    func connected() {
        stream?.isReading = reads
        if direction == .toServer { onOpen(self) }
    }

    func received(_ bytes: Span<UInt8>) {
        var all: [UInt8] = []
        all.append(copying: bytes)
        if isOpen { return frames(all) }
        switch scanner.scan(bytes, from: 0) {
        case .request(let head, _, _):
            request = head
            isOpen = true
            var answer = [
                "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                "Sec-WebSocket-Accept: \(WebSocketHandshake.acceptKey(for: head.headers.first("Sec-WebSocket-Key") ?? ""))",
            ]
            if deflate != nil { answer.append("Sec-WebSocket-Extensions: permessage-deflate") }
            send(Array((answer + ["", ""]).joined(separator: "\r\n").utf8))
            onOpen(self)
        case .response(let head, _, let next):
            self.head = head
            isOpen = true
            if head.status == 101 { onMessage(self, "open") }
            let rest = Array(all[next...])
            if !rest.isEmpty { frames(rest) }
        default: break
        }
    }

    private func frames(_ bytes: [UInt8]) {
        raw += bytes
        var at = 0
        while true {
            switch assembler.feed(bytes.span, from: at) {
            case .more: return
            case .message(_, let payload, _, _, let next):
                at = next
                let text = String(decoding: payload, as: UTF8.self)
                heard.append((text, now))
                onMessage(self, text)
            case .ping(let payload, let next):
                at = next
                heard.append(("ping", now))
                send(frame(10, payload))
            case .pong(_, let next):
                at = next
                heard.append(("pong", now))
            case .close(let code, _, let next):
                at = next
                heard.append(("close \(code ?? 0)", now))
                if answersClose, !didEnd {
                    didEnd = true
                    if let code { close(code) }
                    stream?.halfClose()
                }
            case .violation(let code, _):
                heard.append(("violation \(code)", now))
                return
            }
        }
    }

    func receivedEnd() {
        sawEnd = now
        if !didEnd {
            didEnd = true
            stream?.halfClose()
        }
    }

    func drained() {}

    func ended(_ how: StreamEnd) {
        end = (how, now)
        stream = nil
    }
}
