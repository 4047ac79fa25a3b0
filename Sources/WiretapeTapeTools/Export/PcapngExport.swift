internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeWire

/// Writes a tape as a capture in the clear: each connection is a TCP connection with handshake, acknowledgements and an end, whose
/// segments carry HTTP and WebSocket frames at the times of the tape. Bodies are framed anew: a tape has neither their chunks'
/// heads nor what compressed them. All servers have port 80, so that dissectors know what it is; who was who is a comment at
/// the first packet of each connection. Memory: the packets of one event.
package struct PcapngExport {
    private static let longest = 32_000

    private struct Track {
        var client: PcapngFile.Address
        var server: PcapngFile.Address
        /// The next bytes of each side.
        var clientNext: UInt32 = 1_000
        var serverNext: UInt32 = 500_000
        /// Bodies that go on, and whether in chunks.
        var chunked: Set<Body> = []
        var methods: [UInt32: String] = [:]
        /// Of answers that are encoded on the tape: the capture shows what they mean.
        var decoders: [UInt32: ContentDecoder] = [:]
        var isOver = false
    }

    private struct Body: Hashable {
        var x: UInt32
        var direction: Direction
    }

    private let write: (Span<UInt8>) throws -> Void
    private var file: PcapngFile
    private var origin: UInt64
    private let upstreams: [(name: String, url: String)]
    private var tracks: [UInt32: Track] = [:]
    private var opened: UInt32 = 0
    private var mask: UInt32 = 0x5aa5_17c3
    /// Connections on the capture.
    package var connections: UInt32 { opened }

    package init(_ header: TapeHeader, tool: String, write: @escaping (Span<UInt8>) throws -> Void) {
        self.write = write
        upstreams = header.upstreams
        origin = header.started.flatMap { SystemClock.nanoseconds(rfc3339: $0) } ?? 0
        file = PcapngFile(
            tool: tool, comment: "made of a tape: the connections are made up, what they carry and when is recorded")
    }

    package mutating func take(_ event: TapeEvent) throws {
        let (c, time) = (event.connection, absolute(event.time))
        switch event.kind {
        case .open(let open): self.open(c, open, at: time)
        case .request(let x, let head, let body): request(c, x, head, body, at: time)
        case .response(let x, let head, let body, let interim, let coding, _):
            response(c, x, head, body, interim: interim, coding, at: time)
        case .chunk(let x, let direction, let bytes): chunk(c, x, direction, bytes, at: time)
        case .end(let x, let direction, let trailers): end(c, x, direction, trailers, at: time)
        case .message(let direction, let opcode, let bytes, _, let fragments):
            message(c, direction, opcode, bytes, fragments, at: time)
        case .part(let direction, let opcode, let n, let bytes, let last):
            frame(c, direction, n > 0 ? 0 : opcode == .text ? 1 : 2, fin: last, bytes.span, at: time)
        case .ping(let direction, let bytes): frame(c, direction, 9, bytes.span, at: time)
        case .pong(let direction, let bytes): frame(c, direction, 10, bytes.span, at: time)
        case .close(let direction, let code, let reason):
            var payload: [UInt8] = []
            FrameWriter.appendClose(
                code: code, reason: reason ?? "", mask: direction == .toServer ? nextMask() : nil, into: &payload)
            send(c, direction, payload.span, at: time)
        case .gone(let party, let how, _): gone(c, party, how, at: time)
        case .missing(let direction, let bytes): skip(c, direction, bytes ?? 1)
        case .take(let started):
            tracks = [:]
            origin = SystemClock.nanoseconds(rfc3339: started) ?? origin
        case .frame, .fault, .mark, .gap, .stop, .unknown: break
        }
        if file.bytes.count > 1 << 20 { try flush() }
    }

    package mutating func finish() throws { try flush() }

    private mutating func flush() throws {
        let bytes = file.take()
        try write(bytes.span)
    }

    private func absolute(_ time: UInt64) -> UInt64 {
        let (sum, isOver) = origin.addingReportingOverflow(time)
        return isOver ? .max : sum
    }

    // MARK: TCP

    private mutating func open(_ c: UInt32, _ open: TapeEvent.Open?, at time: UInt64) {
        let index = upstreams.firstIndex { $0.name == open?.upstream } ?? 0
        opened += 1
        // Never the same ends twice: a reader would take them for one connection.
        let client = PcapngFile.Address(ip: 0x7f00_0001 + opened / 60_000 << 8, port: UInt16(1_025 + opened % 60_000))
        let track = Track(client: client, server: PcapngFile.Address(ip: 0x7f80_0001 + UInt32(index) << 8, port: 80))
        tracks[c] = track
        var words = "connection \(c)"
        if let from = open?.from { words += " from \(from)" }
        if upstreams.indices.contains(index) { words += " to \(upstreams[index].name) \(upstreams[index].url)" }
        if open?.tls != nil { words += ", over TLS" }
        file.segment(
            from: client, to: track.server, sequence: track.clientNext, acknowledges: 0, flags: PcapngFile.syn, Span(),
            at: time, comment: words)
        file.segment(
            from: track.server, to: client, sequence: track.serverNext, acknowledges: track.clientNext &+ 1,
            flags: PcapngFile.syn | PcapngFile.ack, Span(), at: time)
        tracks[c]?.clientNext &+= 1
        tracks[c]?.serverNext &+= 1
        acknowledge(c, by: .toServer, at: time)
    }

    /// Bytes in segments, each acknowledged at once.
    private mutating func send(_ c: UInt32, _ direction: Direction, _ bytes: Span<UInt8>, at time: UInt64) {
        if tracks[c] == nil { open(c, nil, at: time) }
        var at = 0
        while at < bytes.count, let track = tracks[c], !track.isOver {
            let piece = bytes.extracting(at..<min(bytes.count, at + PcapngExport.longest))
            at += piece.count
            segment(c, direction, PcapngFile.psh | PcapngFile.ack, piece, at: time)
            advance(c, direction, UInt32(piece.count))
            acknowledge(c, by: direction == .toServer ? .toClient : .toServer, at: time)
        }
    }

    private mutating func segment(
        _ c: UInt32, _ direction: Direction, _ flags: UInt8, _ bytes: Span<UInt8>, at time: UInt64
    ) {
        guard let track = tracks[c] else { return }
        let isClient = direction == .toServer
        file.segment(
            from: isClient ? track.client : track.server, to: isClient ? track.server : track.client,
            sequence: isClient ? track.clientNext : track.serverNext,
            acknowledges: isClient ? track.serverNext : track.clientNext, flags: flags, bytes, at: time)
    }

    private mutating func acknowledge(_ c: UInt32, by direction: Direction, at time: UInt64) {
        segment(c, direction, PcapngFile.ack, Span(), at: time)
    }

    private mutating func advance(_ c: UInt32, _ direction: Direction, _ count: UInt32) {
        if direction == .toServer { tracks[c]?.clientNext &+= count } else { tracks[c]?.serverNext &+= count }
    }

    /// Bytes that nobody has are a hole in the numbers.
    private mutating func skip(_ c: UInt32, _ direction: Direction, _ count: UInt64) {
        advance(c, direction, UInt32(truncatingIfNeeded: count))
    }

    private mutating func gone(_ c: UInt32, _ party: TapeEvent.Party, _ how: TapeEvent.How, at time: UInt64) {
        guard let track = tracks[c], !track.isOver else { return }
        let first: Direction = party == .client ? .toServer : .toClient
        let second: Direction = first == .toServer ? .toClient : .toServer
        if how == .rst {
            segment(c, first, PcapngFile.rst | PcapngFile.ack, Span(), at: time)
        } else {
            for side in [first, second] {
                segment(c, side, PcapngFile.fin | PcapngFile.ack, Span(), at: time)
                advance(c, side, 1)
                acknowledge(c, by: side == first ? second : first, at: time)
            }
        }
        tracks[c]?.isOver = true
    }

    // MARK: HTTP

    private static let framing = ["content-length", "transfer-encoding"]

    private static func unframed(_ headers: [HeaderField]) -> [HeaderField] {
        headers.filter { field in !framing.contains { equalIgnoringCase(field.name, $0) } }
    }

    private mutating func request(
        _ c: UInt32, _ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, at time: UInt64
    ) {
        var head = head
        let hadLength = head.headers.first("Content-Length") != nil
        head.headers = PcapngExport.unframed(head.headers)
        // Compression is not on the tape, and would be looked for.
        head.headers.removeAll { equalIgnoringCase($0.name, "Sec-WebSocket-Extensions") }
        var bytes: [UInt8] = []
        var content: [UInt8] = []
        switch body {
        case .none: if hadLength { head.headers.append(HeaderField("Content-Length", "0")) }
        case .whole(let whole):
            head.headers.append(HeaderField("Content-Length", "\(whole.count)"))
            content = whole
        case .streamed:
            head.headers.append(HeaderField("Transfer-Encoding", "chunked"))
            head.version = "1.1"
        }
        HTTPHeadWriter.append(head, into: &bytes)
        bytes += content
        send(c, .toServer, bytes.span, at: time)
        if case .streamed = body { tracks[c]?.chunked.insert(Body(x: x, direction: .toServer)) }
        tracks[c]?.methods[x] = head.method
    }

    private mutating func response(
        _ c: UInt32, _ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, interim: Bool, _ coding: String?,
        at time: UInt64
    ) {
        var head = head.without(coding)
        head.headers = PcapngExport.unframed(head.headers)
        head.headers.removeAll { equalIgnoringCase($0.name, "Sec-WebSocket-Extensions") }
        if head.reason.isEmpty { head.reason = statusText(head.status) }
        let body = decoded(c, x, &head, body)
        let isBare = interim || head.status < 200 || head.status == 204 || head.status == 304
        let isHead = tracks[c]?.methods[x] == "HEAD"
        var content: [UInt8] = []
        switch body {
        case .none: if !isBare, !isHead { head.headers.append(HeaderField("Content-Length", "0")) }
        case .whole(let whole):
            if !isBare { head.headers.append(HeaderField("Content-Length", "\(whole.count)")) }
            if !isBare, !isHead { content = whole }
        case .streamed:
            if !isBare {
                head.headers.append(HeaderField("Transfer-Encoding", "chunked"))
                head.version = "1.1"
            }
        }
        var bytes: [UInt8] = []
        HTTPHeadWriter.append(head, into: &bytes)
        bytes += content
        send(c, .toClient, bytes.span, at: time)
        if case .streamed = body, !isBare, !isHead { tracks[c]?.chunked.insert(Body(x: x, direction: .toClient)) }
        if !interim { tracks[c]?.methods[x] = nil }
    }

    /// Takes the content coding off an answer, or off what comes of it.
    private mutating func decoded(
        _ c: UInt32, _ x: UInt32, _ head: inout ResponseHead, _ body: TapeEvent.Body
    ) -> TapeEvent.Body {
        let codings = head.headers.contentCodings
        guard !codings.isEmpty else {
            // `none` and `identity` are no codings, and dissectors take them for one.
            head.headers = head.headers.filter { !equalIgnoringCase($0.name, "Content-Encoding") }
            return body
        }
        switch body {
        case .none: return body
        case .whole(let bytes):
            guard let plain = try? ContentDecoder.whole(bytes, codings, limit: max(16 << 20, 8 * bytes.count)) else {
                return body
            }
            head.headers = head.headers.without(nil)
            return .whole(plain)
        case .streamed:
            guard let decoder = ContentDecoder(codings) else { return body }
            tracks[c]?.decoders[x] = decoder
            head.headers = head.headers.without(nil)
            return body
        }
    }

    private mutating func chunk(_ c: UInt32, _ x: UInt32, _ direction: Direction, _ bytes: [UInt8], at time: UInt64) {
        guard tracks[c]?.chunked.contains(Body(x: x, direction: direction)) ?? false else { return }
        var bytes = bytes
        if direction == .toClient, let decoder = tracks[c]?.decoders[x] {
            var (plain, used): ([UInt8], Int) = ([], 0)
            // What is beyond, and what is damaged, is left out: the head says nothing of a coding any more.
            _ = decoder.feed(bytes.span, used: &used, limit: 16 << 20, into: &plain)
            bytes = plain
        }
        guard !bytes.isEmpty else { return }
        let framed = Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0d, 0x0a]
        send(c, direction, framed.span, at: time)
    }

    private mutating func end(
        _ c: UInt32, _ x: UInt32, _ direction: Direction, _ trailers: [HeaderField], at time: UInt64
    ) {
        guard tracks[c]?.chunked.remove(Body(x: x, direction: direction)) != nil else { return }
        if direction == .toClient { tracks[c]?.decoders[x] = nil }
        var bytes = Array("0\r\n".utf8)
        HTTPHeadWriter.append(fields: trailers, into: &bytes)
        send(c, direction, bytes.span, at: time)
    }

    // MARK: WebSockets

    private mutating func nextMask() -> UInt32 {
        mask = mask &* 1_664_525 &+ 1_013_904_223
        return mask | 1
    }

    private mutating func message(
        _ c: UInt32, _ direction: Direction, _ opcode: Opcode, _ bytes: [UInt8], _ fragments: [Int], at time: UInt64
    ) {
        let code: UInt8 = opcode == .text ? 1 : 2
        // Of a message that was compressed the lengths are those of other bytes.
        var sum = 0
        for count in fragments where count >= 0 && count <= bytes.count { sum += count }
        guard fragments.count > 1, sum == bytes.count, fragments.allSatisfy({ $0 >= 0 && $0 <= bytes.count }) else {
            return frame(c, direction, code, bytes.span, at: time)
        }
        var at = 0
        for (i, count) in fragments.enumerated() {
            frame(
                c, direction, i == 0 ? code : 0, fin: i == fragments.count - 1,
                bytes.span.extracting(at..<at + count), at: time)
            at += count
        }
    }

    private mutating func frame(
        _ c: UInt32, _ direction: Direction, _ opcode: UInt8, fin: Bool = true, _ payload: Span<UInt8>, at time: UInt64
    ) {
        var bytes: [UInt8] = []
        FrameWriter.append(
            opcode: opcode, fin: fin, payload: payload, mask: direction == .toServer ? nextMask() : nil, into: &bytes)
        send(c, direction, bytes.span, at: time)
    }
}
