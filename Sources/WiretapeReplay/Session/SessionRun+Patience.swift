internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// What happens when the client's time is up.
    enum Expiry: Hashable, Sendable {
        /// All ``ScriptCursor/blockers`` are given up at once.
        case patience
        /// The client seems to wait for that push: it goes out before the client messages that hold it back.
        case grace(push: Int)
        /// What a lost connection interrupted is not asked for again.
        case repeats
        /// The session no longer waits for this cause on another connection: an index of ``CauseTable``.
        case elsewhere(cause: Int)
    }

    /// The moment at which a session stops waiting for something on another connection.
    struct ElsewhereExpiry: Sendable {
        let at: WireInstant
        let what: Expiry
        /// Whether the next server message waits only for the other connection. If so, `--patience` does not count for this client.
        let holdsNext: Bool
    }

    /// When the client's time is up, and what then; asked when only the client is awaited. Nil when nothing is awaited or
    /// the session has no connection, or a rule has made it go silent.
    func expiry(
        _ options: ReplayOptions, elsewhere: ElsewhereExpiry? = nil
    ) -> (at: WireInstant, what: Expiry)? {
        // Not `let link`: a copy of it after every message.
        guard standing.failure == nil, !standing.isStalled, link?.isCut == false, link?.faults.isSilent == false,
            let openedAt = link?.openedAt
        else { return nil }
        var own = elsewhere?.holdsNext == true ? nil : clientsTime(options, from: openedAt)
        if let elsewhere, elsewhere.at <= own?.at ?? elsewhere.at { own = (elsewhere.at, elsewhere.what) }
        // A client that only keeps its connection alive asks for nothing: else an end might never come.
        guard cursor.awaitsRepeats, let ready = link?.readyAt, let spoke = link?.hearing.spoke else { return own }
        let quiet = max(spoke, ready).advanced(by: options.grace)
        if let own, own.at <= quiet { return own }
        return (quiet, .repeats)
    }

    /// When the time for what the script awaits is up. Nil when the replay is stepped through.
    private func clientsTime(
        _ options: ReplayOptions, from openedAt: WireInstant
    ) -> (at: WireInstant, what: Expiry)? {
        guard !isStepped(options) else { return nil }
        let start = max(tally.lastProgress, openedAt)
        guard let awaited = cursor.firstAwaitedStep else { return nil }
        let gap = options.scaled(from: before(awaited), to: script.steps[awaited].time)
        let patience = start.advanced(by: gap).advanced(by: options.patience)
        if options.match != .strict, let early = grace(options, from: start), early.at < patience { return early }
        return (patience, .patience)
    }

    /// The recorded time of the step before.
    func before(_ step: Int) -> UInt64 { step > 0 ? script.steps[step - 1].time : script.opened }

    /// A client that is quiet although everything recorded before its next message has happened seems to wait for the push
    /// that is held for that message. It is given the time that the recorded client took, which no speed makes shorter,
    /// and `grace`.
    private func grace(_ options: ReplayOptions, from start: WireInstant) -> (at: WireInstant, what: Expiry)? {
        guard link?.readyAt != nil, let heard = link?.hearing.heard, let (push, first) = cursor.postponable else {
            return nil
        }
        let time = script.steps[first].time
        let server = before(first)
        var at = start.advanced(by: time > server ? time - server : 0)
        let said = cursor.lastClientAnchor
        if time > said.recorded { at = max(at, said.at.advanced(by: time - said.recorded)) }
        return (max(at, heard).advanced(by: options.grace), .grace(push: push))
    }

    /// The push goes before the client messages that hold it back.
    func postpone(until push: Int, at now: WireInstant) {
        cursor.postpone(until: push)
        tally.extendTime(to: now)
    }
}
