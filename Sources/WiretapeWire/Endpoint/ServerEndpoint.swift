internal import WiretapeBytes

/// The server's end of one connection: HTTP/1.1 with keep-alive and pipelining, and the WebSocket that it may become. No
/// sockets, no clock. Events are taken one by one with ``next()`` and answered before the next is taken, so that what is
/// said does not depend on how much came with one read.
///
/// States: `http` (reads a request) ↔ `answering` (one request is told and not answered; what a pipelining client sent
/// meanwhile waits) ↔ `streaming` (the answer's body goes on), then `webSocket` → `closing` (our close frame is out) or
/// `closeOwed` (the client's close frame is told and not answered). Terminal: `over`; what still comes is dropped.
///
/// Unreachable for peers, and ignored: an answer when none is owed, a message before the upgrade. Violations of the peer
/// are answered as the RFCs say: 400, 413, 414, 426, 431, 501, 505 and FIN, or close 1002, 1007, 1009 and FIN. Dropped by
/// right: data behind a close frame, pings but the latest while the client does not read.
package struct ServerEndpoint: ~Copyable {
    /// Most bytes of a request's body.
    package static let bodyLimit = 64 << 20
    /// The same for the requests of this connection.
    package var mostBody = bodyLimit
    /// What it refuses by itself is told as `{"error":…,"status":…}`, and not in plain text.
    package var refusesInJSON = false

    enum State { case http, answering, streaming, webSocket, closing, closeOwed, over }

    private(set) var state = State.http
    private var scanner = HTTPScanner(.toServer)
    private var assembler = MessageAssembler(.toServer, listsFragments: false)
    /// Of a WebSocket whose messages may be compressed.
    private var deflater: MessageDeflater?
    private var output: [UInt8] = []
    /// Bytes of the client, read up to `at`.
    private var input: [UInt8] = []
    private var at = 0
    /// Events that are to be told next.
    private var due: [ServerEvent] = []
    private var head: RequestHead?
    private var keepAlive = true
    private var acceptKey: String?
    /// How the body that goes on is written: in chunks, until FIN, or, for HEAD, not at all.
    private var streamForm = StreamForm.chunked
    private var body: [UInt8] = []
    private var hasEnded = false
    /// What the transport told of the client's end.
    private var clientEnd: ClientEnd?
    private var latestPing: [UInt8]?

    /// Set while the client does not read: of the pings that come then, only the latest is answered, afterwards.
    package var isCongested = false {
        didSet { if !isCongested, let ping = latestPing { pong(ping) } }
    }

    /// Pings are not answered.
    package var isMuted = false

    package init() {}

    // MARK: What the owner looks at

    /// Bytes to write, in order. They are the caller's then.
    package mutating func takeOutput() -> [UInt8] {
        let taken = output
        output = []
        return taken
    }

    package var outputCount: Int { output.count }

    /// Bytes that it holds: unfinished bodies and messages, what was not looked at, and what was not taken.
    package var heldCount: Int { input.count - at + body.count + assembler.heldCount + output.count }

    /// Most bytes that a message may have when it is inflated, if that is less than ``bodyLimit``.
    package var room: Int {
        get { assembler.room }
        set { assembler.room = newValue }
    }

    /// Bytes that wait for an answer to the request before them: a reason to stop reading.
    package var pendingCount: Int { input.count - at }

    /// Whether it speaks HTTP: its output grows with what is read.
    package var isHTTP: Bool { state == .http || state == .answering || state == .streaming }

    /// Whether messages can be sent.
    package var isOpenWebSocket: Bool { state == .webSocket }

    /// Whether the client's close frame waits for its answer: ``close(code:reason:)``, or ``finish()`` without one.
    package var owesClose: Bool { state == .closeOwed }

    /// Whether a request waits for its answer.
    package var owesAnswer: Bool { state == .answering }

    /// What a client may send next.
    package enum Awaited { case request, head, body, nothing }

    /// What the client has begun and not ended, or what it may begin.
    package var awaited: Awaited {
        guard state == .http, clientEnd == nil else { return .nothing }
        if head != nil { return .body }
        return scanner.partialHead.isEmpty ? .request : .head
    }

    /// Whether a body goes on.
    package var isStreaming: Bool { state == .streaming }

    private enum StreamForm { case chunked, untilEnd, none }

    // MARK: The client

    /// Bytes of the client.
    package mutating func received(_ bytes: Span<UInt8>) {
        guard state != .over else { return }
        if at > 0 {
            input.removeFirst(at)
            at = 0
        }
        input.append(copying: bytes)
    }

    /// The client's FIN. An answer that is owed may still be given; our FIN follows it.
    package mutating func receivedEnd() {
        clientEnd = clientEnd ?? .fin
    }

    /// The connection is gone.
    package mutating func lost(_ how: ClientEnd) {
        clientEnd = clientEnd ?? how
        state = .over
        input = []
        at = 0
    }

    /// The next event, until nil: then more bytes are needed, or an answer.
    package mutating func next() -> ServerEvent? {
        while due.isEmpty {
            let hadInput = at < input.count
            switch state {
            case .http: if hadInput { readHTTP() }
            case .webSocket, .closing: if hadInput { readFrames() }
            case .answering, .streaming, .closeOwed, .over: break
            }
            let waits = state == .answering || state == .streaming || state == .closeOwed || state == .over
            guard due.isEmpty, !hadInput || waits else { continue }
            guard let clientEnd, !hasEnded else { return nil }
            end(clientEnd)
            // An answer may still come; nobody is left for a body without an end.
            if state != .answering { finish() }
        }
        return due.removeFirst()
    }

    // MARK: The server

    /// Answers the request that is owed one.
    package mutating func answer(_ answer: HTTPAnswer, thenClose: Bool, date: String?) {
        guard state == .answering, let head else { return }
        let goesOn = keepAlive && !thenClose && !hasEnded
        HTTPHeadWriter.append(
            answer, isHead: head.method == "HEAD", version: head.version, keepAlive: goesOn, date: date, into: &output)
        self.head = nil
        if goesOn { state = .http } else { finish() }
    }

    /// Answers the request with a head, the answer's body as first bytes, and a body that goes on with ``piece(_:)``.
    package mutating func beginStream(_ answer: HTTPAnswer, date: String?) {
        guard state == .answering, let head else { return }
        let isChunked = head.version != "1.0"
        keepAlive = keepAlive && isChunked && !hasEnded
        streamForm = head.method == "HEAD" ? .none : isChunked ? .chunked : .untilEnd
        HTTPHeadWriter.appendStream(answer, isChunked: isChunked, keepAlive: keepAlive, date: date, into: &output)
        self.head = nil
        state = .streaming
        piece(answer.body.span)
        if hasEnded { finish() }
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
        if keepAlive { state = .http } else { finish() }
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
        guard let acceptKey else {
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
        head = nil
        if let deflate {
            assembler = MessageAssembler(.toServer, deflate: deflate, listsFragments: false)
            deflater = MessageDeflater(.toClient, deflate)
        }
        state = .webSocket
        if hasEnded { finish() }
        return answer
    }

    /// One WebSocket message.
    /// - Parameter deflated: compressed where that was agreed on.
    /// - Returns: whether it was.
    @discardableResult
    package mutating func send(_ opcode: Opcode, _ payload: Span<UInt8>, deflated: Bool = false) -> Bool {
        guard state == .webSocket else { return false }
        let code: UInt8 = opcode == .text ? 1 : 2
        if deflated, let packed = deflater?.pack(payload) {
            FrameWriter.append(opcode: code, rsv1: true, payload: packed.span, into: &output)
            return true
        }
        FrameWriter.append(opcode: code, payload: payload, into: &output)
        return false
    }

    /// These bytes as they are, whatever they are to HTTP or to frames. A request that is owed an answer has it.
    package mutating func raw(_ bytes: [UInt8]) {
        guard state != .over else { return }
        output += bytes
        if state == .answering {
            head = nil
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

    /// Lets go of the request that is owed an answer, and of everything after it: none of it is read here any more.
    /// - Returns: what the client sent behind the request.
    package mutating func handOn() -> [UInt8] {
        guard state == .answering else { return [] }
        let rest = Array(input[at...])
        state = .over
        head = nil
        input = []
        at = 0
        return rest
    }

    /// Nothing more of the client is kept: an unfinished request is answered with 503, a WebSocket ends with 1009.
    package mutating func refuse(_ why: String) {
        switch state {
        case .http: refuse(503, why)
        case .webSocket:
            FrameWriter.appendClose(code: 1009, reason: why, into: &output)
            end(.rst(why))
            finish()
        case .answering, .streaming, .closing, .closeOwed, .over: finish()
        }
        body = []
        assembler.giveUp()
    }

    /// Ends the connection after what is written.
    package mutating func finish() {
        guard state != .over else { return }
        state = .over
        input = []
        at = 0
        due.append(.finish)
    }

    /// The client did not end in time what it had begun: 408, and the end.
    package mutating func timeOut(_ reason: String) {
        guard state == .http, due.isEmpty else { return }
        refuse(408, reason)
    }

    // MARK: Reading

    /// Reads to the end of the input, or to something to tell.
    private mutating func readHTTP() {
        let input = input  // A span of the property would lock all of `self`.
        let bytes = input.span
        while state == .http {
            switch scanner.scan(bytes, from: at) {
            case .more, .response:
                self.input = []
                at = 0
                return
            case .request(let head, let info, let next):
                at = next
                begin(head, info)
            case .body(let range, let next):
                at = next
                if body.count + range.count > mostBody {
                    refuse(413, "the body is over \(mostBody >> 20) MiB")
                } else {
                    body.append(copying: bytes.extracting(range))
                }
            case .end(_, let next):
                at = next
                complete()
            case .bad(let fault, _):
                refuse(fault.status, fault.reason)
            }
        }
    }

    private mutating func begin(_ head: RequestHead, _ info: HTTPHeadInfo) {
        self.head = head
        keepAlive = info.keepAlive
        body = []
        if case .length(let count) = info.framing, count > UInt64(mostBody) {
            refuse(413, "the body is over \(mostBody >> 20) MiB")
        } else if info.expectsContinue, info.framing != .none {
            output.append(utf8: "HTTP/1.1 100 Continue\r\n\r\n")
        }
    }

    private mutating func complete() {
        guard let head else { return }
        let whole = body
        body = []
        state = .answering
        switch WebSocketHandshake.judge(head) {
        case .plain:
            acceptKey = nil
            due.append(.request(head, body: whole, isUpgrade: false))
        case .accept(let key):
            acceptKey = key
            due.append(.request(head, body: whole, isUpgrade: true))
        case .refuse(let refusal):
            due.append(.refused(head, refusal))
            HTTPHeadWriter.append(
                refusal, isHead: head.method == "HEAD", version: head.version, keepAlive: false, into: &output)
            finish()
        }
    }

    private mutating func refuse(_ status: Int, _ text: String) {
        let type = refusesInJSON ? "application/json" : "text/plain; charset=utf-8"
        var body = Array("wiretape: \(text)\n".utf8)
        if refusesInJSON {
            body = Array(
                JSONValue.object([.init("error", .string(text)), .init("status", .number(status))]).text.utf8)
        }
        let refusal = HTTPAnswer(status: status, headers: [HeaderField("Content-Type", type)], body: body)
        due.append(.refused(head, refusal))
        HTTPHeadWriter.append(refusal, keepAlive: false, into: &output)
        finish()
    }

    /// Reads to the end of the input, or to something to tell.
    private mutating func readFrames() {
        let input = input
        let bytes = input.span
        switch assembler.feed(bytes, from: at) {
        case .more:
            self.input = []
            at = 0
        case .message(let opcode, let payload, let deflated, _, let next):
            at = next
            due.append(.message(opcode, payload, deflated: deflated))
        case .ping(let payload, let next):
            at = next
            due.append(.ping(payload))
            if state == .webSocket { pong(payload) }
        case .pong(let payload, let next):
            at = next
            due.append(.pong(payload))
        case .close(let code, let reason, _):
            end(.closeFrame(code: code, reason: reason))
            if state == .webSocket { state = .closeOwed } else { finish() }
        case .violation(let code, let reason):
            if state == .webSocket { FrameWriter.appendClose(code: code, reason: reason, into: &output) }
            end(.rst("protocol violation: \(reason)"))
            finish()
        }
    }

    private mutating func pong(_ payload: [UInt8]) {
        guard !isMuted else { return }
        latestPing = isCongested ? payload : nil
        if !isCongested, state == .webSocket { FrameWriter.append(opcode: 10, payload: payload.span, into: &output) }
    }

    private mutating func end(_ how: ClientEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        due.append(.ended(how))
    }
}
