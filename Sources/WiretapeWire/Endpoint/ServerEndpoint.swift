internal import WiretapeBytes

/// The server's end of one connection: HTTP/1.1 with keep-alive and pipelining, and the WebSocket that it may become. No
/// sockets, no clock. Events are taken one by one with ``next()`` and answered before the next is taken, so that what is
/// said does not depend on how much came with one read.
///
/// It has two parts. What stands here reads: from the client's bytes to events. What answers, and knows whose turn it is, is its ``writer``, which
/// is asked whether anything may be read and is told what has come.
///
/// Violations of the peer are answered as the RFCs say: 400, 413, 414, 426, 431, 501, 505 and FIN, or close 1002, 1007, 1009
/// and FIN. Data behind a close frame are dropped.
package struct ServerEndpoint: ~Copyable {
    /// Most bytes of a request's body.
    package static let bodyLimit = 64 << 20
    /// The same for the requests of this connection.
    package var mostBody = bodyLimit
    /// What it refuses by itself is told as `{"error":…,"status":…}`, and not in plain text.
    package var refusesInJSON = false
    /// What the server says to the client.
    package var writer = ServerWriter()

    private var scanner = HTTPScanner(.toServer)
    private var assembler = MessageAssembler(.toServer, listsFragments: false)
    /// Whether what the headers agreed on about compression is known to the assembler.
    private var knowsDeflate = false
    /// Bytes of the client, read up to `at`.
    private var input: [UInt8] = []
    private var at = 0
    /// Events that are to be told next.
    private var due: [ServerEvent] = []
    /// Of a request that has begun and is not whole.
    private var head: RequestHead?
    private var keepAlive = true
    private var body: [UInt8] = []
    /// What the transport told of the client's end.
    private var clientEnd: ClientEnd?

    package init() {}

    // MARK: What the owner looks at

    /// Bytes that it holds: unfinished bodies and messages, what was not looked at, and what was not taken.
    package var heldCount: Int { pendingCount + body.count + assembler.heldCount + writer.outputCount }

    /// Most bytes that a message may have when it is inflated, if that is less than ``bodyLimit``.
    package var room: Int {
        get { assembler.room }
        set { assembler.room = newValue }
    }

    /// Bytes that wait for an answer to the request before them: a reason to stop reading.
    package var pendingCount: Int { writer.state == .over ? 0 : input.count - at }

    /// Whether the next byte starts a WebSocket frame: the WebSocket is open, and everything received was read.
    package var isBetweenFrames: Bool { writer.isOpenWebSocket && pendingCount == 0 && !assembler.isInFrame }

    /// What a client may send next.
    package enum Awaited { case request, head, body, nothing }

    /// What the client has begun and not ended, or what it may begin.
    package var awaited: Awaited {
        guard writer.state == .http, clientEnd == nil else { return .nothing }
        if head != nil { return .body }
        return scanner.partialHead.isEmpty ? .request : .head
    }

    // MARK: The client

    /// Bytes of the client.
    package mutating func received(_ bytes: Span<UInt8>) {
        guard writer.state != .over else { return }
        if at > 0 {
            input.removeFirst(at)
            at = 0
        }
        input.append(copying: bytes)
    }

    /// The client's FIN. An answer that is owed may still be given, and a body that has begun goes on to its end; our FIN follows.
    package mutating func receivedEnd() {
        clientEnd = clientEnd ?? .fin
    }

    /// The connection is gone.
    package mutating func lost(_ how: ClientEnd) {
        if !writer.clientHasEnded { clientEnd = how }
        writer.stop()
        forgetInput()
    }

    /// The next event, until nil: then more bytes are needed, or an answer.
    package mutating func next() -> ServerEvent? {
        while due.isEmpty {
            if writer.state == .over { forgetInput() }
            if writer.takeFinish() { return .finish }
            let hadInput = at < input.count
            switch writer.state {
            case .http: if hadInput { readHTTP() }
            case .webSocket, .closing: if hadInput { readFrames() }
            case .answering, .streaming, .closeOwed, .over: break
            }
            guard due.isEmpty, !writer.wantsFinish, !hadInput || writer.isOwing else { continue }
            guard let clientEnd, !writer.clientHasEnded else { return nil }
            // What the client sent ahead comes before its FIN: each request when the answer before it is given.
            if clientEnd == .fin, hadInput, writer.owesAnswer || writer.isStreaming { return nil }
            end(clientEnd)
            // A client that has only shut down its sending side still gets the answer that is owed, and all of a body that has begun.
            if !writer.owesAnswer, !writer.isStreaming { writer.finish() }
        }
        return due.removeFirst()
    }

    /// Lets go of the request that is owed an answer, and of everything after it: none of it is read here any more.
    /// - Returns: what the client sent behind the request.
    package mutating func handOn() -> [UInt8] {
        guard writer.state == .answering else { return [] }
        let rest = Array(input[at...])
        writer.stop()
        forgetInput()
        return rest
    }

    /// Nothing more of the client is kept: an unfinished request is answered with 503, a WebSocket ends with 1009.
    package mutating func refuse(_ why: String) {
        switch writer.state {
        case .http: refuse(503, why)
        case .webSocket:
            end(.rst(why))
            writer.fail(1009, why)
        case .answering, .streaming, .closing, .closeOwed, .over: writer.finish()
        }
        body = []
        assembler.giveUp()
    }

    /// The client did not end in time what it had begun: 408, and the end.
    package mutating func timeOut(_ reason: String) {
        guard writer.state == .http, due.isEmpty else { return }
        refuse(408, reason)
    }

    private mutating func forgetInput() {
        input = []
        at = 0
    }

    // MARK: Reading

    /// Reads to the end of the input, or to something to tell.
    private mutating func readHTTP() {
        let input = input  // A span of the property would lock all of `self`.
        let bytes = input.span
        while writer.state == .http {
            switch scanner.scan(bytes, from: at) {
            case .more, .response: return forgetInput()
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
            writer.goOn()
        }
    }

    private mutating func complete() {
        guard let head else { return }
        let whole = body
        body = []
        self.head = nil
        switch WebSocketHandshake.judge(head) {
        case .plain:
            writer.owe(head, keepAlive: keepAlive, acceptKey: nil)
            due.append(.request(head, body: whole, isUpgrade: false))
        case .accept(let key):
            writer.owe(head, keepAlive: keepAlive, acceptKey: key)
            due.append(.request(head, body: whole, isUpgrade: true))
        case .refuse(let refusal):
            due.append(.refused(head, refusal))
            writer.refuse(refusal, isHead: head.method == "HEAD", version: head.version)
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
        writer.refuse(refusal)
    }

    /// Reads to the end of the input, or to something to tell.
    private mutating func readFrames() {
        if !knowsDeflate, let deflate = writer.deflate {
            let room = assembler.room
            assembler = MessageAssembler(.toServer, deflate: deflate, listsFragments: false)
            assembler.room = room
            knowsDeflate = true
        }
        let input = input
        let bytes = input.span
        switch assembler.feed(bytes, from: at) {
        case .more: forgetInput()
        case .message(let opcode, let payload, let deflated, _, let next):
            at = next
            due.append(.message(opcode, payload, deflated: deflated))
        case .ping(let payload, let next):
            at = next
            due.append(.ping(payload))
            writer.pong(payload)
        case .pong(let payload, let next):
            at = next
            due.append(.pong(payload))
        case .close(let code, let reason, _):
            end(.closeFrame(code: code, reason: reason))
            writer.clientClosed()
        case .violation(let code, let reason):
            end(.rst("protocol violation: \(reason)"))
            writer.fail(code, reason)
        }
    }

    private mutating func end(_ how: ClientEnd) {
        guard !writer.clientHasEnded else { return }
        writer.noteClientEnd()
        due.append(.ended(how))
    }
}

/// What ``ServerEndpoint`` heard or wants.
package enum ServerEvent: Hashable, Sendable {
    /// A whole request. Nothing of the connection is read further until ``ServerWriter/answer(_:thenClose:date:)`` or
    /// ``ServerWriter/upgrade(_:accept:deflate:date:)``. `isUpgrade`: a valid opening of a WebSocket.
    case request(RequestHead, body: [UInt8], isUpgrade: Bool)
    /// A request that was answered without anybody's help: bad HTTP, too large a body, a bad opening of a WebSocket. The
    /// head is nil when it could not be read.
    case refused(RequestHead?, HTTPAnswer)
    /// A whole WebSocket message, inflated.
    case message(Opcode, [UInt8], deflated: Bool = false)
    /// Answered with a pong already.
    case ping([UInt8])
    case pong([UInt8])
    /// The client ended its side, or must be treated as if it had. Told once. A close frame that answers none of ours wants
    /// an answer: ``ServerWriter/close(code:reason:)`` or ``ServerWriter/finish()``.
    case ended(ClientEnd)
    /// Send FIN after what ``ServerWriter/takeOutput()`` gives, and wait for the client's FIN for a while.
    case finish
}
