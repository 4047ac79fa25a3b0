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
        default: claims.decide(r)
        }
        let key = OpeningFingerprint.key(message, options.ignore)
        let own = openingFingerprint(of: claims.all[r].session)
        let isHandshake = message.role == .handshake
        if key == (isHandshake ? own.handshake : own.first) {
            if !isHandshake, runs[r].assigned == .order, isTelling(key, on: claims.all[r].route) {
                runs[r].assigned = .message
            }
            return
        }
        for session in likely(key, isHandshake: isHandshake, claims.all[r]) {
            guard isHandshake || openingFingerprint(of: session).handshake == own.handshake,
                reassign(r, as: session, into: &out)
            else { continue }
            if runs[r].assigned == .order { runs[r].assigned = .message }
            return
        }
    }

    /// Sessions of the claim's route that begin so, in recorded order.
    private mutating func likely(_ key: UInt64, isHandshake: Bool, _ claim: Claims.Claim) -> [Int] {
        let named = claim.name.flatMap { table.sessions(named: $0, among: [claim.route]) }
        let all: [Int]
        if isHandshake {
            all = table.routes[claim.route].sessions.filter { openingFingerprint(of: $0).handshake == key }
        } else {
            all = firsts(on: claim.route)[key] ?? []
        }
        return all.filter { named?.contains($0) ?? true }
    }

    /// - Returns: whether the client of `r` is in that session now.
    private mutating func reassign(_ r: Int, as session: Int, into out: inout [ReplayAction]) -> Bool {
        let claim = claims.all[r]
        guard let holder = claims.tapeRuns[claim.tapeRun].holders[session] else {
            guard let mine = runs[r].reassign(as: recorded(session), script(of: session), options) else { return false }
            runs[r] = mine
            claims.move(r, to: session, table)
            return true
        }
        guard claims.all[holder].isTentative, claims.all[holder].name == claim.name,
            let mine = runs[r].reassign(as: recorded(session), script(of: session), options),
            let theirs = runs[holder].reassign(as: recorded(claim.session), script(of: claim.session), options)
        else { return false }
        runs[r] = mine
        runs[holder] = theirs
        claims.exchange(r, holder)
        if runs[holder].isConnected { advance(holder, into: &out) }
        return true
    }

    // MARK: How sessions begin

    mutating func openingFingerprint(of session: Int) -> OpeningFingerprint {
        if let known = openingFingerprints[session] { return known }
        let openingFingerprint = OpeningFingerprint(recorded(session), ignore: options.ignore)
        openingFingerprints[session] = openingFingerprint
        return openingFingerprint
    }

    /// Sessions of a route by the first message of their client, in recorded order.
    private mutating func firsts(on route: Int) -> [UInt64: [Int]] {
        if let known = sessionsByFirst[route] { return known }
        var byFirst: [UInt64: [Int]] = [:]
        for session in table.routes[route].sessions where recorded(session).refusal == nil {
            if let first = openingFingerprint(of: session).first { byFirst[first, default: []].append(session) }
        }
        sessionsByFirst[route] = byFirst
        return byFirst
    }

    /// Whether the message tells sessions of the route apart.
    private mutating func isTelling(_ key: UInt64, on route: Int) -> Bool {
        firsts(on: route)[key]?.count != table.routes[route].sessions.count
    }
}
