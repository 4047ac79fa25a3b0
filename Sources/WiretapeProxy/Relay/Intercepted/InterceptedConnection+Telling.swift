internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

/// What report and tape are told of rules that fire. The tape has the event as it came, and behind it what was done to it:
/// at once, or when the end that a rule wants has come.
extension InterceptedConnection {
    /// Rules that fired, but for the one whose end is still to come.
    func record(_ hits: [FaultHit], of end: MessageFate.End?, _ live: LiveExchange, at now: WireInstant) {
        for hit in hits {
            guard hit == end?.hit else {
                write(hit, delivered: hit.losesItsMessage ? 0 : nil, at: now)
                faults.record(hit, on: live, at: now)
                continue
            }
            let number = control.mark(hit, on: connection.id)
            node.tap?.record(.faultMark, connection.id, x: number, at: now, Span())
        }
    }

    func note(_ fates: [MessageFate], _ live: LiveExchange, at now: WireInstant) {
        for fate in fates { record(fate.hits, of: fate.end, live, at: now) }
        for direction in Direction.allCases { update(direction) { $0.beginsToCarry() } }
    }

    /// What went that way since the rule fired carried the event.
    func carried(by end: MessageFate.End, _ direction: Direction) {
        control.carried(direction == .toClient ? toClient.carried : toServer.carried, direction, for: end.hit)
    }

    /// The end that a rule wants has come.
    /// - Parameters:
    ///   - cut: what it should follow may have been lost.
    ///   - isTold: the report has the firing already.
    func record(_ end: MessageFate.End, on live: LiveExchange?, cut: Bool, isTold: Bool, at now: WireInstant) {
        if !isTold { faults.record(end.hit, on: live, cut: cut, at: now) }
        guard let mark = control.takeMark(of: end.hit) else { return }
        writeGathered()
        var delivered = mark.carried
        if cut, mark.connection == connection.id, let side = mark.direction, let carried = delivered {
            let queue = side == .toClient ? toClient.queue.count : toServer.queue.count
            let stream = self.side(side)?.stream
            delivered = max(0, carried - queue - (stream?.queued ?? carried) - (stream?.unacknowledged ?? 0))
        }
        let text = FaultRecord.encode(end.hit.name, end.hit.text, delivered: delivered)
        node.tap?.record(.fault, mark.connection, x: mark.number, at: now, text.span)
    }

    /// On the tape, behind the event that it is about.
    func write(_ hit: FaultHit, delivered: Int? = nil, at now: WireInstant) {
        let text = FaultRecord.encode(hit.name, hit.text, delivered: delivered)
        node.tap?.record(.fault, connection.id, at: now, text.span)
    }
}

/// Where on the tape a rule has begun what is done later.
struct FaultMark {
    var number: UInt32
    var connection: UInt32
    /// Bytes of what carried the event, and to whom; nil: it was none, or is delivered whatever happens.
    var carried: Int?
    var direction: Direction?
}

extension FaultHit {
    /// Whether nothing of the message reaches the other side.
    fileprivate var losesItsMessage: Bool {
        message != nil && actions.contains { $0.verdict.losesMessage(at: place) }
    }
}
