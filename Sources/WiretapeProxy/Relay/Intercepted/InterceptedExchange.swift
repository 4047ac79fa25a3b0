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
    var requests = HTTPScanner(.toServer)
    var responses = HTTPScanner(.toClient)
    /// Sent by the client behind the request that is not answered yet.
    var early: [UInt8] = []
    var lastX: UInt32 = 0
    /// When the first byte of a head that is not complete yet arrived.
    var requestSince: WireInstant?
    var responseSince: WireInstant?

    /// The exchange that is under way.
    var live: LiveExchange?
    var requestInfo: HTTPHeadInfo?
    var requestKind = Body.pass
    var requestBody: [UInt8] = []
    /// What stood behind the last chunk of a request that is whole.
    var requestTrailers: [HeaderField] = []
    /// The body of a request that is whole and is being decoded, a slice a turn of the loop.
    var decoding: WholeBody?
    /// The server's 100 is ours already.
    var swallowsContinue = false
    var responseHead: ResponseHead?
    /// The bytes of an answer's head that is not complete yet, and of empty lines before it.
    var partialResponse: [UInt8] = []
    var responseInfo: HTTPHeadInfo?
    var responseKind = Body.pass
    var responseBody: [UInt8] = []
    /// Bytes of the answer that may still go out; nil: all.
    var truncateLeft: Int?
    var stream: InterceptedStream?
    /// What stands behind the answer has been seen to.
    var isFollowed = false
    var isConnect = false
    /// A request was not let in: nothing more is read.
    var isRefused = false

    /// The answer had a length, and goes on in chunks of ours.
    var isRechunked = false

    /// Whether the answer's body is sent in chunks.
    var isChunked: Bool { isRechunked || responseInfo?.framing == .chunked }

    /// Bytes of bodies and messages that are put together, and of what was sent ahead.
    var heldCount: Int {
        early.count + requestBody.count + responseBody.count + (stream?.heldCount ?? 0) + (live?.heldCount ?? 0)
            + (decoding?.heldCount ?? 0)
    }

    /// The exchange is over.
    mutating func finish() {
        state = .idle
        live = nil
        requestInfo = nil
        requestBody = []
        requestTrailers = []
        decoding = nil
        requestKind = .pass
        responseHead = nil
        partialResponse = []
        responseInfo = nil
        responseBody = []
        responseKind = .pass
        responseSince = nil
        swallowsContinue = false
        truncateLeft = nil
        isRechunked = false
        stream = nil
        isFollowed = false
        isConnect = false
    }
}
