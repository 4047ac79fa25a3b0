internal import WiretapeAttempts
internal import WiretapeProtocol

extension ReplayEngine {
    /// A recorded attempt that the server refused is played once, to the request that was refused. A client that names it
    /// in another one goes on in the next session: it is not the client that was refused, or it tries again.
    mutating func passOn(_ key: String, _ kind: ExchangeKind, _ c: ConnectionID) {
        guard [.upgrade, .stream, .poll].contains(kind), let r = token(key, on: c)?.run, runs[r].session.refusal != nil
        else { return }
        let session = runs[r].session
        let wasRefused = runs[r].attempts.contains { $0.ended?.by == .server }
        guard wasRefused || session.codec.type.kind(session.opening.request) != kind else { return }
        let claim = claims.all[r]
        let same = library.table.routes[claim.route].sessions.first { s in
            library[s].serverIDs == session.serverIDs && claims.tapeRuns[claim.tapeRun].holders[s] == nil
        }
        guard let next = same ?? claims.free(in: claim.tapeRun, [claim.route], library.table, name: claim.name) else {
            return
        }
        if wasRefused {
            let identity = runs[r].client.identities.first ?? ""
            let other = begin(next, in: claim.tapeRun, identity, name: claim.name, on: c)
            runs[other].negotiation.awaitsUpgrade = true
            ids.move(key, to: other)
        } else if let other = runs[r].reassign(as: library[next], script(of: next), options) {
            runs[r] = other
            claims.move(r, to: next, library.table)
        }
    }
}
