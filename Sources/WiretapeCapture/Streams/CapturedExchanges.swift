internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeWire

/// The HTTP/1.1 of a captured connection, and what it becomes by an upgrade: makes the records that a relay between the two would
/// have made, and says where bytes are missing.
///
/// Behind a gap nothing is guessed: where it lies in one body, that body ends there; else messages are read again from the next
/// packet that begins with one.
final class CapturedExchanges {
    private struct Exchange {
        var x: UInt32
        /// Asked for an upgrade, or is a CONNECT: what the client says behind it may be no HTTP.
        var mayTunnel: Bool
        var method: String

        var isConnect: Bool { method == "CONNECT" }
    }

    /// One direction.
    private struct Reading: ~Copyable {
        var scanner: HTTPScanner
        /// When the first byte of the head at hand came.
        var since: UInt64?
        var isInBody = false
        /// The body misses bytes: no more of it goes to the tape.
        var isDamaged = false
        /// Where messages begin is not known.
        var isLost = false
        var hasEnded = false

        init(_ role: Direction) { scanner = HTTPScanner(role) }

        mutating func restart() {
            scanner = HTTPScanner(scanner.role)
            (since, isInBody, isDamaged, isLost) = (nil, false, false, false)
        }
    }

    private enum Held {
        case bytes([UInt8], at: UInt64)
        case missing(UInt64?, at: UInt64)
    }

    private enum Mode {
        case http
        case tunnel
        /// Nothing more of it can be told.
        case over
    }

    /// More requests than these without an answer are no client's.
    private static let mostExchanges = 1024
    /// Bytes that may wait for the answer to an upgrade.
    private static let mostHeld = 4 << 20

    let id: UInt32
    private let output: CaptureOutput
    private var mode = Mode.http
    private var requests = Reading(.toServer)
    private var responses = Reading(.toClient)
    private var exchanges: [Exchange] = []
    private var lastX: UInt32 = 0
    /// The request that is being answered; 0: none that is known.
    private var answering: UInt32 = 0
    /// Answers that came before their requests, which were sent and are told later. Servers do so that have read part of a request only.
    private var early = 0
    /// What the client said behind a request to upgrade.
    private var held: [Held] = []
    private var heldCount = 0
    /// Requests may have been missed since the answers were lost.
    private var missesRequests = false

    init(_ open: TapeEvent.Open, at time: UInt64, _ output: CaptureOutput) {
        self.output = output
        id = output.open(open, at: time)
    }

    // MARK: Bytes

    func received(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        switch mode {
        case .over: output.report.unreadBytes += UInt64(bytes.count)
        case .tunnel: put(.bytes, direction, at: time, bytes)
        case .http:
            switch direction {
            case .toServer: heard(bytes, at: time)
            case .toClient: answered(bytes, at: time)
            }
        }
    }

    private func put(
        _ kind: RecordKind, _ direction: Direction, x: UInt32 = 0, at time: UInt64, _ payload: Span<UInt8>
    ) {
        output.put(kind, id, flags: RecordFlags.direction(direction), x: x, at: time, payload)
    }

    /// Bytes that cannot be read go to the tape as what they are.
    private func unreadable(_ bytes: Span<UInt8>, _ direction: Direction, _ why: String, at time: UInt64) {
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + 65536)
            put(.malformed, direction, at: time, MalformedRecord.encode(why, bytes.extracting(at..<end)).span)
            at = end
        }
        output.report.unreadBytes += UInt64(bytes.count)
    }

    // MARK: Requests

    private var isHolding: Bool { exchanges.last?.mayTunnel == true && !requests.isInBody }

    private func heard(_ bytes: Span<UInt8>, at time: UInt64) {
        guard isHolding else { return read(bytes, at: time) }
        heldCount += bytes.count
        held.append(.bytes([UInt8](copying: bytes), at: time))
        guard heldCount > CapturedExchanges.mostHeld else { return }
        mode = .over
        giveUpHeld("too much was said before the answer to an upgrade")
    }

    private func read(_ bytes: Span<UInt8>, at time: UInt64) {
        if requests.isLost {
            guard MessageStart.isRequest(bytes) else { return unreadable(bytes, .toServer, "after a gap", at: time) }
            requests.restart()
        }
        var at = 0
        while true {
            if requests.since == nil, !requests.isInBody, at < bytes.count { requests.since = time }
            switch requests.scanner.scan(bytes, from: at) {
            case .more, .response: return
            case .request(let head, let info, let next):
                guard exchanges.count < CapturedExchanges.mostExchanges else {
                    mode = .over
                    return unreadable(
                        bytes.extracting(at...), .toServer, "too many requests without an answer", at: time)
                }
                begin(head, info, at: time)
                at = next
            case .body(let range, let next):
                let piece = bytes.extracting(range)
                if requests.isDamaged {
                    unreadable(piece, .toServer, "behind a gap in its body", at: time)
                } else {
                    put(.body, .toServer, x: lastX, at: time, piece)
                }
                at = next
            case .end(let trailers, let next):
                if !requests.isDamaged {
                    put(.bodyEnd, .toServer, x: lastX, at: time, TrailerRecord.encode(trailers).span)
                }
                (requests.since, requests.isInBody, requests.isDamaged) = (nil, false, false)
                at = next
                if isHolding, next < bytes.count { return heard(bytes.extracting(next...), at: time) }
            case .bad(let fault, _):
                requests.isLost = true
                return unreadable(bytes.extracting(at...), .toServer, fault.reason, at: time)
            }
        }
    }

    private func begin(_ head: RequestHead, _ info: HTTPHeadInfo, at time: UInt64) {
        lastX += 1
        requests.isInBody = true
        missesRequests = false
        if early > 0 {
            early -= 1
        } else {
            exchanges.append(
                Exchange(x: lastX, mayTunnel: info.isUpgrade || head.method == "CONNECT", method: head.method))
            responses.scanner.expect(method: head.method)
        }
        put(.request, .toServer, x: lastX, at: requests.since ?? time, info.raw.span)
    }

    // MARK: Answers

    private func answered(_ bytes: Span<UInt8>, at time: UInt64) {
        if responses.isLost {
            guard MessageStart.isResponse(bytes) else { return unreadable(bytes, .toClient, "after a gap", at: time) }
            findExchange()
        }
        var at = 0
        while true {
            if responses.since == nil, !responses.isInBody, at < bytes.count { responses.since = time }
            switch responses.scanner.scan(bytes, from: at) {
            case .more, .request: return
            case .response(let head, let info, let next):
                let exchange = exchanges.first
                answering = exchange?.x ?? 0
                put(.response, .toClient, x: answering, at: responses.since ?? time, info.raw.span)
                responses.since = nil
                at = next
                if head.status == 101 || exchange?.isConnect == true && 200..<300 ~= head.status {
                    return becomeTunnel(bytes.extracting(next...), isAsked: exchange?.mayTunnel == true, at: time)
                }
                guard head.status >= 200 else { continue }
                responses.isInBody = true
                if exchange == nil, !requests.isLost, !missesRequests { early += 1 }
            case .body(let range, let next):
                let piece = bytes.extracting(range)
                if responses.isDamaged {
                    unreadable(piece, .toClient, "behind a gap in its body", at: time)
                } else {
                    put(.body, .toClient, x: answering, at: time, piece)
                }
                at = next
            case .end(let trailers, let next):
                at = next
                if responses.isInBody { endAnswer(trailers, at: time) }
            case .bad(let fault, _):
                return becomeRaw(bytes.extracting(at...), fault.reason, at: time)
            }
        }
    }

    private func endAnswer(_ trailers: [HeaderField], at time: UInt64) {
        if !responses.isDamaged {
            put(.bodyEnd, .toClient, x: answering, at: time, TrailerRecord.encode(trailers).span)
        }
        (responses.isInBody, responses.isDamaged) = (false, false)
        if let mayTunnel = endExchange()?.mayTunnel, mayTunnel { release() }
    }

    /// The answer at hand is over: takes the request that it was for off the list.
    private func endExchange() -> Exchange? {
        guard let first = exchanges.first, first.x == answering else { return nil }
        return exchanges.removeFirst()
    }

    /// Answers are read again behind a gap: this one is for the last request, since clients ask one thing after the other, unless
    /// requests were missed as well.
    private func findExchange() {
        let isKnown = !missesRequests
        responses.restart()
        let last = exchanges.last
        exchanges = []
        guard let last, isKnown else { return }
        exchanges = [last]
        responses.scanner.expect(method: last.method)
    }

    /// - Parameter isAsked: the request for it was captured.
    private func becomeTunnel(_ rest: Span<UInt8>, isAsked: Bool, at time: UInt64) {
        mode = .tunnel
        // Else what the client says next may be the rest of its request.
        if !isAsked || requests.isLost { miss(nil, .toServer, at: time) }
        exchanges = []
        if !rest.isEmpty { put(.bytes, .toClient, at: time, rest) }
        release()
    }

    /// What the server says is no HTTP: both directions go to the tape as they are.
    private func becomeRaw(_ bytes: Span<UInt8>, _ reason: String, at time: UInt64) {
        let partial = responses.scanner.partialHead
        put(
            .malformed, .toClient, at: time, MalformedRecord.encode(reason, partial.isEmpty ? bytes : partial.span).span
        )
        put(.raw, .toServer, at: time, Span())
        mode = .tunnel
        exchanges = []
        release()
    }

    /// What was held goes on, as requests or as the tunnel's.
    private func release() {
        let waiting = held
        held = []
        heldCount = 0
        for one in waiting {
            switch one {
            case .bytes(let bytes, let time): received(bytes.span, .toServer, at: time)
            case .missing(let count, let time): missed(count, .toServer, at: time)
            }
        }
    }

    /// What was held goes to the tape as bytes that cannot be read.
    private func giveUpHeld(_ why: String) {
        let waiting = held
        held = []
        heldCount = 0
        for one in waiting {
            switch one {
            case .bytes(let bytes, let time): unreadable(bytes.span, .toServer, why, at: time)
            case .missing(let count, let time): miss(count, .toServer, at: time)
            }
        }
    }

    private static let noAnswer = "the answer to the upgrade before it is missing"

    // MARK: Gaps and ends

    func missed(_ count: UInt64?, _ direction: Direction, at time: UInt64) {
        guard case .http = mode else { return miss(count, direction, at: time) }
        switch direction {
        case .toServer:
            if isHolding { return held.append(.missing(count, at: time)) }
            let x = requests.isInBody ? lastX : 0
            miss(count, .toServer, x: x, at: time)
            lose(&requests, count)
            if requests.isLost { missesRequests = true }
        case .toClient:
            let x = responses.isInBody ? answering : 0
            miss(count, .toClient, x: x, at: time)
            let wasInBody = responses.isInBody
            let wasLost = responses.isLost
            lose(&responses, count)
            guard responses.isLost, !wasLost else { return }
            missesRequests = requests.isLost
            early = 0
            if wasInBody { _ = endExchange() }
        }
    }

    private func miss(_ count: UInt64?, _ direction: Direction, x: UInt32 = 0, at time: UInt64) {
        output.report.gaps += 1
        output.report.missingBytes += count ?? 0
        output.miss(count, id, direction, x: x, at: time)
    }

    private func lose(_ reading: inout Reading, _ count: UInt64?) {
        if !reading.isLost, reading.isInBody, let count, reading.scanner.skip(count) { return reading.isDamaged = true }
        output.report.unreadBytes += UInt64(reading.scanner.partialHead.count)
        reading.restart()
        reading.isLost = true
    }

    func ended(_ direction: Direction, isReset: Bool, at time: UInt64) {
        guard !requests.hasEnded || !responses.hasEnded else { return }
        if isReset || direction == .toClient || responses.isLost { giveUpHeld(CapturedExchanges.noAnswer) }
        switch direction {
        case .toServer:
            requests.hasEnded = true
            if case .http = mode {
                partial(requests.scanner.partialHead, .toServer, "the connection ended in it", at: time)
            }
        case .toClient:
            responses.hasEnded = true
            if case .http = mode { endOfAnswers(isReset, at: time) }
        }
        let party: TapeEvent.Party = direction == .toServer ? .client : .server
        output.put(.gone, id, flags: GoneFlags.encode(party, isReset ? .rst : .fin), at: time, Span())
        if isReset { leave() }
    }

    private func endOfAnswers(_ isReset: Bool, at time: UInt64) {
        partial(responses.scanner.partialHead, .toClient, "the connection ended in it", at: time)
        guard !isReset, !responses.isLost, responses.isInBody, responses.scanner.finish() == .endOfBody else { return }
        endAnswer([], at: time)
    }

    private func partial(_ head: [UInt8], _ direction: Direction, _ why: String, at time: UInt64) {
        guard !head.isEmpty else { return }
        put(.malformed, direction, at: time, MalformedRecord.encode("a head that is not whole: \(why)", head.span).span)
    }

    /// The capture ends in the middle of it.
    func finished(at time: UInt64) {
        guard case .http = mode else { return leave() }
        if !requests.hasEnded { partial(requests.scanner.partialHead, .toServer, "the capture ends in it", at: time) }
        if !responses.hasEnded { partial(responses.scanner.partialHead, .toClient, "the capture ends in it", at: time) }
        leave()
    }

    private func leave() {
        mode = .over
        giveUpHeld(CapturedExchanges.noAnswer)
    }
}
