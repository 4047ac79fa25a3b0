internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

extension InterceptedConnection {
    /// What is awaited from the client. What a rule keeps waiting, or ends, has times of its own.
    var phase: Seat.Phase {
        guard !isOver, socket == nil, !isTunnel, !http.isRefused, ends.pending == nil else { return .busy }
        switch http.state {
        case .idle:
            guard toClient.waitingCount == 0, toServer.waitingCount == 0 else { return .busy }
            return http.request.since == nil ? .idle : .head
        case .request: return http.response.head == nil ? .body : .busy
        case .answer: return .busy
        }
    }

    func timedOut(_ phase: Seat.Phase, _ reason: String, at now: WireInstant) {
        switch phase {
        case .head:
            connection.recordPartialHead(http.request.partialHead, reason, at: now)
            say(OwnAnswer.bytes(408, reason), x: http.lastX + 1, at: now)
        case .body:
            say(OwnAnswer.bytes(408, reason), x: http.lastX, at: now)
            if let live = http.live { faults.answered(live, ResponseHead(status: 408), by: .proxy, at: now) }
        case .silent, .idle:
            connection.record(gone: .proxy, .fin, reason, at: now)
        case .handshake, .leaving, .refused, .busy: return
        }
        http.refuses()
        leave(at: now)
        pump()
    }
}
