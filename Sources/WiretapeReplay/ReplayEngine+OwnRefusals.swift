internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// The replay has nothing to answer an attempt with: that is no pass, and says nothing of the client. A client that
    /// tries again and again is told of once.
    mutating func refusedByReplay(_ reason: String, into out: inout [ReplayAction]) {
        let text = "wiretape: \(reason)"
        out.append(.log(text))
        record.refused(text)
    }

    /// Whether `--on-reconnect refuse` or `next` took the session away from its client, which is what was asked for.
    func wasTaken(_ session: SessionRun) -> Bool {
        switch options.onReconnect {
        case .refuse, .next: session.standing.isLeft
        case .resume, .lose, .rewind, .live, .restart: false
        }
    }

    /// The client left in order, and names the session once more.
    func over(_ session: SessionRun, _ head: RequestHead) -> String {
        "session \(session.recorded.number) of \(tapeName) is over for \(head.method) \(head.path): its client left it in order"
    }
}
