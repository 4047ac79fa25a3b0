internal import WiretapeAttempts
internal import WiretapeMessages
internal import WiretapeProtocol

extension ReplayEngine {
    /// A recorded attempt that the server refused is played once, to the request that was refused. A client that names it
    /// in another one goes on in the next session: it is not the client that was refused, or it tries again.
    mutating func passOn(_ key: String, _ kind: ExchangeKind, _ connection: ConnectionID) {
        guard [.upgrade, .stream, .poll].contains(kind), let session = token(key, on: connection)?.session,
            session.recorded.refusal != nil
        else { return }
        let wasRefused = session.attempts.contains { $0.ended?.by == .server }
        guard wasRefused || session.recorded.codec.type.kind(session.recorded.opening.request) != kind else { return }
        let claim = claims[session]
        let same = library.table.routes[claim.route].sessions.first { s in
            library[s].serverIDs == session.recorded.serverIDs && claims.tapeRuns[claim.tapeRun].holders[s] == nil
        }
        guard let next = same ?? claims.free(in: claim.tapeRun, [claim.route], library.table, name: claim.name) else {
            return
        }
        if wasRefused {
            let identity = session.client.identities.first ?? ""
            let other = begin(next, in: claim.tapeRun, identity, name: claim.name, on: connection)
            other.awaitUpgrade(true)
            ids.move(key, to: other)
        } else if let other = session.reassigned(as: library[next], script(of: next), options) {
            session.become(other)
            claims.move(session, to: next, library.table)
        }
    }
}
