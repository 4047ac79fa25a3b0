internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// What happens when the client's time is up.
    enum Expiry: Hashable, Sendable {
        /// All ``SessionRun/blockers`` are given up at once.
        case patience
        /// The client seems to wait for that push: it goes out before the client messages that hold it back.
        case grace(push: Int)
        /// What a lost connection interrupted is not asked for again.
        case repeats
        /// Clients of other sessions hold the next message back (`--causality tape`).
        case elsewhere
    }

    /// The first client message that must still come.
    var firstAwaitedStep: Int? { firstAwaited < script.steps.count ? firstAwaited : nil }

    /// When the client's time is up, and what then; asked when only the client is awaited. Nil when nothing is awaited or
    /// the session has no connection, or a rule has made it go silent.
    func expiry(_ options: ReplayOptions, elsewhere: Int32 = .max) -> (at: WireInstant, what: Expiry)? {
        // Not `let link`: a copy of it after every message.
        guard failure == nil, !isStalled, link?.isCut == false, link?.faults.isSilent == false,
            let openedAt = link?.openedAt
        else { return nil }
        let own = clientsTime(options, elsewhere: elsewhere, from: openedAt)
        // A client that only keeps its connection alive asks for nothing: else an end might never come.
        guard awaitsRepeats, let ready = link?.readyAt, let spoke = link?.lastSpoke else { return own }
        let quiet = max(spoke, ready).advanced(by: options.grace)
        if let own, own.at <= quiet { return own }
        return (quiet, .repeats)
    }

    /// As before, of what the script awaits. Nil when the replay is stepped through.
    private func clientsTime(
        _ options: ReplayOptions, elsewhere: Int32, from openedAt: WireInstant
    ) -> (at: WireInstant, what: Expiry)? {
        guard !isStepped(options) else { return nil }
        let start = max(tally.lastProgress, openedAt)
        if head < script.steps.count, script.steps[head].line > elsewhere, awaited(before: head, most: 1).isEmpty {
            return (start.advanced(by: options.patience), .elsewhere)
        }
        guard let awaited = firstAwaitedStep else { return nil }
        let gap = scaled(from: before(awaited), to: script.steps[awaited].time, options)
        let patience = start.advanced(by: gap).advanced(by: options.patience)
        if options.match != .strict, let early = grace(options, from: start), early.at < patience { return early }
        return (patience, .patience)
    }

    private func before(_ step: Int) -> UInt64 { step > 0 ? script.steps[step - 1].time : script.opened }

    /// The awaited messages that hold back the script's next step; all that are awaited when nothing is held back.
    var blockers: [Int] {
        let before = awaited(before: head)
        return before.isEmpty ? awaited(before: script.steps.count) : before
    }

    /// At most 4,096 are listed at once: what is behind them gets its own time.
    func awaited(before end: Int, most: Int = Script.window) -> [Int] {
        var found: [Int] = []
        var index = firstAwaited
        while index < end, found.count < most {
            if isAwaited(index) { found.append(index) }
            index += 1
        }
        return found
    }

    /// A client that is quiet although everything recorded before its next message has happened seems to wait for the push
    /// that is held for that message. It is given the time that the recorded client took, which no speed makes shorter,
    /// and `grace`.
    private func grace(_ options: ReplayOptions, from start: WireInstant) -> (at: WireInstant, what: Expiry)? {
        guard link?.readyAt != nil, let heard = link?.lastHeard, let push = heldPush else { return nil }
        let holding = awaited(before: push)
        guard let first = holding.first, !holding.contains(where: { causes($0, push) }) else { return nil }
        // Something must be left to postpone: what other sessions hold back does not go out for it.
        guard head < push || holding.contains(where: { state[$0] == .waiting }) else { return nil }
        let time = script.steps[first].time
        let server = before(first)
        var at = start.advanced(by: time > server ? time - server : 0)
        let said = anchors.client
        if time > said.recorded { at = max(at, said.at.advanced(by: time - said.recorded)) }
        return (max(at, heard).advanced(by: options.grace), .grace(push: push))
    }

    /// The first push that a client message holds back and that its own chain would let go. An ending is none: it would
    /// take the client's chance to speak.
    private var heldPush: Int? {
        var index = head
        let end = min(script.steps.count, head + Script.window)
        while index < end {
            let step = script.steps[index]
            if step.direction == .toClient, state[index] == .waiting {
                if step.role == nil || step.role == .close { return nil }
                if step.role == .push || step.role == .request, isOpen(before: index) { return index }
            }
            index += 1
        }
        return nil
    }

    /// Whether the push is recorded between a call, or what belongs to it, and its one answer: it is what the call did.
    /// Streams are long, and much that happens meanwhile has nothing to do with them.
    private func causes(_ step: Int, _ push: Int) -> Bool {
        guard let group = script.steps[step].group, script.groups[group].origin == .toServer else { return false }
        let answers = script.toClient(in: group)
        return answers.count == 1 && answers.first.map { $0 > push && script.steps[$0].role == .reply } ?? false
    }

    /// Whether the request of the step's chain has come, or is the step itself.
    private func isOpen(before step: Int) -> Bool {
        let request = script.steps[step].group.flatMap { script.groups[$0].request }
        return request.map { $0 == step || state[$0] == .done } ?? true
    }

    /// The push goes before what holds it back: client messages that hold pushes back no more, and are still awaited. What
    /// stands before the push waits on, aside.
    func postpone(until push: Int, at now: WireInstant) {
        for step in awaited(before: push) {
            state[step] = .deferred
            setAside(openedBy: step)
        }
        for step in head..<push where script.steps[step].direction == .toClient && state[step] == .waiting {
            setAside(step)
        }
        tally.extendTime(to: now)
        skipSettled()
    }

    /// What a lost connection interrupted is given up: the client does not ask for it again, or may no more.
    func giveUpRepeats() {
        guard awaitsRepeats else { return }
        mayComeBack = 0
        skipSettled()
    }

    /// All that the server says in a chain whose request this is.
    func setAside(openedBy step: Int) {
        guard let group = script.steps[step].group, script.groups[group].request == step else { return }
        for mine in script.toClient(in: group) where state[mine] == .waiting { setAside(mine) }
    }

    private func setAside(_ step: Int) {
        state[step] = .dormant
        aside.append(step)
    }

    /// What was set aside and waits for nothing now is due again.
    /// - Parameter opened: a group that is about to be listed as open.
    func takeBack(except opened: Int?) {
        guard !aside.isEmpty else { return }
        var kept: [Int] = []
        var first: Int?
        for step in aside.sorted() {
            guard isReady(step) else {
                kept.append(step)
                continue
            }
            state[step] = .waiting
            // What is recorded behind it follows it, an end at least.
            anchors.lookAgain(from: step)
            first = first ?? step
            guard let group = script.steps[step].group else { continue }
            groupHead[group] = nil
            if group != opened, !openGroups.contains(group) { openGroups.append(group) }
        }
        aside = kept
        if let first { rewindPositions(to: first) }
    }

    /// Whether the chain of a step that was set aside has come so far.
    private func isReady(_ step: Int) -> Bool {
        guard isOpen(before: step), let group = script.steps[step].group else { return isOpen(before: step) }
        for mine in script.toServer(in: group) {
            if mine > step { break }
            if state[mine] == .waiting || state[mine] == .deferred { return false }
        }
        guard script.steps[step].role == .reply else { return true }
        let request = script.groups[group].request ?? step
        return !script.answers(between: request, and: step).contains { state[$0] == .waiting || state[$0] == .deferred }
    }
}
