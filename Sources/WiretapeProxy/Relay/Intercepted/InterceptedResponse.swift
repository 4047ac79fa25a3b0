internal import WiretapeBytes
internal import WiretapeWire

/// What is read of the answers of a held connection, and the one that is under way.
struct InterceptedResponse: ~Copyable {
    private var scanner = HTTPScanner(.toClient)
    /// When the first byte of a head that is not complete yet arrived.
    private(set) var since: WireInstant?
    private(set) var head: ResponseHead?
    /// The bytes of a head that is not complete yet, and of empty lines before it.
    private(set) var partial: [UInt8] = []
    private(set) var info: HTTPHeadInfo?
    private(set) var kind = InterceptedExchange.Body.pass
    private(set) var body: [UInt8] = []
    /// Bytes of it that may still go out; nil: all.
    private(set) var left: Int?
    /// It had a length, and goes on in chunks of ours.
    private(set) var isRechunked = false
    /// When the head of an answer that is wanted whole goes out without the rest.
    private(set) var goesAheadAt: WireInstant?
    /// Bytes of an answer that is wanted whole that have gone out before the rest came; nil: none, not even its head.
    private(set) var ahead: Int?

    /// Whether its body is sent in chunks.
    var isChunked: Bool { isRechunked || info?.framing == .chunked }

    // MARK: Its head

    /// The answer to that request is read next.
    mutating func expect(_ request: RequestHead) {
        scanner = HTTPScanner(.toClient)
        scanner.expect(method: request.method)
    }

    mutating func scan(_ bytes: Span<UInt8>, from at: Int) -> HTTPScan { scanner.scan(bytes, from: at) }

    /// The server has ended.
    mutating func serverEnds() -> HTTPFinish { scanner.finish() }

    /// Bytes of a head come.
    mutating func comes(at now: WireInstant) {
        if head == nil, since == nil { since = now }
    }

    mutating func keepPartial(_ bytes: Span<UInt8>) { partial.append(copying: bytes) }

    mutating func takePartial() -> [UInt8] {
        defer { partial = [] }
        return partial
    }

    /// A head is there, of an answer or of an interim one.
    /// - Returns: when it began to come.
    mutating func headIsThere() -> WireInstant? {
        partial = []
        defer { since = nil }
        return since
    }

    mutating func begins(_ head: ResponseHead, _ info: HTTPHeadInfo) {
        self.head = head
        self.info = info
    }

    // MARK: Its bytes

    /// - Parameter left: bytes of it that go out; nil: all.
    mutating func limit(to left: Int?) { self.left = left }

    /// - Returns: as many of the bytes as may go out.
    mutating func letOut(_ bytes: [UInt8]) -> [UInt8] {
        guard let left else { return bytes }
        self.left = left - min(left, bytes.count)
        return Array(bytes.prefix(left))
    }

    /// What becomes of its body.
    mutating func treatBody(as kind: InterceptedExchange.Body) { self.kind = kind }

    /// Its body goes on in chunks of ours.
    mutating func rechunk() { isRechunked = true }

    mutating func collect(_ piece: Span<UInt8>) { body.append(copying: piece) }

    /// It goes on as it comes, in pieces of ours.
    /// - Returns: what has been put together of it.
    mutating func goesOn() -> [UInt8] {
        kind = .reframe
        return takeBody()
    }

    mutating func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    mutating func dropBody() { body = [] }

    // MARK: What goes ahead of an answer that is wanted whole

    mutating func goesAhead(at moment: WireInstant) { goesAheadAt = moment }

    /// Its head has waited long enough, or need not wait any more.
    mutating func stopsWaiting() { goesAheadAt = nil }

    /// - Parameter count: bytes of it that go out ahead of the rest.
    mutating func wentAhead(_ count: Int) { ahead = (ahead ?? 0) + count }

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
