internal import WiretapeBytes

/// One direction of an HTTP/1.1 connection (RFC 9112), cut at its boundaries. It looks at every byte once and keeps none but
/// those of an incomplete head or trailer section, at most ``headLimit``; in bodies it allocates nothing.
///
/// States: head → (body of a known length | chunks → trailers | until end) → message end → head. Terminal: `done` (the
/// connection is no longer HTTP: 101, 2xx to CONNECT) and `failed`.
///
/// What is wrong with the peer's bytes is told as `.bad` and ends the scanner; nothing is unreachable for a peer, and the
/// only thing that is dropped is up to ``blankLineLimit`` empty lines before a head.
///
/// It is strict where two readers could disagree about where a message ends, because what it passes is forwarded as it came:
/// in requests Content-Length beside Transfer-Encoding, repeated Content-Length, a transfer coding other than `chunked`,
/// bare CR, folded lines, blanks before a colon, and repeated or missing Host are refused. A bare LF ends a line in a request
/// only when every line of the head ends so and there is no body; chunk lines need CRLF there. In responses LF is as good as
/// CRLF anywhere, and equal repeated lengths are accepted. A missing reason phrase, HTTP/1.0, bytes from 0x80 in targets and
/// values, and control characters in values other than NUL, CR and LF are accepted in both.
package struct HTTPScanner: ~Copyable {
    /// Most bytes of a head, of a trailer section, and of one chunk-size line with its extensions (there a quarter of it).
    package static let headLimit = 64 * 1024
    /// Most empty lines before a head.
    package static let blankLineLimit = 16

    enum State {
        case head
        /// Bytes of the body still to come, never 0.
        case length(UInt64)
        /// In the digits of a chunk size.
        case chunkSize
        /// Blanks after the digits: only `;` or the line's end may follow.
        case chunkBlank
        case chunkExtension
        /// After the CR of a chunk-size line.
        case chunkSizeLF
        case chunkData(UInt64)
        /// After the data of a chunk.
        case chunkDataCR
        case chunkDataLF
        case trailers
        case untilEnd
        case messageEnd
        case done
        case failed
    }

    package let role: Direction
    var state = State.head
    /// Bytes of the incomplete head or trailer section.
    package var held: [UInt8] = []
    /// Bytes of the last line in `held` that has no end yet.
    var heldLine = 0
    /// Complete lines in `held`.
    package var lines = 0
    var blankLines = 0
    /// The chunk size so far, and how many bytes its line has.
    package var size: UInt64 = 0
    var sizeLine = 0
    /// Methods of the requests that have no final response yet, as far as they matter.
    var expected: [ExpectedMethod] = []

    enum ExpectedMethod: UInt8 { case head, connect, other }

    /// - Parameter role: `.toServer` reads requests, `.toClient` responses.
    package init(_ role: Direction) {
        self.role = role
    }

    /// Responses only: the method of the request that the next response without an expectation answers. HEAD has no body,
    /// a 2xx to CONNECT ends HTTP. Without it a response is read as that to a GET.
    package mutating func expect(method: String) {
        expected.append(method == "HEAD" ? .head : method == "CONNECT" ? .connect : .other)
    }

    /// Whether the connection is no HTTP any more: upgraded, or not understood.
    package var isOver: Bool {
        switch state {
        case .done, .failed: true
        case .head, .length, .chunkSize, .chunkBlank, .chunkExtension, .chunkSizeLF, .chunkData, .chunkDataCR,
            .chunkDataLF,
            .trailers, .untilEnd, .messageEnd:
            false
        }
    }

    /// Whether the next byte belongs to a head, which `request` and `response` give back whole in ``HTTPHeadInfo/raw``. All
    /// other bytes up to `next` may be forwarded at once.
    package var isInHead: Bool {
        if case .head = state { true } else { false }
    }

    /// The bytes of an incomplete or faulty head.
    package var partialHead: [UInt8] { held }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func scan(_ bytes: Span<UInt8>, from: Int) -> HTTPScan {
        let available = bytes.count - from
        switch state {
        case .head:
            return scanHead(bytes, from)
        case .length(let left):
            guard available > 0 else { return .more }
            let taken = Int(min(UInt64(available), left))
            state = left == UInt64(taken) ? .messageEnd : .length(left - UInt64(taken))
            return .body(from..<from + taken, next: from + taken)
        case .chunkSize, .chunkBlank, .chunkExtension, .chunkSizeLF, .chunkData, .chunkDataCR, .chunkDataLF:
            return scanChunks(bytes, from)
        case .trailers:
            return scanTrailers(bytes, from)
        case .untilEnd:
            guard available > 0 else { return .more }
            return .body(from..<bytes.count, next: bytes.count)
        case .messageEnd:
            state = .head
            return .end(trailers: [], next: from)
        case .done, .failed:
            return .more
        }
    }

    /// Passes over so many bytes of the stream that nobody has. Returns false, and changes nothing, when they are not all of one
    /// body's data: then where the next message begins is not known.
    package mutating func skip(_ count: UInt64) -> Bool {
        switch state {
        case .length(let left):
            guard count <= left else { return false }
            state = count == left ? .messageEnd : .length(left - count)
            return true
        case .chunkData(let left):
            guard count <= left else { return false }
            state = count == left ? .chunkDataCR : .chunkData(left - count)
            return true
        case .untilEnd: return true
        case .head, .chunkSize, .chunkBlank, .chunkExtension, .chunkSizeLF, .chunkDataCR, .chunkDataLF, .trailers,
            .messageEnd, .done, .failed:
            return count == 0
        }
    }

    /// The peer's FIN.
    package mutating func finish() -> HTTPFinish {
        defer { state = .done }
        switch state {
        case .head: return lines == 0 && heldLine == 0 ? .clean : .cutHead
        case .untilEnd: return .endOfBody
        case .messageEnd, .done, .failed: return .clean
        case .length, .chunkSize, .chunkBlank, .chunkExtension, .chunkSizeLF, .chunkData, .chunkDataCR, .chunkDataLF,
            .trailers:
            return .cutBody
        }
    }

    /// Goes to `failed`. Faults of a response are the server's: 502.
    package mutating func fail(_ fault: HTTPFault, next: Int) -> HTTPScan {
        state = .failed
        return .bad(role == .toServer ? fault : HTTPFault(502, fault.reason), next: next)
    }
}
