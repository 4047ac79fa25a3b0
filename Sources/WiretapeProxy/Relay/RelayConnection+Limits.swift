internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

/// What is awaited from the client, and what becomes of one that keeps us waiting.
extension RelayConnection: SeatedClient {
    var isAwaited: Bool {
        guard let client, let stream = client.stream else { return false }
        return client.isUnblocked && stream.queued == 0 && stream.unacknowledged == 0
    }

    /// After something has happened. Not called for what passes a tunnel.
    func settle(at now: WireInstant) { seat?.move(to: phase, at: now) }

    /// The client is read again: it was us who kept it waiting.
    func readsAgain() {
        guard let seat else { return }
        seat.restart(seat.phase, at: node.loop.now)
    }

    private var phase: Seat.Phase {
        if let held { return held.phase }
        guard let http else { return isDiverted ? .leaving : .busy }
        if http.isInRequestBody {
            // A server that answers already may have a conversation with its client, where both may be silent.
            return http.exchanges.last?.isAnswered == true ? .busy : .body
        }
        if !http.exchanges.isEmpty || http.lastWords != nil { return .busy }
        if http.requestSince != nil { return .head }
        return http.lastX == 0 ? .silent : .idle
    }

    func timedOut(_ phase: Seat.Phase, at now: WireInstant) {
        let reason = node.limits.reason(phase)
        switch phase {
        case .head, .body:
            node.timedOut(phase)
            if let held { return held.timedOut(phase, reason, at: now) }
            if phase == .head { recordPartialHead(http?.requests.partialHead ?? [], reason, at: now) }
            refuse(408, reason, at: now)
            settle(at: now)
        case .silent, .idle:
            if let held { return held.timedOut(phase, reason, at: now) }
            endIdle(reason, at: now)
        case .leaving: leftLate(at: now)
        case .handshake, .refused, .busy: break
        }
    }

    /// All connections hold too much of heads that are not whole, and this one's is long.
    func refuseHead(_ http: HTTPExchanges, at now: WireInstant) {
        node.refused(MemoryBudget.reason)
        recordPartialHead(http.requests.partialHead, MemoryBudget.reason, at: now)
        http.requests = HTTPScanner(.toServer)
        _ = http.weighHead()
        refuse(503, MemoryBudget.reason, at: now)
    }

    /// Our last word was said a while ago: it has the same time again as long as it takes what is queued for it.
    private func leftLate(at now: WireInstant) {
        let queued = client?.stream?.queued ?? 0
        guard queued > 0, queued < queuedAtLastLook else { return abort() }
        queuedAtLastLook = queued
        settle(at: now)
    }

    /// Nothing was asked: both sides end in order.
    private func endIdle(_ reason: String, at now: WireInstant) {
        record(gone: .proxy, .fin, reason, at: now)
        http = nil
        isDiverted = true
        client?.halfClose()
        if isServerConnected { server?.halfClose() } else { leaveServer() }
        settle(at: now)
    }

    /// Its descriptors are needed at once.
    func giveWay(_ phase: Seat.Phase, at now: WireInstant) {
        let reason = "another client needed its place"
        if phase == .head, client?.sentEnd == false {
            recordPartialHead(
                held?.http.request.partialHead ?? http?.requests.partialHead ?? [], reason, at: now)
            let x = (held?.http.lastX ?? http?.lastX ?? 0) + 1
            let words = OwnAnswer.noPlace
            node.tap?.record(.response, id, flags: RecordFlags.toClient | RecordFlags.proxy, x: x, at: now, words.span)
            client?.stream?.write(words.span)
        }
        record(gone: .proxy, .rst, reason, at: now)
        held?.stopsRelaying()
        abort()
    }

    /// A head that never became whole, as it came.
    func recordPartialHead(_ bytes: [UInt8], _ reason: String, at now: WireInstant) {
        node.tap?.record(.malformed, id, at: now, MalformedRecord.encode(reason, bytes.span).span)
    }
}
