internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport

extension ReplayEngine {
    /// A message of a client whose session was given to it before it had said what it wants. When it does not begin as
    /// that session does and another one of the route does, one that nobody has or whose client has not spoken either,
    /// the client goes on in that one; what was said so far must be the same there.
    mutating func reassign(_ session: SessionRun, for message: Message, into out: inout [ReplayAction]) {
        guard claims[session].isTentative else { return }
        switch message.role {
        case .keepalive, .ack, .close: return
        case .handshake: break
        case .request, .send, .reply, .push, .part, .cancel, .opaque: claims.decide(session)
        }
        let key = OpeningFingerprint.key(message, options.ignore)
        let own = library.openingFingerprint(of: claims[session].recorded)
        let isHandshake = message.role == .handshake
        if key == (isHandshake ? own.handshake : own.first) {
            if !isHandshake, session.client.assigned == .order, isTelling(key, on: claims[session].route) {
                session.assign(by: .message)
            }
            return
        }
        for other in likely(key, isHandshake: isHandshake, claims[session]) {
            guard isHandshake || library.openingFingerprint(of: other).handshake == own.handshake,
                reassign(session, as: other, into: &out)
            else { continue }
            if session.client.assigned == .order { session.assign(by: .message) }
            return
        }
    }

    /// Sessions of the claim's route that begin so, in recorded order.
    private mutating func likely(_ key: UInt64, isHandshake: Bool, _ claim: Claims.Claim) -> [SessionLibrary.ID] {
        let named = claim.name.flatMap { library.table.sessions(named: $0, among: [claim.route]) }
        let all: [SessionLibrary.ID]
        if isHandshake {
            all = library.table.routes[claim.route].sessions.filter {
                library.openingFingerprint(of: $0).handshake == key
            }
        } else {
            all = library.firsts(on: claim.route)[key] ?? []
        }
        return all.filter { named?.contains($0) ?? true }
    }

    /// - Returns: whether the client of `session` is in that session now.
    private mutating func reassign(_ session: SessionRun, as other: SessionLibrary.ID, into out: inout [ReplayAction])
        -> Bool
    {
        let claim = claims[session]
        guard let holder = claims.tapeRuns[claim.tapeRun].holders[other] else {
            guard let mine = session.reassigned(as: library[other], script(of: other), options) else { return false }
            session.become(mine)
            claims.move(session, to: other, library.table)
            return true
        }
        guard claims[holder].isTentative, claims[holder].name == claim.name,
            let mine = session.reassigned(as: library[other], script(of: other), options),
            let theirs = holder.reassigned(as: library[claim.recorded], script(of: claim.recorded), options)
        else { return false }
        session.become(mine)
        holder.become(theirs)
        claims.exchange(session, holder)
        if holder.isConnected { advance(holder, into: &out) }
        return true
    }

    // MARK: How sessions begin

    /// Whether the message tells sessions of the route apart.
    private mutating func isTelling(_ key: UInt64, on route: Int) -> Bool {
        library.firsts(on: route)[key]?.count != library.table.routes[route].sessions.count
    }
}
