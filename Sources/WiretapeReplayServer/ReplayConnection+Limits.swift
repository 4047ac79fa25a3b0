internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeWire

/// What is awaited from the client, and what becomes of one that keeps us waiting.
extension ReplayConnection: SeatedClient {
    var isAwaited: Bool { !ruled.isDeaf && stream.queued == 0 && stream.unacknowledged == 0 }

    /// What a rule keeps from leaving, and the end of a connection, have times of their own.
    var phase: Seat.Phase {
        guard !ends.isGone, !isLeaving, output.count == 0 else { return .busy }
        return switch endpoint.awaited {
        case .nothing: .busy
        case .request: exchange == 0 ? .silent : .idle
        case .head: .head
        case .body: .body
        }
    }

    func timedOut(_ phase: Seat.Phase, at now: WireInstant) {
        let reason = server.entrance.limits.reason(phase)
        switch phase {
        case .silent, .idle: disconnect()
        case .head, .body:
            server.tellRefused("\(reason) (408)")
            endpoint.timeOut(reason)
            server.touch(self)
        case .handshake, .leaving, .refused, .busy: return
        }
        server.pump()
    }

    func giveWay(_ phase: Seat.Phase, at now: WireInstant) {
        ends.begin(.server)
        if phase == .head {
            noteOwnAnswer(503)
            let words = OwnAnswer.noPlace
            stream.write(words.span)
        }
        stream.reset()
    }
}
