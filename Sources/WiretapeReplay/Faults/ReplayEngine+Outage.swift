internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeRuntime
internal import WiretapeWire

/// The server is away for a while, for everybody.
extension ReplayEngine {
    /// Cuts the sessions' connections. What asks until it is over is refused or answered, over a connection that is kept
    /// alive, too: were it cut beforehand, the client's next attempt might be lost on the way and nobody would know of it.
    mutating func begin(_ outage: Outage, by hit: FaultHit, into out: inout [ReplayAction]) {
        rules.begin(outage, by: hit, at: now)
        guard let end = outage.cut.end else { return }
        let linked = runs.indices.filter { runs[$0].isConnected }.sorted {
            (runs[$0].session.number, runs[$0].run) < (runs[$1].session.number, runs[$1].run)
        }
        for r in linked {
            if runs[r].link?.connection == nil {
                // Between two polls: there is nothing to cut, and the next one finds nobody.
                leave(r, by: .fault(hit.name), how: .init(end), .gone)
                continue
            }
            let ending = Link.Ending(verdict: end.effect, hit: hit, isToldAlready: true)
            if runs[r].link?.isCut == true { runs[r].link?.cut = .none }
            carryOut(ending, of: r, complete: true, into: &out)
        }
    }

    /// A connection that comes about during an outage.
    /// - Returns: whether it was refused.
    mutating func refuseInOutage(_ c: ConnectionID, into out: inout [ReplayAction]) -> Bool {
        guard let outage = rules.outage(at: now), outage.answer == nil else { return false }
        noteFault(outage.hit, .end, on: c, into: &out)
        refuseConnection(c, by: outage.name, into: &out)
        return true
    }

    /// RST before anything was asked.
    mutating func refuseConnection(_ c: ConnectionID, by name: String, into out: inout [ReplayAction]) {
        peers[c]?.isOver = true
        out.append(.reset(c))
        // Whose attempt it was can only be told by the address.
        guard let host = peers[c]?.address?.host, let r = lostRun(from: host) else { return }
        note(.init(request: "connect", time: elapsed), failed: name, of: r)
    }

    /// The session of a client at that address which has lost its connection.
    func lostRun(from host: String) -> Int? {
        let mine = runs.indices.filter { runs[$0].client.identities.contains { $0.hasPrefix(host + " ") } }
        return mine.first { isAwaited($0) && runs[$0].lastEnd != nil } ?? returning(mine)
    }

    /// A request during an outage.
    /// - Returns: whether it was answered.
    mutating func answerInOutage(
        _ c: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]
    ) -> Bool {
        guard let outage = rules.outage(at: now) else { return false }
        noteFault(outage.hit, .end, on: c, into: &out)
        let known = claims.clients[identity(head, c)]?.claims ?? []
        let r = known.first(where: isAwaited) ?? returning(known)
        guard let status = outage.answer else {
            if let r { note(.init(request: "connect", time: elapsed), failed: outage.name, of: r) }
            peers[c]?.isOver = true
            out.append(.reset(c))
            return true
        }
        if let r {
            let kind = runs[r].session.codec.type.kind(head)
            note(.init(request: kind.rawValue, status: status, time: elapsed), failed: outage.name, of: r)
            runs[r].negotiation.awaitsUpgrade = false
        }
        let answer = HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/plain")], body: Array("unavailable\n".utf8))
        out.append(.respond(c, answer.readable(by: head), thenClose: false))
        return true
    }

    /// Something of the session is left, and its client has no connection.
    private func isAwaited(_ r: Int) -> Bool { !runs[r].isConnected && !runs[r].isOver }

    private mutating func note(_ step: Attempt.Step, failed name: String, of r: Int) {
        settleParked(of: r)
        _ = runs[r].beginAttempt(at: now, origin: start)
        runs[r].addStep(step, failed: .fault(name), at: now)
    }

    // MARK: Connecting

    /// Asks the rules about a new connection.
    mutating func judgeAccept(_ c: ConnectionID, into out: inout [ReplayAction]) {
        guard !rules.isEmpty else { return }
        let listener = peers[c]?.name ?? ""
        guard let fate = rules.judgeAccept(listener: listener, sinceRun: clock.sinceOrigin) else { return }
        for hit in fate.hits {
            record(hit, FaultMoment(session: 0, run: 0, attempt: 0), cut: false)
            let ends = hit == (fate.end ?? fate.endAfter)?.hit
            noteFault(hit, ends ? .end : .none, on: c, into: &out)
        }
        if fate.delay > 0 { out.append(.hold(c, for: fate.delay)) }
        for effect in fate.effectsBefore + fate.effectsAfter { apply(effect, on: c, into: &out) }
        guard let end = fate.end ?? fate.endAfter else { return }
        carryOut(end.verdict, .accept(end.hit), on: c, of: nil, into: &out)
    }
}
