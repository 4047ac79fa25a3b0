internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

extension RelayConnection {
    /// Cuts the client's bytes at the boundaries of its requests and forwards them: heads with the upstream's `Host`,
    /// everything else as it came.
    func parseRequests(_ bytes: Span<UInt8>, at now: WireInstant) {
        var at = 0
        // Bytes from here on have been looked at and not been forwarded.
        var start = 0
        var out: [UInt8] = []
        while let http {
            if http.requestSince == nil, !http.isInRequestBody, at < bytes.count { http.requestSince = now }
            switch http.requests.scan(bytes, from: at) {
            case .more:
                if http.isInRequestBody { sendToServer(&out, bytes.extracting(start..<bytes.count)) }
                sendToServer(&out, Span())
                return
            case .request(let head, let info, let next):
                if let reason = node.refusal(head) {
                    sendToServer(&out, Span())
                    return refuse(notLetIn: info, 403, reason, at: now)
                }
                if let reason = node.leadBack?.circle(head, at: node) {
                    sendToServer(&out, Span())
                    return refuse(notLetIn: info, 508, reason, at: now)
                }
                if let control = node.faults, control.faults.touches(head) {
                    sendToServer(&out, Span())
                    return hold(http, info.raw, bytes.extracting(next..<bytes.count), control, at: now)
                }
                begin(head, info, &out, at: http.requestSince ?? now)
                start = next
                at = next
            case .body(let range, let next):
                node.tap?.record(.body, id, x: http.requestX, at: now, bytes.extracting(range))
                at = next
            case .end(let trailers, let next):
                http.isInRequestBody = false
                http.requestSince = nil
                node.tap?.record(.bodyEnd, id, x: http.requestX, at: now, TrailerRecord.encode(trailers).span)
                sendToServer(&out, bytes.extracting(start..<next))
                start = next
                at = next
                if http.exchanges.last?.mayTunnel == true {
                    http.held.append(copying: bytes.extracting(next..<bytes.count))
                    client?.block(.upgrade)
                    return
                }
                if http.exchanges.count >= HTTPExchanges.pipelineLimit {
                    http.held.append(copying: bytes.extracting(next..<bytes.count))
                    client?.block(.pipeline)
                    return
                }
            case .bad(let fault, _):
                node.misunderstood(fault)
                node.tap?.record(
                    .malformed, id, at: now,
                    MalformedRecord.encode(fault.reason, bytes.extracting(at..<min(bytes.count, at + 65536))).span)
                sendToServer(&out, Span())
                refuse(fault.status, fault.reason, at: now)
                return
            case .response: return
            }
        }
    }

    /// A rule may touch the request whose head is `raw`, `rest` stands behind it. It is held when the requests before it have
    /// their answers.
    private func hold(
        _ http: HTTPExchanges, _ raw: [UInt8], _ rest: Span<UInt8>, _ control: FaultControl, at now: WireInstant
    ) {
        guard http.exchanges.isEmpty else {
            http.requests = HTTPScanner(.toServer)
            http.requestSince = nil
            http.held = raw
            http.held.append(copying: rest)
            client?.block(.pipeline)
            return
        }
        guard let client else { return }
        var bytes = raw
        bytes.append(copying: rest)
        becomeHeld(control).received(bytes.span, from: client, at: now)
    }

    private func begin(_ head: RequestHead, _ info: HTTPHeadInfo, _ out: inout [UInt8], at time: WireInstant) {
        guard let http else { return }
        http.lastX += 1
        http.requestX = http.lastX
        http.isInRequestBody = true
        let mayTunnel = info.isUpgrade || head.method == "CONNECT"
        let asked = node.leadBack?.request(head, at: node)
        http.exchanges.append(
            .init(x: http.lastX, mayTunnel: mayTunnel, isConnect: head.method == "CONNECT", asked: asked))
        http.responses.expect(method: head.method)
        node.tap?.record(.request, id, x: http.lastX, at: time, info.raw.span)
        if server == nil { connectServer(isTunnel: mayTunnel) }
        out += towardsServer(info.raw, asked)
    }

    /// Sends what was gathered and `rest` in one write, or keeps it until the server is connected.
    private func sendToServer(_ out: inout [UInt8], _ rest: Span<UInt8>) {
        guard !out.isEmpty || !rest.isEmpty, let client else { return }
        if !isServerConnected {
            http?.pending += out
            http?.pending.append(copying: rest)
            client.block(.connecting)
        } else if out.isEmpty {
            forward(rest, from: client)
        } else {
            out.append(copying: rest)
            forward(out.span, from: client)
        }
        out.removeAll()
    }

    /// Goes on with what the client sent after an upgrade that was refused, or after a full pipeline.
    func resumeHeld(at now: WireInstant) {
        guard let http, !http.held.isEmpty else { return }
        let held = http.held
        http.held = []
        parseRequests(held.span, at: now)
    }

    /// A request that is not passed on is on the tape with our answer.
    private func refuse(notLetIn info: HTTPHeadInfo, _ status: Int, _ reason: String, at now: WireInstant) {
        guard let http else { return }
        http.lastX += 1
        node.tap?.record(.request, id, x: http.lastX, at: http.requestSince ?? now, info.raw.span)
        http.lastX -= 1
        refuse(status, reason, at: now)
    }

    /// Answers the client ourselves, after the answers that it still awaits, and takes nothing more from it.
    func refuse(_ status: Int, _ reason: String, at now: WireInstant) {
        guard let http else { return }
        if http.isInRequestBody, let cut = http.exchanges.popLast() {
            // The server is answering a request that will never be whole: nothing can be said in between.
            if cut.isAnswered { return abort() }
        }
        let words = OwnAnswer.bytes(status, reason)
        if http.exchanges.isEmpty {
            finish(with: words, x: http.isInRequestBody ? http.requestX : http.lastX + 1, at: now)
        } else {
            http.lastWords = words
            client?.block(.upgrade)
        }
    }

    /// Our last answer: recorded, written, and then nothing but reading until the client ends.
    func finish(with words: [UInt8], x: UInt32, at now: WireInstant) {
        // Behind an end nothing can be said, and nothing is on the tape that was not.
        if let client, !client.sentEnd {
            node.tap?.record(.response, id, flags: RecordFlags.toClient | RecordFlags.proxy, x: x, at: now, words.span)
            client.stream?.write(words.span)
        }
        leaveRefused(at: now)
    }

    /// A refused client is let go: nothing that it says goes on to the server.
    func leaveRefused(at now: WireInstant) {
        record(gone: .proxy, .fin, "refused", at: now)
        http = nil
        isDiverted = true
        client?.halfClose()
        client?.unblock(.upgrade)
        client?.unblock(.connecting)
        client?.unblock(.pipeline)
        leaveServer()
        settle(at: now)
    }
}
