internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What one firing on live traffic is about.
struct LiveFaultSite {
    /// Nil where a client connects: there is no request yet.
    let live: LiveExchange?
    /// Of the message; nil: what lasts is for both directions.
    let direction: Direction?
    let rule: String
    /// It is the end that was on its way on this connection.
    let isEnding: Bool
    let now: WireInstant

    init(
        _ live: LiveExchange?, _ direction: Direction? = nil, rule: String, isEnding: Bool = false, at now: WireInstant
    ) {
        self.live = live
        self.direction = direction
        self.rule = rule
        self.isEnding = isEnding
        self.now = now
    }

    /// To whose account it goes.
    var by: Attempt.End.Party { .fault(rule) }
}

/// How things are done to a connection of live traffic that rules want done.
extension InterceptedConnection: FaultPort {
    func carryOut(_ effect: FaultEffect, _ site: LiveFaultSite) {
        var port = self
        var site = site
        FaultExecutor.carryOut(effect, on: &site, by: &port)
    }

    /// What rules change from here on.
    /// - Parameter direction: of the message; nil: of both.
    func apply(
        _ effects: [FaultEffect], _ live: LiveExchange?, _ direction: Direction?, rule: String, at now: WireInstant
    ) {
        let site = LiveFaultSite(live, direction, rule: rule, at: now)
        for effect in effects { carryOut(effect, site) }
    }

    func request(_ site: LiveFaultSite) -> (head: RequestHead, kind: ExchangeKind)? {
        site.live.map { ($0.head, $0.kind) }
    }

    // MARK: Ends

    func end(_ end: ConnectionEnd, _ site: inout LiveFaultSite) {
        switch end {
        case .reset: over(site.live, site.by, .reset, at: site.now)
        case .fin: over(site.live, site.by, .fin, at: site.now)
        case .close(let code, let reason): close(code, reason, site.live, site.by, at: site.now)
        }
    }

    func answer(_ answer: HTTPAnswer, _ site: inout LiveFaultSite) {
        guard let live = site.live else { return }
        let readable = node.options.access.restricted(answer.readable(by: live.head), to: live.head)
        self.answer(readable, live, by: site.by, at: site.now)
    }

    func sendRaw(_ bytes: [UInt8], _ site: inout LiveFaultSite) {
        guard let live = site.live else { return }
        faults.malformed(live, by: site.by, at: site.now)
        say(bytes, x: http.lastX, at: site.now)
        leave(at: site.now)
    }

    func begin(_ outage: Outage, _ site: inout LiveFaultSite) {
        control.begin(outage, by: site.rule)
        // A poll whose answer is lost carries nothing any more, and its client waits.
        if site.isEnding, !isOver, let end = outage.cut.end { return cut(end, by: site.rule, site.live) }
        guard !isOver, let live = site.live, http.state == .answer, http.response.head == nil else { return }
        if let status = outage.answer {
            answer(HTTPAnswer(status: status), live, by: site.by, at: site.now)
        } else {
            end(.reset, &site)
        }
    }

    // MARK: What lasts

    func stall(_ stall: Stall, _ site: inout LiveFaultSite) {
        if let live = site.live { faults.silence(live, for: stall.duration, at: site.now) }
        if stall.reads { stopHearing() }
        if stall.writes { toClient.queue.pacer.isStopped = true }
        last(.stall(stall), for: stall.duration, at: site.now)
    }

    func mute(_ scope: MuteScope, for time: UInt64?, _ site: inout LiveFaultSite) {
        mutes(scope)
        if scope.coversProtocol, let live = site.live { faults.excuse(live, for: time, at: site.now) }
        last(.mute, for: time, at: site.now)
    }

    func pace(_ pace: WritePacer.Pace, for time: UInt64?, _ site: inout LiveFaultSite) {
        let now = site.now
        let directions = site.direction.map { [$0] } ?? Direction.allCases
        for direction in directions { update(direction) { $0.queue.pacer.set(pace, at: now) } }
        last(.pace, for: time, directions, at: now)
    }

    /// A change that a rule made for a while is over.
    func stop(_ change: LastingChange, _ directions: [Direction] = Direction.allCases, at now: WireInstant) {
        switch change {
        case .stall(let stall):
            if stall.reads { hearAgain(at: now) }
            if stall.writes { toClient.queue.pacer.isStopped = false }
        case .mute: mutes(nil)
        case .pace: for direction in directions { update(direction) { $0.queue.pacer.set(.free, at: now) } }
        }
    }

    // MARK: The session

    func withdraw(_ transports: [Transport], _ site: inout LiveFaultSite) {
        if let live = site.live { faults.downgrade(transports, live) }
    }

    func expire(_ site: inout LiveFaultSite) {
        if let live = site.live { faults.expire(live, by: site.rule) }
    }

    func setLifetime(_ seconds: Int, _ site: inout LiveFaultSite) {
        if let live = site.live { faults.setLifetime(seconds, live) }
    }
}
