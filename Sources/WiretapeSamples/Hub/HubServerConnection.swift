internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// One TCP connection of the hub: HTTP/1.1 requests, then perhaps a WebSocket, whose messages a ``HubMember`` gets.
final class HubServerConnection: StreamHandler {
    private enum State {
        case http, open, closing
    }

    private static let bodyLimit = 64 << 10
    /// Reading stops while more than this is queued, and a member that lets so many times more pile up is cut.
    private static let highWater = 256 << 10
    /// How long a client may take to end its side after ours.
    private static let linger: UInt64 = 5_000_000_000

    private let hub: SampleHub
    private let stream: any ByteStream
    private var state = State.http
    private var scanner = HTTPScanner(.toServer)
    private var request: RequestHead?
    private var keepAlive = true
    private var bodyLength = 0
    private var assembler = MessageAssembler(.toServer, limit: 1 << 20)
    private var member: HubMember?
    private var timer: (any LoopTimer)?

    init(_ hub: SampleHub, _ stream: any ByteStream) {
        self.hub = hub
        self.stream = stream
        stream.isReading = true
    }

    // MARK: What the stream tells

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        let at = readRequests(bytes)
        readFrames(bytes, from: at)
        if case .closing = state { return }
        if stream.queued > Self.highWater { stream.isReading = false }
    }

    func receivedEnd() {
        leave()
        end()
    }

    func drained() {
        if case .closing = state { return }
        stream.isReading = true
    }

    func ended(_: StreamEnd) {
        state = .closing
        leave()
        timer?.close()
        timer = nil
    }

    // MARK: What the member does

    func send(_ payload: [UInt8]) {
        guard case .open = state else { return }
        var frame: [UInt8] = []
        FrameWriter.append(opcode: 1, payload: payload.span, into: &frame)
        stream.write(frame.span)
        if stream.queued > Self.highWater * 64 { cut() }
    }

    /// A close frame; the client answers with its own.
    func close(code: UInt16) {
        guard case .open = state else { return }
        sendClose(code)
        end()
    }

    func cut() {
        state = .closing
        leave()
        stream.reset()
    }

    // MARK: HTTP

    /// Returns where the frames begin.
    private func readRequests(_ bytes: Span<UInt8>) -> Int {
        var at = 0
        while case .http = state {
            switch scanner.scan(bytes, from: at) {
            case .more: return bytes.count
            case .request(let head, let info, let next):
                at = next
                request = head
                keepAlive = info.keepAlive
                bodyLength = 0
                if info.expectsContinue { write("HTTP/1.1 100 Continue\r\n\r\n") }
            case .body(let range, let next):
                at = next
                bodyLength += range.count
                if bodyLength > Self.bodyLimit { refuse(413, "body over 64 KiB") }
            case .end(_, let next):
                at = next
                if let request { answer(request) }
            case .response(_, _, let next): at = next
            case .bad(let fault, _): refuse(fault.status, fault.reason)
            }
        }
        return at
    }

    private func answer(_ request: RequestHead) {
        let path = request.path
        switch (request.method, path) {
        case ("POST", hub.options.path + "/negotiate"):
            respond(200, hub.negotiate(request).text, "application/json")
        case (_, hub.options.path + "/negotiate"): respond(405, "negotiate is asked with POST\n")
        case ("GET", hub.options.path): upgrade(request)
        case ("GET", "/"): respond(200, "wiretape's sample hub\n")
        case ("POST", "/kick"):
            hub.cut()
            respond(200, "kicked\n")
        default: respond(404, "nothing at \(path); the hub is at \(hub.options.path)\n")
        }
    }

    private func upgrade(_ request: RequestHead) {
        switch WebSocketHandshake.judge(request) {
        case .plain: respond(400, "the hub speaks WebSockets only\n")
        case .refuse(let answer): respond(answer.status, String(decoding: answer.body, as: UTF8.self))
        case .accept(let key):
            guard hub.claim(request.query.first { $0.name == "id" }?.value) else {
                return respond(404, "No Connection with that ID")
            }
            write(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Accept: \(key)\r\n\r\n")
            state = .open
            member = HubMember(hub, self, user: request.query.first { $0.name == "user" }?.value ?? "")
        }
    }

    private func respond(_ status: Int, _ body: String, _ type: String = "text/plain; charset=utf-8") {
        let text = body.utf8.count
        write(
            "HTTP/1.1 \(status) \(HubServerConnection.words(status))\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(text)\r\n\(keepAlive ? "" : "Connection: close\r\n")\r\n\(body)")
        if !keepAlive { end() }
    }

    private func refuse(_ status: Int, _ reason: String) {
        keepAlive = false
        respond(status, reason + "\n")
    }

    private static func words(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 413: "Content Too Large"
        case 426: "Upgrade Required"
        case 500...: "Error"
        default: "Bad Request"
        }
    }

    private func write(_ text: String) {
        var bytes: [UInt8] = []
        bytes.append(utf8: text)
        stream.write(bytes.span)
    }

    // MARK: WebSocket

    private func readFrames(_ bytes: Span<UInt8>, from: Int) {
        var at = from
        while case .open = state {
            switch assembler.feed(bytes, from: at) {
            case .more: return
            case .message(_, let payload, _, _, let next):
                at = next
                member?.received(payload)
            case .ping(let payload, let next):
                at = next
                var pong: [UInt8] = []
                FrameWriter.append(opcode: 10, payload: payload.span, into: &pong)
                stream.write(pong.span)
            case .pong(_, let next): at = next
            case .close(let code, _, _):
                sendClose(code)
                leave()
                end()
            case .violation(let code, _):
                sendClose(code)
                leave()
                end()
            }
        }
    }

    private func sendClose(_ code: UInt16?) {
        var frame: [UInt8] = []
        FrameWriter.appendClose(code: code, into: &frame)
        stream.write(frame.span)
    }

    private func leave() {
        member?.left()
        member = nil
    }

    private func end() {
        if case .closing = state { return }
        state = .closing
        leave()
        stream.halfClose()
        stream.isReading = true
        let timer = hub.loop.timer { [weak self] in self?.stream.reset() }
        timer.arm(at: hub.loop.now.advanced(by: Self.linger))
        self.timer = timer
    }
}
