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

    var state = State.idle
    var request = Request()
    var response = Response()
    /// Sent by the client behind the request that is not answered yet.
    var early: [UInt8] = []
    var lastX: UInt32 = 0
    /// The exchange that is under way.
    var live: LiveExchange?
    /// The server's 100 is ours already.
    var swallowsContinue = false
    var stream: InterceptedStream?
    /// What its answer is made from that leads the client back; nil: it goes on as it is.
    var asked: LeadBack.Request?
    /// What stands behind the answer has been seen to.
    var isFollowed = false
    var isConnect = false
    /// A request was not let in: nothing more is read.
    var isRefused = false

    /// What is read of requests, and the one that is under way.
    struct Request: ~Copyable {
        var scanner = HTTPScanner(.toServer)
        /// When the first byte of a head that is not complete yet arrived.
        var since: WireInstant?
        var info: HTTPHeadInfo?
        var kind = Body.pass
        var body: [UInt8] = []
        /// What stood behind the last chunk of a request that is whole.
        var trailers: [HeaderField] = []
        /// The body of a request that is whole and is being decoded, a slice a turn of the loop.
        var decoding: WholeBody?

        /// It is answered.
        mutating func finish() {
            info = nil
            body = []
            trailers = []
            decoding = nil
            kind = .pass
        }
    }

    /// What is read of answers, and the one that is under way.
    struct Response: ~Copyable {
        var scanner = HTTPScanner(.toClient)
        /// When the first byte of a head that is not complete yet arrived.
        var since: WireInstant?
        var head: ResponseHead?
        /// The bytes of a head that is not complete yet, and of empty lines before it.
        var partial: [UInt8] = []
        var info: HTTPHeadInfo?
        var kind = Body.pass
        var body: [UInt8] = []
        /// Bytes of it that may still go out; nil: all.
        var left: Int?
        /// It had a length, and goes on in chunks of ours.
        var isRechunked = false
        /// When the head of an answer that is wanted whole goes out without the rest.
        var goesAheadAt: WireInstant?
        /// Bytes of an answer that is wanted whole that have gone out before the rest came; nil: none, not even its head.
        var ahead: Int?

        /// Whether its body is sent in chunks.
        var isChunked: Bool { isRechunked || info?.framing == .chunked }

        /// It is over.
        mutating func finish() {
            head = nil
            partial = []
            info = nil
            body = []
            kind = .pass
            since = nil
            left = nil
            isRechunked = false
            goesAheadAt = nil
            ahead = nil
        }
    }

    /// Bytes of bodies and messages that are put together, and of what was sent ahead.
    var heldCount: Int {
        early.count + request.body.count + response.body.count + (stream?.heldCount ?? 0) + (live?.heldCount ?? 0)
            + (request.decoding?.heldCount ?? 0)
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
