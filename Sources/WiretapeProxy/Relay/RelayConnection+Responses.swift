internal import WiretapeBytes
internal import WiretapeRecorder
internal import WiretapeWire

extension RelayConnection {
    /// Looks where the server's answers begin and end, for the tape and for upgrades, and forwards all bytes as they came,
    /// in one write, but for those of an answer that would lead the client away.
    func parseResponses(_ bytes: Span<UInt8>, at now: WireInstant) {
        guard let server else { return }
        var at = 0
        // Bytes before it were forwarded, or others in their place.
        var start = 0
        // The order of the two directions is free: what the client had to hold back goes on after these bytes.
        var resumes = false
        defer { if resumes { resumeRequests(at: now) } }
        while let http {
            if http.responseSince == nil, !http.isInResponseBody, at < bytes.count { http.responseSince = now }
            switch http.responses.scan(bytes, from: at) {
            case .more:
                if http.isInResponseBody {
                    pass(bytes.extracting(start..<bytes.count), of: http, from: server)
                } else {
                    // A head that is not complete waits: what it says decides where its bytes belong.
                    http.partialResponse.append(copying: bytes.extracting(at..<bytes.count))
                    forward(bytes.extracting(start..<at), from: server)
                }
                return
            case .response(let head, let info, let next):
                let exchange = http.exchanges.first
                if begin(head, info, exchange, of: http, behind: bytes.extracting(start..<at), at: now) { start = next }
                if head.status == 101 || (exchange?.isConnect == true && 200..<300 ~= head.status) {
                    return becomeTunnel(bytes, from: start, at: next, now)
                }
                if head.status >= 200 {
                    http.isInResponseBody = true
                    if !http.exchanges.isEmpty { http.exchanges[0].isAnswered = true }
                }
                at = next
            case .body(let range, let next):
                node.tap?.record(
                    .body, id, flags: RecordFlags.toClient, x: http.exchanges.first?.x ?? 0, at: now,
                    bytes.extracting(range))
                if http.led != nil { collect(bytes.extracting(range), of: http, from: server) }
                at = next
            case .end(let trailers, let next):
                at = next
                guard http.isInResponseBody else { continue }
                http.isInResponseBody = false
                node.tap?.record(
                    .bodyEnd, id, flags: RecordFlags.toClient, x: http.exchanges.first?.x ?? 0, at: now,
                    TrailerRecord.encode(trailers).span)
                if http.led != nil {
                    pass(bytes.extracting(start..<next), of: http, from: server)
                    passLed(of: http, from: server)
                    start = next
                }
                guard !http.exchanges.isEmpty else { continue }
                let done = http.exchanges.removeFirst()
                if http.exchanges.isEmpty, let words = http.lastWords {
                    forward(bytes.extracting(start..<next), from: server)
                    return finish(with: words, x: http.lastX + 1, at: now)
                }
                if done.mayTunnel || http.exchanges.count == HTTPExchanges.pipelineLimit - 1
                    || http.exchanges.isEmpty && !http.held.isEmpty
                {
                    resumes = true
                }
            case .bad(let fault, _):
                return becomeRaw(after: fault.reason, bytes, from: start, at: at, now)
            case .request: return
            }
        }
    }

    /// The head of an answer.
    /// - Parameter before: what stands before it and was not forwarded.
    /// - Returns: whether another one, or nothing yet, was forwarded in its place.
    private func begin(
        _ head: ResponseHead, _ info: HTTPHeadInfo, _ exchange: HTTPExchanges.Exchange?, of http: HTTPExchanges,
        behind before: Span<UInt8>, at now: WireInstant
    ) -> Bool {
        let since = http.responseSince ?? now
        http.responseSince = nil
        let early = http.partialResponse
        http.partialResponse = []
        let isLed = exchange?.asked.map { lead(head, info, to: $0, before) } ?? false
        if !isLed, !early.isEmpty, let server { forward(early.span, from: server) }
        node.tap?.record(
            .response, id, flags: RecordFlags.toClient, x: exchange?.x ?? 0, at: since, info.raw.span)
        if head.status >= 200 || head.status == 101 { node.answered() }
        return isLed
    }

    /// The client may send requests again.
    private func resumeRequests(at now: WireInstant) {
        client?.unblock(.upgrade)
        client?.unblock(.pipeline)
        resumeHeld(at: now)
    }

    /// The upgrade was granted: `bytes[start..<next]` end its head, the rest is the tunnel's, as is what the client sent ahead.
    private func becomeTunnel(_ bytes: Span<UInt8>, from start: Int, at next: Int, _ now: WireInstant) {
        guard let http, let server else { return }
        let held = http.unsent
        let isRefused = http.lastWords != nil
        self.http = nil
        if next < bytes.count {
            node.tap?.record(
                .bytes, id, flags: RecordFlags.toClient, at: now, bytes.extracting(next..<bytes.count))
        }
        forward(bytes.extracting(start..<bytes.count), from: server)
        leaveHTTP(held, isRefused: isRefused, at: now)
    }

    /// What the server says from `bytes[at...]` on is no HTTP, for this `reason`: from here on both directions go on as they are.
    private func becomeRaw(
        after reason: String, _ bytes: Span<UInt8>, from start: Int, at: Int, _ now: WireInstant
    ) {
        guard let http, let server else { return }
        node.answered()
        node.tap?.record(
            .malformed, id, flags: RecordFlags.toClient, at: now,
            MalformedRecord.encode(reason, bytes.extracting(at..<min(bytes.count, at + 65536))).span)
        node.tap?.record(.raw, id, at: now, Span())
        let early = (http.led?.raw ?? []) + http.partialResponse
        let held = http.unsent
        let isRefused = http.lastWords != nil
        self.http = nil
        forward(early.span, from: server)
        forward(bytes.extracting(start..<bytes.count), from: server)
        leaveHTTP(held, isRefused: isRefused, at: now)
    }

    /// Both directions go on as they are, unless the client was refused and awaited the answers before ours: nobody knows where
    /// those end now, so that ours cannot be said, and nothing of the client goes on.
    private func leaveHTTP(_ held: [UInt8], isRefused: Bool, at now: WireInstant) {
        guard let client else { return }
        guard !isRefused else { return leaveRefused(at: now) }
        if !held.isEmpty { tunnel(held.span, from: client, at: now) }
        client.unblock(.upgrade)
        client.unblock(.pipeline)
    }
}
