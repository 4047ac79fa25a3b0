internal import WiretapeBytes

/// What the server's end of a connection says: answers, streams, the WebSocket's frames, and pongs; and whose turn it is. It is the part of a
/// ``ServerEndpoint`` that nothing but answers passes through: the bytes of the client are the endpoint's.
///
/// States: `http` (a request may be read) ↔ `answering` (one request is told and not answered; what a pipelining client sent
/// meanwhile waits) ↔ `streaming` (the answer's body goes on), then `webSocket` → `closing` (our close frame is out) or
/// `closeOwed` (the client's close frame is told and not answered). Terminal: `over`; what still comes is dropped.
///
/// Ignored: an answer when none is owed, a message before the upgrade. Pings but the latest are dropped while the client does not read.
package struct ServerWriter: ~Copyable {
    enum State { case http, answering, streaming, webSocket, closing, closeOwed, over }

    private(set) var state = State.http
    private var output: [UInt8] = []
    /// The request that is owed an answer, and the key of one that opens a WebSocket.
    private var owed: (head: RequestHead, acceptKey: String?)?
    private var keepAlive = true
    /// How the body that goes on is written: in chunks, until FIN, or, for HEAD, not at all.
    private var streamForm = StreamForm.chunked
    /// What the headers agreed on about compressed messages, and what compresses ours.
    private(set) var deflate: DeflateParameters?
    private var deflater: MessageDeflater?
    /// Whether the client's end was told.
    private(set) var clientHasEnded = false
    /// Whether FIN is to be asked for.
    private(set) var wantsFinish = false
    private var latestPing: [UInt8]?

    private enum StreamForm { case chunked, untilEnd, none }

    /// Set while the client does not read: of the pings that come then, only the latest is answered, afterwards.
    package var isCongested = false {
        didSet { if !isCongested, let ping = latestPing { pong(ping) } }
    }

    /// Pings are not answered.
    package var isMuted = false

    init() {}

    // MARK: What the owner looks at

    /// Bytes to write, in order. They are the caller's then.
    package mutating func takeOutput() -> [UInt8] {
        let taken = output
        output = []
        return taken
    }

    package var outputCount: Int { output.count }

    /// Whether it speaks HTTP: its output grows with what is read.
    package var isHTTP: Bool { state == .http || state == .answering || state == .streaming }

    /// Whether messages can be sent.
    package var isOpenWebSocket: Bool { state == .webSocket }

    /// Whether the client's close frame waits for its answer: ``close(code:reason:)``, or ``finish()`` without one.
    package var owesClose: Bool { state == .closeOwed }

    /// Whether a request waits for its answer.
    package var owesAnswer: Bool { state == .answering }

    /// Whether a body goes on.
    package var isStreaming: Bool { state == .streaming }

    // MARK: What the server says

    /// Answers the request that is owed one.
    package mutating func answer(_ answer: HTTPAnswer, thenClose: Bool, date: String?) {
        guard state == .answering, let head = owed?.head else { return }
        let goesOn = keepAlive && !thenClose && !clientHasEnded
        HTTPHeadWriter.append(
            answer, isHead: head.method == "HEAD", version: head.version, keepAlive: goesOn, date: date, into: &output)
        owed = nil
        if goesOn { state = .http } else { finish() }
    }

    /// Answers the request with a head, the answer's body as first bytes, and a body that goes on with ``piece(_:)``.
    package mutating func beginStream(_ answer: HTTPAnswer, date: String?) {
        guard state == .answering, let head = owed?.head else { return }
        let isChunked = head.version != "1.0"
        keepAlive = keepAlive && isChunked && !clientHasEnded
        streamForm = head.method == "HEAD" ? .none : isChunked ? .chunked : .untilEnd
        HTTPHeadWriter.appendStream(answer, isChunked: isChunked, keepAlive: keepAlive, date: date, into: &output)
        owed = nil
        state = .streaming
        piece(answer.body.span)
    }

    /// The next bytes of the body, as one chunk.
    package mutating func piece(_ bytes: Span<UInt8>) {
        guard state == .streaming, bytes.count > 0, streamForm != .none else { return }
        if streamForm == .chunked { output.append(utf8: String(bytes.count, radix: 16) + "\r\n") }
        output.append(copying: bytes)
        if streamForm == .chunked { output.append(utf8: "\r\n") }
    }

    /// The body's proper end.
    package mutating func endStream() {
        guard state == .streaming else { return }
        if streamForm == .chunked { output.append(utf8: "0\r\n\r\n") }
        if keepAlive, !clientHasEnded { state = .http } else { finish() }
    }

    /// Answers 101 and is a WebSocket from now on. To a request that is no opening of a WebSocket it answers 426.
    /// - Returns: the head of the answer, as sent.
    /// - Parameters:
    ///   - accept: instead of the right key.
    ///   - deflate: what the headers agree on.
    @discardableResult
    package mutating func upgrade(
        _ headers: [HeaderField], accept: String? = nil, deflate: DeflateParameters? = nil, date: String?
    ) -> ResponseHead? {
        guard state == .answering else { return nil }
        guard let acceptKey = owed?.acceptKey else {
            var refusal = HTTPAnswer(status: 426, body: Array("wiretape: a WebSocket is served here\n".utf8))
            refusal.headers = [HeaderField("Upgrade", "websocket"), HeaderField("Content-Type", "text/plain")]
            answer(refusal, thenClose: false, date: date)
            return ResponseHead(status: 426, reason: statusText(426), headers: refusal.headers)
        }
        var fields = [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")]
        fields.append(HeaderField("Sec-WebSocket-Accept", accept ?? acceptKey))
        if let date { fields.append(HeaderField("Date", date)) }
        let answer = ResponseHead(status: 101, reason: statusText(101), headers: fields + headers)
        HTTPHeadWriter.append(answer, into: &output)
        owed = nil
        self.deflate = deflate
        if let deflate { deflater = MessageDeflater(.toClient, deflate) }
        state = .webSocket
        if clientHasEnded { finish() }
        return answer
    }

    /// One WebSocket message.
    /// - Parameters:
    ///   - deflated: compress the message if the upgrade agreed on compression.
    ///   - frames: how the message is split into frames. Sizes count bytes after compression.
    /// - Returns: whether the message was compressed, and the byte count of each frame (empty for one frame).
    @discardableResult
    package mutating func send(
        _ opcode: Opcode, _ payload: Span<UInt8>, deflated: Bool = false, frames: MessageFrames = .one
    ) -> (isDeflated: Bool, frames: [Int]) {
        guard state == .webSocket else { return (false, []) }
        let code: UInt8 = opcode == .text ? 1 : 2
        if deflated, let packed = deflater?.pack(payload) {
            let written = FrameWriter.append(
                opcode: code, rsv1: true, payload: packed.span, frames: frames, into: &output)
            return (true, written)
        }
        return (false, FrameWriter.append(opcode: code, payload: payload, frames: frames, into: &output))
    }

    /// These bytes as they are, whatever they are to HTTP or to frames. A request that is owed an answer has it.
    package mutating func raw(_ bytes: [UInt8]) {
        guard state != .over else { return }
        output += bytes
        if state == .answering {
            owed = nil
            state = .http
        }
    }

    /// Begins the closing handshake with whatever code: messages of the client are still told until its close frame, which
    /// ends with `finish`. Or answers the client's close frame, and `finish` follows.
    package mutating func close(code: UInt16?, reason: String) {
        guard state == .webSocket || state == .closeOwed else { return }
        FrameWriter.appendClose(code: code, reason: reason, into: &output)
        if state == .closeOwed { finish() } else { state = .closing }
    }

    /// Ends the connection after what is written.
    package mutating func finish() {
        guard state != .over else { return }
        state = .over
        wantsFinish = true
    }

    // MARK: What the endpoint has read

    /// Whether nothing is read until the server has spoken, or ever.
    var isOwing: Bool { state == .answering || state == .streaming || state == .closeOwed || state == .over }

    /// A request was read.
    mutating func owe(_ head: RequestHead, keepAlive: Bool, acceptKey: String?) {
        guard state == .http else { return }
        owed = (head, acceptKey)
        self.keepAlive = keepAlive
        state = .answering
    }

    /// The client waits for this before it sends the request's body.
    mutating func goOn() { output.append(utf8: "HTTP/1.1 100 Continue\r\n\r\n") }

    /// Answers what is no proper request, and ends the connection.
    mutating func refuse(_ answer: HTTPAnswer, isHead: Bool = false, version: String = "1.1") {
        HTTPHeadWriter.append(answer, isHead: isHead, version: version, keepAlive: false, into: &output)
        finish()
    }

    mutating func pong(_ payload: [UInt8]) {
        guard state == .webSocket, !isMuted else { return }
        latestPing = isCongested ? payload : nil
        if !isCongested { FrameWriter.append(opcode: 10, payload: payload.span, into: &output) }
    }

    /// The client's close frame was read. It is answered unless it is an answer.
    mutating func clientClosed() {
        if state == .webSocket { state = .closeOwed } else { finish() }
    }

    /// Ends a WebSocket with this close frame, unless one is out.
    mutating func fail(_ code: UInt16, _ reason: String) {
        if state == .webSocket { FrameWriter.appendClose(code: code, reason: reason, into: &output) }
        finish()
    }

    mutating func noteClientEnd() { clientHasEnded = true }

    /// Whether FIN is to be sent; asked once.
    mutating func takeFinish() -> Bool {
        defer { wantsFinish = false }
        return wantsFinish
    }

    /// Says nothing more, and does not ask for FIN: the connection is gone or somebody else's.
    mutating func stop() {
        state = .over
        owed = nil
    }
}
