internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
package import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeRuntime
internal import WiretapeWire

extension ReplayEngine {
    /// What acts of a person or a program are called in reports: `fault:control`.
    package static let controlRule = "control"

    /// The connections that are open, by their number.
    package var openConnections: [OpenConnection] {
        peers.open.map { id, peer in
            let session = peer.session ?? peer.carried
            return OpenConnection(
                id: id, from: peer.address, session: session?.recorded.number, run: session?.run,
                transport: session?.link?.transport, isStalled: session?.link?.faults.isSilent ?? false)
        }.sorted { $0.id < $1.id }
    }

    /// The sessions that clients have begun, in the order of the report.
    package var begunSessions: [(session: Int, run: Int, isFinished: Bool)] {
        runs.map { session in
            (session.recorded.number, session.run, session.isFinished)
        }.sorted { ($0.session, $0.run) < ($1.session, $1.run) }
    }

    /// Does something to a connection between two inputs. Ends and stalls stand in the report as those of the rule `control`, which
    /// is in no plan.
    package mutating func act(
        _ act: LiveAct, on connection: ConnectionID, at now: WireInstant, into out: inout [ReplayAction]
    ) -> LiveActOutcome {
        clock.reach(now)
        guard let peer = peers[connection], !peer.isOver else { return .unknown }
        // Between two polls a client's session has no connection, and the one that carried the last poll stands for it.
        let session = peer.session ?? peer.carried.flatMap { $0.link?.transport == .lp ? $0 : nil }
        switch act {
        case .end(let effect, let text): return end(effect, text, session, on: connection, into: &out)
        case .stall(let stall, let text):
            let hit = hit(.stall(stall), text)
            if let session { record(hit, moment(of: session), cut: false) }
            noteFault(hit, of: session, .none, on: connection, into: &out)
            guard let session else {
                apply(.stall(stall), on: connection, into: &out)
                return .done
            }
            apply(.stall(stall), on: connection, of: session, into: &out)
        case .resume:
            rules.forgetStalls(of: connection)
            out.append(.stall(connection, reads: false, writes: false))
            if let session, session.link?.faults.isSilent == true { isHeardAgain(session) }
        case .inject(let edit):
            guard let session, session.isConnected else { return .needsSession }
            let hit = hit(.message(.inject(edit)), "inject")
            record(hit, moment(of: session), cut: false)
            inject(edit, by: [hit], to: session, into: &out)
        }
        return .done
    }

    private mutating func end(
        _ effect: FaultEffect, _ text: String, _ session: SessionRun?, on connection: ConnectionID,
        into out: inout [ReplayAction]
    ) -> LiveActOutcome {
        guard let session, session.isConnected else {
            switch effect.kind {
            case .end(let end) where end == .reset || end == .fin: shut(connection, end, into: &out)
            case .end, .outage, .answer, .upgrade, .message, .connection, .session, .handshake:
                return .impossible("it carries no session that could be closed; 'disconnect' and 'reset' end it")
            }
            return .done
        }
        if session.link?.isCut == true { return .impossible("its end is on its way already") }
        cut(session, Link.Ending(verdict: effect, hit: hit(effect, text)), following: false, into: &out)
        return .done
    }

    private func hit(_ effect: FaultEffect, _ text: String) -> FaultHit {
        FaultHit(
            rule: -1, name: ReplayEngine.controlRule, place: .before,
            actions: [FaultAction(text: text, verdict: effect)],
            message: nil, counted: nil, random: seed)
    }
}
