internal import WiretapeProtocol
internal import WiretapeReport

extension ReplayEngine {
    /// A message of a client whose session was given to it before it had said what it wants. When it does not begin as
    /// that session does and another one of the route does, one that nobody has or whose client has not spoken either,
    /// the client goes on in that one; what was said so far must be the same there.
    mutating func reassign(_ r: Int, for message: Message, into out: inout [ReplayAction]) {
        guard claims.all[r].isTentative else { return }
        switch message.role {
        case .keepalive, .ack, .close: return
        case .handshake: break
        case .request, .send, .reply, .push, .part, .cancel, .opaque: claims.decide(r)
        }
        let key = OpeningFingerprint.key(message, options.ignore)
        let own = library.openingFingerprint(of: claims.all[r].session)
        let isHandshake = message.role == .handshake
        if key == (isHandshake ? own.handshake : own.first) {
            if !isHandshake, runs[r].client.assigned == .order, isTelling(key, on: claims.all[r].route) {
                runs[r].client.assigned = .message
            }
            return
        }
        for session in likely(key, isHandshake: isHandshake, claims.all[r]) {
            guard isHandshake || library.openingFingerprint(of: session).handshake == own.handshake,
                reassign(r, as: session, into: &out)
            else { continue }
            if runs[r].client.assigned == .order { runs[r].client.assigned = .message }
            return
        }
    }

    /// Sessions of the claim's route that begin so, in recorded order.
    private mutating func likely(_ key: UInt64, isHandshake: Bool, _ claim: Claims.Claim) -> [Int] {
        let named = claim.name.flatMap { library.table.sessions(named: $0, among: [claim.route]) }
        let all: [Int]
        if isHandshake {
            all = library.table.routes[claim.route].sessions.filter {
                library.openingFingerprint(of: $0).handshake == key
            }
        } else {
            all = library.firsts(on: claim.route)[key] ?? []
        }
        return all.filter { named?.contains($0) ?? true }
    }

    /// - Returns: whether the client of `r` is in that session now.
    private mutating func reassign(_ r: Int, as session: Int, into out: inout [ReplayAction]) -> Bool {
        let claim = claims.all[r]
        guard let holder = claims.tapeRuns[claim.tapeRun].holders[session] else {
            guard let mine = runs[r].reassign(as: library[session], script(of: session), options) else { return false }
            runs[r] = mine
            claims.move(r, to: session, library.table)
            return true
        }
        guard claims.all[holder].isTentative, claims.all[holder].name == claim.name,
            let mine = runs[r].reassign(as: library[session], script(of: session), options),
            let theirs = runs[holder].reassign(as: library[claim.session], script(of: claim.session), options)
        else { return false }
        runs[r] = mine
        runs[holder] = theirs
        claims.exchange(r, holder)
        if runs[holder].isConnected { advance(holder, into: &out) }
        return true
    }

    // MARK: How sessions begin

    /// Whether the message tells sessions of the route apart.
    private mutating func isTelling(_ key: UInt64, on route: Int) -> Bool {
        library.firsts(on: route)[key]?.count != library.table.routes[route].sessions.count
    }
}
