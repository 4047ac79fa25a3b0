internal import WiretapeAttempts
internal import WiretapeBytes
package import WiretapeFaults
package import WiretapeMessages
package import WiretapePlayback
internal import WiretapeProtocol
package import WiretapeWire

/// What one firing in a replay is about.
package struct FaultSite {
    /// Nil between two polls: the next one is meant.
    let connection: ConnectionID?
    /// Nil: only the connection is meant.
    let session: SessionRun?
    let role: Role
    /// What the server is to do.
    var actions: [ReplayAction] = []
    /// There is no connection to which it could be done.
    var awaitsPoll = false
    /// The status of the answer that was given.
    var status: Int?

    /// What stands on the connection where the effect comes.
    enum Role {
        /// Nothing in particular.
        case connection
        /// A client has just connected.
        case accept(FaultHit)
        /// A request that has not been answered. The end that comes instead of its answer waits so many nanoseconds.
        case request(RequestHead, ExchangeKind, FaultHit, after: UInt64)
        /// A request that has its answer, and what follows that.
        case answered(RunFaults.RequestCut)
        /// Messages of the session, and what ends them.
        case session(Link.Ending)
    }

    init(_ role: Role, on connection: ConnectionID?, of session: SessionRun?) {
        self.connection = connection
        self.session = session
        self.role = role
    }
}

/// How things are done in a replay that rules want done.
extension ReplayEngine: FaultPort {
    /// An end, or something that lasts.
    /// - Returns: the site as it was left; its actions are in `out` already.
    @discardableResult
    mutating func carryOut(
        _ effect: FaultEffect, _ role: FaultSite.Role, on connection: ConnectionID?, of session: SessionRun?,
        into out: inout [ReplayAction]
    ) -> FaultSite {
        var site = FaultSite(role, on: connection, of: session)
        FaultExecutor.carryOut(effect, on: &site, by: &self)
        out += site.actions
        return site
    }

    package func request(_ site: FaultSite) -> (head: RequestHead, kind: ExchangeKind)? {
        guard case .request(let head, let kind, _, _) = site.role else { return nil }
        return (head, kind)
    }

    // MARK: Ends

    package mutating func end(_ end: ConnectionEnd, _ site: inout FaultSite) {
        switch site.role {
        case .session(let ending):
            if let session = site.session { self.end(session, end, ending, on: site.connection, into: &site.actions) }
        case .request(_, _, _, let wait): shut(site.connection, end, after: wait, of: site.session, into: &site.actions)
        case .answered(let due): self.end(due, end, into: &site.actions)
        case .accept(let hit):
            guard let connection = site.connection else { return }
            guard end != .fin else { return shut(connection, end, into: &site.actions) }
            refuseConnection(connection, by: hit.name, into: &site.actions)
        case .connection: shut(site.connection, end, into: &site.actions)
        }
    }

    package mutating func answer(_ answer: HTTPAnswer, _ site: inout FaultSite) {
        guard case .request(let head, _, _, _) = site.role, let connection = site.connection else { return }
        site.actions.append(.respond(connection, answer.readable(by: head), thenClose: false))
        site.status = answer.status
    }

    package mutating func sendRaw(_ bytes: [UInt8], _ site: inout FaultSite) {
        guard case .request(_, _, _, let wait) = site.role, let connection = site.connection else { return }
        site.actions.append(.raw(connection, bytes))
        shut(connection, .fin, after: wait, of: site.session, into: &site.actions)
    }

    package mutating func begin(_ outage: Outage, _ site: inout FaultSite) {
        switch site.role {
        case .session(let ending):
            guard let session = site.session, let hit = ending.hit else { return }
            session.link?.goesOn()
            begin(outage, by: hit, into: &site.actions)
        case .request(let head, _, let hit, _):
            begin(outage, by: hit, into: &site.actions)
            guard let connection = site.connection, peers[connection]?.isOver != true,
                site.session == nil || outage.cut.end == nil
            else {
                return
            }
            _ = answerInOutage(connection, head, into: &site.actions)
        case .answered(let due):
            if let hit = due.ending.hit { begin(outage, by: hit, into: &site.actions) }
        case .accept(let hit): begin(outage, by: hit, into: &site.actions)
        case .connection: return
        }
    }

    /// Ends a connection that carries no messages of a session.
    /// - Parameter wait: nanoseconds until then.
    mutating func shut(
        _ connection: ConnectionID?, _ end: ConnectionEnd, after wait: UInt64 = 0, of session: SessionRun? = nil,
        into out: inout [ReplayAction]
    ) {
        guard let connection else { return }
        guard wait == 0 else {
            let ending = Link.Ending(verdict: end.effect, hit: nil, isToldAlready: true)
            return rules.add(
                .init(
                    connection: connection, ticket: 0, ending: ending, moment: FaultMoment(session: 0),
                    session: session,
                    until: now.advanced(by: wait)))
        }
        peers.end(connection)
        switch end {
        case .reset: out.append(.reset(connection))
        case .fin, .close: out.append(.disconnect(connection))
        }
    }

    // MARK: What lasts

    package mutating func stall(_ stall: Stall, _ site: inout FaultSite) {
        guard let connection = site.connection else { return site.awaitsPoll = true }
        if let session = site.session, session.link?.connection == connection {
            session.link?.faults.isSilenced(
                stopping: stall.writes ? connection : nil, forGood: stall.duration == nil)
            session.excused(for: stall.duration, at: now)
        }
        site.actions.append(.stall(connection, reads: stall.reads, writes: stall.writes))
        rules.last(.stall(stall), for: stall.duration, on: connection, at: now)
    }

    package mutating func mute(_ scope: MuteScope, for time: UInt64?, _ site: inout FaultSite) {
        if let session = site.session, scope.coversProtocol {
            session.mute(until: now.advanced(by: time ?? .max))
            session.excused(for: time, at: now)
        }
        guard let connection = site.connection else { return site.awaitsPoll = true }
        guard scope.coversWebSocket else { return }
        site.actions.append(.mute(connection, true))
        rules.last(.mute, for: time, on: connection, at: now)
    }

    package mutating func pace(_ pace: WritePacer.Pace, for time: UInt64?, _ site: inout FaultSite) {
        guard let connection = site.connection else { return site.awaitsPoll = true }
        site.actions.append(.pace(connection, pace))
        rules.last(.pace, for: time, on: connection, at: now)
    }

    // MARK: The session

    package mutating func withdraw(_ transports: [Transport], _ site: inout FaultSite) {
        if let session = site.session { session.withdraw(transports) }
    }

    package mutating func expire(_ site: inout FaultSite) {
        if let session = site.session { expireSession(session, into: &site.actions) }
    }

    package mutating func setLifetime(_ seconds: Int, _ site: inout FaultSite) {
        if let session = site.session { session.setLifetime(seconds) }
    }
}
