internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// One HTTP exchange on its way to the tape. A head waits until its body is known to stand inline or not.
final class AssembledExchange {
    enum Answer {
        /// 1xx; the final answer is still to come.
        case interim
        /// Head and body are written.
        case complete
        /// The body may yet stand inline.
        case waiting
        case upgraded(isWebSocket: Bool, DeflateParameters?)
    }

    let x: UInt32
    private let connection: UInt32
    private var request: Pending<RequestHead>
    private var answer: Pending<ResponseHead> = .none
    private var asksWebSocket = false
    /// Its request was not seen.
    private var isAlone = false
    private var method = "GET"
    private var decoder: RecordedCoding?

    private enum Pending<Head> {
        case none
        case waiting(Head, since: UInt64, [(UInt64, [UInt8])], size: Int)
        case streaming
        case done
    }

    /// Nil when the bytes are no head: the loop's machine has looked at them, so this does not happen.
    init?(_ connection: UInt32, x: UInt32, request raw: Span<UInt8>, at time: UInt64) {
        self.connection = connection
        self.x = x
        var scanner = HTTPScanner(.toServer)
        guard case .request(let head, let info, _) = scanner.scan(raw, from: 0) else { return nil }
        asksWebSocket = info.upgradeProtocol.map { equalIgnoringCase($0, "websocket") } ?? false
        method = head.method
        request = .waiting(head, since: time, [], size: 0)
    }

    /// An answer without a request.
    init(_ connection: UInt32, x: UInt32) {
        self.connection = connection
        self.x = x
        isAlone = true
        request = .done
    }

    var isDone: Bool {
        if case .done = request, case .done = answer { true } else { false }
    }

    /// The body of this direction misses bytes: it goes no further. Call ``flush(at:_:)`` before.
    func abandon(_ direction: Direction) {
        switch direction {
        case .toServer: request = .done
        case .toClient:
            request = .done
            answer = .done
        }
    }

    func response(_ raw: Span<UInt8>, isOurs: Bool, at time: UInt64, _ packer: inout MemberPacker) -> Answer? {
        flushRequest(at: time, &packer)
        var scanner = HTTPScanner(.toClient)
        guard case .response(let head, let info, let next) = scanner.scan(raw, from: 0) else { return nil }
        if isOurs {
            var body: [UInt8] = []
            body.append(copying: raw.extracting(next..<raw.count))
            write(head, body.isEmpty ? .none : .whole(body), proxy: true, at: time, &packer)
            return .complete
        }
        if head.status == 101 {
            write(head, .none, at: time, &packer)
            let fields = head.headers.all("Sec-WebSocket-Extensions")
            // Without its request the answer alone tells what it was.
            let isWebSocket =
                asksWebSocket || isAlone && info.upgradeProtocol.map { equalIgnoringCase($0, "websocket") } ?? false
            return .upgraded(isWebSocket: isWebSocket, DeflateParameters(accepted: fields))
        }
        if info.isInterim {
            write(head, .none, interim: true, at: time, &packer)
            return .interim
        }
        decoder = RecordedCoding(head.headers.contentCodings, all: packer.redaction != nil)
        answer = .waiting(head, since: time, [], size: 0)
        // The client may answer a piece before the next one comes: what it says must not overtake the head that waits.
        if isStream(head) { flushAnswer(at: time, &packer) }
        return .waiting
    }

    /// Whether the body's pieces mean something before its end.
    private func isStream(_ head: ResponseHead) -> Bool {
        if head.isInPieces(for: method) { return true }
        guard let type = head.headers.first("Content-Type").map({ MediaType($0) }) else { return false }
        // SockJS streams frames as scripts; a script that is a file has a length.
        if type.name == "application/javascript" { return head.headers.first("Content-Length") == nil }
        return type.isStream || type.name.hasPrefix("application/grpc")
    }

    /// A piece of a body.
    func body(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64, _ packer: inout MemberPacker) {
        if direction == .toServer {
            let isHeld = hold(bytes, at: time, &request)
            if isOverdue(request, at: time) { flushRequest(at: time, &packer) }
            if case .streaming = request, !isHeld { packer.chunk(time, connection, x: x, .toServer, bytes) }
        } else {
            let isHeld = hold(bytes, at: time, &answer)
            if isOverdue(answer, at: time) { flushAnswer(at: time, &packer) }
            if case .streaming = answer, !isHeld { chunk(bytes, at: time, &packer) }
        }
    }

    /// Returns whether the piece waits with its head: then it is written with it.
    private func hold<Head>(_ bytes: Span<UInt8>, at time: UInt64, _ pending: inout Pending<Head>) -> Bool {
        guard case .waiting(let head, let since, var pieces, let size) = pending else { return false }
        var piece: [UInt8] = []
        piece.append(copying: bytes)
        pieces.append((time, piece))
        pending = .waiting(head, since: since, pieces, size: size + piece.count)
        return true
    }

    private func isOverdue<Head>(_ pending: Pending<Head>, at time: UInt64) -> Bool {
        guard case .waiting(_, let since, _, let size) = pending else { return false }
        return size > TapeAssembler.inlineSize || time > since && time - since > TapeAssembler.inlineAge
    }

    func end(_ direction: Direction, trailers: [HeaderField], at time: UInt64, _ packer: inout MemberPacker) {
        if direction == .toServer {
            if !trailers.isEmpty { flushRequest(at: time, &packer) }
            switch request {
            case .waiting(let head, let since, let pieces, _):
                let body = pieces.flatMap { $0.1 }
                packer.append(
                    TapeEvent(
                        time: since, connection: connection,
                        .request(x: x, head, body.isEmpty ? .none : .whole(body))))
            case .streaming: writeEnd(.toServer, trailers, at: time, &packer)
            case .none, .done: break
            }
            request = .done
        } else {
            if !trailers.isEmpty { flushAnswer(at: time, &packer) }
            switch answer {
            case .waiting(let head, let since, let pieces, _):
                writeWhole(head, pieces.flatMap { $0.1 }, at: since, &packer)
            case .streaming: writeEnd(.toClient, trailers, at: time, &packer)
            case .none, .done: break
            }
            answer = .done
        }
    }

    /// Writes what has waited for 5 ms. Returns true when nothing waits any more.
    func flushOld(at time: UInt64, _ packer: inout MemberPacker) -> Bool {
        if isOverdue(request, at: time) { flushRequest(at: time, &packer) }
        if isOverdue(answer, at: time) { flushAnswer(at: time, &packer) }
        if case .waiting = request { return false }
        if case .waiting = answer { return false }
        return true
    }

    func flush(at time: UInt64, _ packer: inout MemberPacker) {
        flushRequest(at: time, &packer)
        flushAnswer(at: time, &packer)
    }

    // MARK: Writing

    private func flushRequest(at time: UInt64, _ packer: inout MemberPacker) {
        guard case .waiting(let head, let since, let pieces, _) = request else { return }
        packer.append(TapeEvent(time: since, connection: connection, .request(x: x, head, .streamed)))
        for (time, piece) in pieces { packer.chunk(time, connection, x: x, .toServer, piece.span) }
        request = .streaming
    }

    private func flushAnswer(at time: UInt64, _ packer: inout MemberPacker) {
        guard case .waiting(let head, let since, let pieces, _) = answer else { return }
        write(head, .streamed, coding: decoder?.name, at: since, &packer)
        answer = .streaming
        for (time, piece) in pieces { chunk(piece.span, at: time, &packer) }
    }

    private func chunk(_ bytes: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) {
        guard decoder != nil else { return packer.chunk(time, connection, x: x, .toClient, bytes) }
        let fault = decoder?.feed(bytes) { piece, isEncoded in
            if isEncoded { packer.redaction?.leaveOut(connection, x: x, .toClient) }
            packer.chunk(time, connection, x: x, .toClient, piece)
        }
        if let fault {
            let why = UndecodedBody.mark(connection: connection, exchange: x, why: fault)
            packer.append(TapeEvent(time: time, connection: connection, .mark(why)))
        }
    }

    private func writeWhole(_ head: ResponseHead, _ body: [UInt8], at time: UInt64, _ packer: inout MemberPacker) {
        if let decoder, !body.isEmpty, let plain = decoder.whole(body, limit: 16 * TapeAssembler.inlineSize) {
            write(head, plain.isEmpty ? .none : .whole(plain), coding: decoder.name, at: time, &packer)
        } else {
            write(head, body.isEmpty ? .none : .whole(body), at: time, &packer)
        }
    }

    private func write(
        _ head: ResponseHead, _ body: TapeEvent.Body, interim: Bool = false, coding: String? = nil, proxy: Bool = false,
        at time: UInt64, _ packer: inout MemberPacker
    ) {
        packer.append(
            TapeEvent(
                time: time, connection: connection,
                .response(x: x, head, body, interim: interim, coding: coding, proxy: proxy)))
    }

    private func writeEnd(
        _ direction: Direction, _ trailers: [HeaderField], at time: UInt64, _ packer: inout MemberPacker
    ) {
        packer.append(TapeEvent(time: time, connection: connection, .end(x: x, direction, trailers: trailers)))
    }
}
