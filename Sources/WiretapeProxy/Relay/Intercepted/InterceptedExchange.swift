internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapeWire

/// The HTTP part of a held connection: the exchange that is under way, and what the client has sent ahead.
struct InterceptedExchange: ~Copyable {
    enum State {
        /// The head of a request is awaited, or its body, or its answer.
        case idle, request, answer
    }

    /// What becomes of a body.
    enum Body {
        /// It goes on as it came.
        case pass
        /// It goes on in pieces of our own cutting, as far as it is framed in pieces.
        case reframe
        /// It is wanted whole.
        case collect
        /// Its payloads are wanted one by one.
        case payloads
        /// It is thrown away.
        case skip
    }

    /// Bytes sent ahead above which the client is not read any more.
    static let earlyLimit = 64 << 10
    /// Longer bodies are not put together.
    static let bodyLimit = 1 << 20

    private(set) var state = State.idle
    var request = InterceptedRequest()
    var response = InterceptedResponse()
    /// Sent by the client behind the request that is not answered yet.
    private(set) var early: [UInt8] = []
    private(set) var lastX: UInt32 = 0
    /// The exchange that is under way.
    private(set) var live: LiveExchange?
    /// The server's 100 is ours already.
    private(set) var swallowsContinue = false
    private(set) var stream: InterceptedStream?
    /// What its answer is made from that leads the client back; nil: it goes on as it is.
    private(set) var asked: LeadBack.Request?
    /// What stands behind the answer has been seen to.
    private(set) var isFollowed = false
    private(set) var isConnect = false
    /// A request was not let in: nothing more is read.
    private(set) var isRefused = false

    /// Bytes of bodies and messages that are put together, and of what was sent ahead.
    var heldCount: Int {
        early.count + request.heldCount + response.body.count + (stream?.heldCount ?? 0) + (live?.heldCount ?? 0)
    }

    // MARK: What the client sends

    /// A request has begun.
    /// - Returns: when its first byte came, where its head did not come at once.
    mutating func begins(_ head: RequestHead, _ info: HTTPHeadInfo) -> WireInstant? {
        lastX += 1
        state = .request
        isConnect = head.method == "CONNECT"
        response.expect(head)
        return request.begins(info)
    }

    /// What the request that has begun is to rules, and to what leads clients back.
    mutating func belongs(to live: LiveExchange, _ asked: LeadBack.Request?) {
        self.live = live
        self.asked = asked
    }

    /// The client has been told to go on.
    mutating func hasContinued() { swallowsContinue = true }

    /// The request is whole, and its answer awaited.
    mutating func awaitsAnswer(_ trailers: [HeaderField]) {
        state = .answer
        request.ends(trailers)
    }

    /// Nothing more of the client is read as requests.
    mutating func refuses() { isRefused = true }

    /// A request is refused by its head.
    mutating func refusesNext() {
        lastX += 1
        isRefused = true
    }

    mutating func comesEarly(_ bytes: Span<UInt8>) { early.append(copying: bytes) }

    mutating func takeEarly() -> [UInt8] {
        defer { early = [] }
        return early
    }

    mutating func dropEarly() { early = [] }

    // MARK: What the server sends

    /// The answer is a stream whose payloads are read, or has gone on.
    mutating func reads(_ stream: InterceptedStream) { self.stream = stream }

    /// What is held of a piece of the stream that is not whole.
    mutating func takeRestOfStream() -> [UInt8] { stream?.takeRest() ?? [] }

    /// What stands behind the answer is seen to.
    mutating func follows() { isFollowed = true }

    /// Something else than HTTP begins behind the answer.
    /// - Returns: what the client has sent ahead.
    mutating func upgrade() -> [UInt8] {
        state = .idle
        return takeEarly()
    }

    // MARK: Ends

    /// What is put together is let go.
    mutating func dropHeld() {
        early = []
        request.dropBody()
        response.dropBody()
    }

    /// The exchange is over.
    mutating func finish() {
        state = .idle
        live = nil
        asked = nil
        request.finish()
        response.finish()
        swallowsContinue = false
        stream = nil
        isFollowed = false
        isConnect = false
    }
}
