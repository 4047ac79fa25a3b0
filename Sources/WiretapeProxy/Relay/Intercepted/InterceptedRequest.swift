internal import WiretapeBytes
internal import WiretapeWire

/// What is read of the requests of a held connection, and the one that is under way.
struct InterceptedRequest: ~Copyable {
    private var scanner = HTTPScanner(.toServer)
    /// When the first byte of a head that is not complete yet arrived.
    private(set) var since: WireInstant?
    private(set) var info: HTTPHeadInfo?
    private(set) var kind = InterceptedExchange.Body.pass
    private(set) var body: [UInt8] = []
    /// What stood behind the last chunk of a request that is whole.
    private(set) var trailers: [HeaderField] = []
    /// The body of a request that is whole and is being decoded, a slice a turn of the loop.
    private var decoding: WholeBody?

    /// What there is of a head that is not complete.
    var partialHead: [UInt8] { scanner.partialHead }

    var isDecoding: Bool { decoding != nil }

    var heldCount: Int { body.count + (decoding?.heldCount ?? 0) }

    mutating func scan(_ bytes: Span<UInt8>, from at: Int) -> HTTPScan { scanner.scan(bytes, from: at) }

    /// Bytes of a head come.
    mutating func comes(at now: WireInstant) {
        if since == nil { since = now }
    }

    /// Its head is there.
    /// - Returns: when that began to come.
    mutating func begins(_ info: HTTPHeadInfo) -> WireInstant? {
        self.info = info
        defer { since = nil }
        return since
    }

    /// What becomes of its body.
    mutating func treatBody(as kind: InterceptedExchange.Body) { self.kind = kind }

    mutating func collect(_ piece: Span<UInt8>) { body.append(copying: piece) }

    /// It goes on as it comes, in pieces of ours.
    /// - Returns: what has been put together of it.
    mutating func goesOn() -> [UInt8] {
        kind = .reframe
        defer { body = [] }
        return body
    }

    /// It is whole.
    mutating func ends(_ trailers: [HeaderField]) { self.trailers = trailers }

    mutating func decode(_ codings: ContentCodings) throws(ContentDecoder.Fault) {
        decoding = try WholeBody(body, codings, limit: InterceptedExchange.bodyLimit)
    }

    /// - Returns: its body as it is meant when all of it is decoded; nil: there is more to do, or nothing.
    mutating func decodeSlice(_ limit: Int) throws(ContentDecoder.Fault) -> [UInt8]? {
        do throws(ContentDecoder.Fault) {
            guard let plain = try decoding?.next(limit) else { return nil }
            decoding = nil
            return plain
        } catch {
            decoding = nil
            throw error
        }
    }

    mutating func stopDecoding() { decoding = nil }

    mutating func dropBody() { body = [] }

    /// It is answered.
    mutating func finish() {
        info = nil
        body = []
        trailers = []
        decoding = nil
        kind = .pass
    }
}
