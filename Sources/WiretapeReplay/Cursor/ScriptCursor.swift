internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Where a session stands on its script: what of it is done, which client messages are awaited, and what the server may say. It is told
/// the time, and knows neither connections nor rules: ``SessionRun`` joins it to those.
///
/// All that changes it stands in this file; the files beside it only ask.
struct ScriptCursor {
    let script: Script

    // MARK: By step

    private(set) var state: StepColumn<StepState>
    /// When each step was done.
    private(set) var doneAt: StepTimes
    /// The connection on which a client message was matched last; 0: none yet.
    private(set) var matchedIn: StepColumn<UInt16>
    /// Server steps in the order of sending: what the digest is made of.
    private(set) var sent: [Int32] = []
    /// Client messages that stand for recorded ones from which they differ, by those steps.
    private(set) var standIns: [Int: StandIn] = [:]
    /// Pushes that stay away until the client has subscribed again; they are `abandoned`.
    private var heldBack: Set<Int> = []
    /// Server messages whose state is `dormant`.
    private var aside: [Int] = []

    // MARK: Positions, as steps of the script

    /// Every server message before is done or given up.
    private(set) var head = 0
    /// Every client message before that holds back pushes has come or was forgiven.
    private(set) var firstGate = 0
    /// Every client message before has come, was forgiven or is optional.
    private(set) var firstAwaited = 0
    /// The last that the client said of its own accord; −1: nothing yet.
    private(set) var lastSaid = -1
    /// The last message that was given up with nothing said behind it.
    private(set) var lastStop: Int?
    private(set) var chains = ChainPositions()

    // MARK: Connections and times

    /// Connections so far.
    private(set) var generation = 0
    /// When the client last resumed on a connection on which it may send earlier messages again.
    private var wentOnAt: WireInstant?
    /// Messages that are `abandoned` while the client may still bring them back: what stands behind them waits for it.
    private(set) var mayComeBack = 0
    /// The last connection ended as the script has it.
    private(set) var endedByScript = false
    /// Under `live`, once the client has been away: what is overdue does not move what comes after it.
    private(set) var clockRanOn = false
    private var anchors: ScriptAnchors

    init(_ script: Script, at now: WireInstant) {
        self.script = script
        let count = script.steps.count
        state = StepColumn(.waiting, count: count)
        doneAt = StepTimes(count: count)
        matchedIn = StepColumn(0, count: count)
        anchors = ScriptAnchors(Anchor(at: now, recorded: script.opened))
        skipSettled()
    }

    enum StepState: UInt8, Sendable {
        case waiting, done
        /// Of a chain that a lost connection interrupted, until its request comes again; then what the client had said in
        /// it, until it says that again.
        case abandoned
        /// A client message that no longer holds anything back, because it seems to come after a push that waited for it.
        case deferred
        /// A client message that did not come in time.
        case forgiven
        /// A client message that did not come either, but the client did not get to it: it had stopped at an earlier one, or the
        /// chain of the message was never opened.
        case unreached
        /// A request that the client has sent on another stream. The client may still send that request on this stream.
        case elsewhere
        /// A server message whose chain was never opened: its request is deferred or given up.
        case dormant
        /// Left out by `--on-reconnect lose:N` or `live`, and what the client would have answered to it.
        case lost
        /// A client message that a fault took away: the client may send it again.
        case dropped
    }

    /// A client message in the place of a recorded one from which it differs.
    struct StandIn: Sendable {
        var message: Message
        var key: UInt64
        var had = Had.nothing
    }

    /// How much of an answer it had by the time at which it lost a place.
    enum Had: Int, Comparable, Sendable {
        case nothing, some, all

        static func < (a: Had, b: Had) -> Bool { a.rawValue < b.rawValue }
    }

    /// The connection that is open, as `matchedIn` counts them.
    var thisConnection: UInt16 { UInt16(clamping: generation) }

    /// When the last client message was matched.
    var lastClientAnchor: Anchor { anchors.client }

    // MARK: - Positions

    /// Moves the positions over what is settled.
    private mutating func skipSettled() {
        let count = script.steps.count
        while head < count {
            let step = script.steps[head]
            guard step.direction == .toServer || state[head] != .waiting || step.optional else { break }
            head += 1
        }
        while firstGate < count, !holdsPushes(firstGate) { firstGate += 1 }
        while firstAwaited < count, !isAwaited(firstAwaited) { firstAwaited += 1 }
    }

    /// After steps from `first` on went back to waiting.
    private mutating func rewindPositions(to first: Int = 0) {
        head = min(head, first)
        firstGate = min(firstGate, first)
        firstAwaited = min(firstAwaited, first)
        skipSettled()
    }

    // MARK: - What the client says

    /// The step that a client message is taken for: among unmatched ones of equal meaning the one recorded first; after a
    /// reconnect an interrupted chain of equal opening goes before, a completed one after those.
    /// - Parameter matched: how many client messages have their counterpart since the script was last begun anew.
    mutating func choose(_ key: UInt64, matched: Int) -> Int? {
        let same = script.equals(key)
        guard let first = same.first else { return nil }
        if generation > 1,
            let interrupted = same.first(where: { isInterrupted($0) && matchedIn[$0] < thisConnection })
        {
            return interrupted
        }
        var at = max(same.startIndex, chains.firstUnmatched(ofEqualsOf: first))
        while at < same.endIndex, ![.waiting, .deferred, .abandoned].contains(state[same[at]]) { at += 1 }
        // A message that must come goes before an optional one: the client may repeat the optional one on its next connection.
        if at < same.endIndex, script.steps[same[at]].optional,
            let needed = same[at...].first(where: { isAwaited($0) && isInWindow($0, matched: matched) })
        {
            return needed
        }
        if same.count > 4 { chains.setFirstUnmatched(at, ofEqualsOf: first) }
        if at < same.endIndex, state[same[at]] == .abandoned || isInWindow(same[at], matched: matched) {
            return same[at]
        }
        if let again = same.first(where: { state[$0] == .dropped }) {
            undrop(again)
            return again
        }
        if let taken = same.first(where: isStoodFor) { return taken }
        // Late ones, oldest first; then what an earlier connection had.
        if let late = same.first(where: { [.forgiven, .unreached, .elsewhere].contains(state[$0]) }) { return late }
        guard generation > 1 || wentOnAt != nil else { return nil }
        return same.first { state[$0] == .done && (matchedIn[$0] < thisConnection || cameBeforeItWentOn($0)) }
    }

    private func cameBeforeItWentOn(_ step: Int) -> Bool { wentOnAt.map { doneAt[step] < $0 } ?? false }

    /// A client message has come that is taken for that step.
    mutating func settle(_ step: Int, at now: WireInstant, _ tally: inout SessionTally) {
        switch state[step] {
        case .waiting: tally.match(.inTime)
        case .abandoned:
            tally.match(.inTime)
            mayComeBack = max(0, mayComeBack - 1)
        case .deferred:
            tally.match(.reordered)
            anchorLate(gate: step, at: now)
        case .forgiven:
            tally.match(.late(step: step))
            anchorLate(gate: step, at: now)
        case .unreached, .elsewhere:
            tally.match(.inTime)
            anchorLate(gate: step, at: now)
        case .done, .dormant, .lost, .dropped: break
        }
        state[step] = .done
        if script.steps[step].isOfOwnAccord { lastSaid = max(lastSaid, step) }
        doneAt[step] = now
        matchedIn[step] = thisConnection
        tally.progressed(at: now)
        anchors.client(said: Anchor(at: now, recorded: script.steps[step].time))
        takeBack(except: group(openedBy: step))
        skipSettled()
    }

    /// A client message that what stands behind it had stopped waiting for. An end waits for it all the same.
    private mutating func anchorLate(gate step: Int, at now: WireInstant) {
        guard script.steps[step].isGate else { return }
        anchors.late(gate: step, Anchor(at: now, recorded: script.steps[step].time))
    }

    /// The request of that step has come: its chain is played.
    mutating func open(chainOf step: Int) {
        guard let group = group(openedBy: step), !script.toClient(in: group).isEmpty else { return }
        chains.open(group)
    }

    /// What a repeated request sets going.
    struct Reopened {
        /// Answers of its chain that are said once more.
        var again: [Int] = []
        /// Pushes of the chain go on where they had been cut.
        var goesOn = false
    }

    /// A request that has come before comes again: what answered it is said again, and an interrupted chain goes on where it
    /// stopped.
    mutating func reopen(_ step: Int, _ tally: inout SessionTally) -> Reopened {
        guard let group = group(openedBy: step) else { return Reopened() }
        let answers = script.toClient(in: group)
        reopenUploads(of: group, &tally)
        rewindPositions(to: step)
        // What was lost before the last one goes before it.
        if let last = answers.last, state[last] == .done, isInterrupted(step) { state[last] = .waiting }
        var reopened = Reopened()
        reopened.again = answers.filter { state[$0] == .done && script.steps[$0].role == .reply }
        if let last = answers.last, state[last] == .done { return reopened }
        reopened.goesOn = answers.contains { state[$0] == .done && script.steps[$0].role == .push }
        for unsent in answers where state[unsent] == .abandoned { revive(unsent) }
        rewindPositions(to: step)
        chains.forgetHead(of: group)
        if !answers.isEmpty { chains.open(group) }
        return reopened
    }

    private mutating func revive(_ step: Int) {
        state[step] = .waiting
        mayComeBack = max(0, mayComeBack - 1)
    }

    /// What the client had still to say in the chain is awaited. What it had said comes again or not: a client that goes on
    /// where it stood does nothing wrong.
    private mutating func reopenUploads(of group: Int, _ tally: inout SessionTally) {
        chains.forgetEquals()
        for mine in script.toServer(in: group) {
            if state[mine] == .abandoned, matchedIn[mine] == 0 {
                revive(mine)
            } else if state[mine] == .done, script.steps[mine].role == .part, matchedIn[mine] < thisConnection {
                state[mine] = .abandoned
                tally.unmatch()
                mayComeBack += 1
            }
        }
    }

    /// The message never arrives: neither it nor what would answer it is waited for.
    mutating func drop(_ key: UInt64, matched: Int) {
        guard let step = choose(key, matched: matched), state[step] == .waiting || state[step] == .deferred else {
            return
        }
        state[step] = .dropped
        for other in chain(openedBy: step) where state[other] == .waiting { state[other] = .lost }
        skipSettled()
    }

    /// A message that was dropped comes again: everything is as if it had not been sent before.
    private mutating func undrop(_ step: Int) {
        state[step] = .waiting
        for other in chain(openedBy: step) where state[other] == .lost { state[other] = .waiting }
        if let group = script.steps[step].group { chains.forgetHead(of: group) }
        rewindPositions(to: step)
    }

    /// The live client ended the chain of that place. What the server would have said until the recorded client ended it is
    /// lost; all that is left, when that did not.
    mutating func cancelled(_ place: Script.ChainPlace, at cancel: Int? = nil) {
        guard place.group >= 0 else { return }
        for step in script.toClient(in: place.group) where step < cancel ?? .max {
            guard [.waiting, .dormant, .abandoned].contains(state[step]) else { continue }
            state[step] = .lost
        }
        guard cancel == nil else { return skipSettled() }
        for step in script.toServer(in: place.group) where state[step] == .waiting || state[step] == .deferred {
            state[step] = .lost
        }
        aside.removeAll { state[$0] == .lost }
        skipSettled()
    }

    // MARK: - Messages that stand for others

    /// The message that was taken for that step differs from it, and has its place until an equal one comes.
    mutating func stand(_ message: Message, key: UInt64, for step: Int) {
        standIns[step] = StandIn(message: message, key: key)
    }

    mutating func forgetStandIns() { standIns = [:] }

    /// An equal message takes the place of the one that stood for that step: its chain is played from the beginning.
    /// - Returns: what stood there, with how much of the chain it had been told.
    mutating func reclaim(_ step: Int, _ tally: inout SessionTally) -> StandIn? {
        guard var standIn = standIns.removeValue(forKey: step) else { return nil }
        guard let group = group(openedBy: step) else { return standIn }
        let answers = script.toClient(in: group)
        if answers.contains(where: { state[$0] == .done }) { standIn.had = max(standIn.had, .some) }
        if let last = answers.last, state[last] == .done { standIn.had = .all }
        beginAgain(group, &tally)
        return standIn
    }

    /// The equal message itself has come.
    mutating func settleReclaimed(_ step: Int, at now: WireInstant, _ tally: inout SessionTally) {
        settle(step, at: now, &tally)
        anchorLate(gate: step, at: now)
    }

    /// As if nothing but its request had been said in the chain. What a cancellation of the other had taken away is there
    /// again.
    private mutating func beginAgain(_ group: Int, _ tally: inout SessionTally) {
        let told = Set(script.toClient(in: group).filter { state[$0] == .done || state[$0] == .lost })
        for answer in told { state[answer] = .waiting }
        sent.removeAll { told.contains(Int($0)) }
        for mine in script.toServer(in: group) where mine != script.groups[group].request {
            if state[mine] == .done { tally.unmatch() }
            guard [.done, .lost, .dropped].contains(state[mine]) else { continue }
            state[mine] = .waiting
            matchedIn[mine] = 0
            standIns[mine] = nil
        }
        chains.close(group)
        chains.forgetEquals()
        if let request = script.groups[group].request { rewindPositions(to: request) }
    }

    /// A message that had something of an answer already takes that step's place, whose chain nobody waits for then.
    mutating func useUp(_ step: Int, _ standIn: StandIn, at now: WireInstant, _ tally: inout SessionTally) {
        standIns[step] = standIn
        settle(step, at: now, &tally)
        guard let group = group(openedBy: step) else { return }
        for other in script.toClient(in: group) where state[other] == .waiting || state[other] == .dormant {
            state[other] = .lost
        }
        for other in script.toServer(in: group) where isAwaited(other) { state[other] = .lost }
        aside.removeAll { state[$0] == .lost }
        skipSettled()
    }

    // MARK: - What the server says

    /// The earliest reply behind `held` whose chain is complete and has nothing unsent before it.
    mutating func firstPassingReply(after held: Int) -> Int? {
        var found: Int?
        // The list is taken out and put back: the questions below read the rest of the cursor.
        var mine = ChainPositions()
        swap(&mine, &chains)
        mine.visitOpen { group, head in
            let steps = script.toClient(in: group)
            var at = head ?? steps.startIndex
            while at < steps.endIndex, state[steps[at]] != .waiting { at += 1 }
            guard at < steps.endIndex else { return .through }
            let unsent = steps[at]
            if unsent > held, unsent < found ?? .max, script.steps[unsent].role == .reply, canSend(unsent) {
                found = unsent
            }
            return .unsent(steps.count > 1 ? at : nil)
        }
        swap(&mine, &chains)
        return found
    }

    /// The step went out, or was lost with a fault in its place.
    /// - Parameters:
    ///   - moment: from when the gaps to what comes after it count.
    ///   - isRepeated: an earlier connection has had it, and the digest counts it once.
    mutating func sent(_ step: Int, at moment: WireInstant, isRepeated: Bool) {
        // What is sent a second time is nothing that others waited for.
        if state[step] != .done { doneAt[step] = moment }
        state[step] = .done
        if !isRepeated { sent.append(Int32(clamping: step)) }
        if script.steps[step].role == nil { endedByScript = true }
        skipSettled()
    }

    /// When the step is due: the recorded gap, divided by the speed, after the last thing (in actual time) that it waited
    /// for. While the session had no connection its time stood still, except under `live`.
    /// - Parameter ready: when the connection's opening was through.
    mutating func due(
        _ index: Int, ready: WireInstant?, cause: Anchor? = nil, _ options: ReplayOptions
    ) -> WireInstant {
        let step = script.steps[index]
        advanceAnchors(to: index)
        var anchor = anchors.server
        if step.role == .reply {
            for passed in sent.suffix(64) where passed < index { anchor = anchor.later(self.anchor(Int(passed))) }
            if let group = step.group {
                for gate in script.toServer(in: group) {
                    guard gate < index else { break }
                    anchor = anchor.later(self.anchor(gate))
                }
            }
            let request = step.group.flatMap { script.groups[$0].request } ?? index
            for gate in script.answers(between: request, and: index) { anchor = anchor.later(self.anchor(gate)) }
        } else {
            anchor = anchor.later(anchors.gate)
            if step.isEnd {
                for cancel in script.cancels(before: index) { anchor = anchor.later(self.anchor(cancel)) }
            } else if let group = step.group {
                for gate in script.toServer(in: group) {
                    guard gate < index else { break }
                    if script.steps[gate].role == .cancel { anchor = anchor.later(self.anchor(gate)) }
                }
            }
        }
        if let cause { anchor = anchor.later(cause) }
        if options.onReconnect != .live, let ready { anchor.at = max(anchor.at, ready) }
        return anchor.at.advanced(by: options.scaled(from: anchor.recorded, to: step.time))
    }

    private func anchor(_ step: Int) -> Anchor { Anchor(at: doneAt[step], recorded: script.steps[step].time) }

    /// Takes in what stands before the step: server messages that are out, and gates once all of them are matched.
    private mutating func advanceAnchors(to index: Int) {
        takeAnchors(before: min(head, index), gates: script.steps[index].role == .reply ? 0 : min(firstGate, index))
    }

    private mutating func takeAnchors(before end: Int, gates: Int) {
        var mine = anchors
        mine.takeServer(before: end) { step in
            let isOut = script.steps[step].direction == .toClient && (state[step] == .done || state[step] == .lost)
            return isOut ? anchor(step) : nil
        }
        mine.takeGates(before: gates) { script.steps[$0].isGate ? anchor($0) : nil }
        anchors = mine
    }

    // MARK: - What did not come

    /// These did not come in time. What waited for them goes on, except answers to requests that were never made.
    /// - Parameter fault: of them, those that are the client's own fault.
    mutating func forgive(_ blockers: [Int], atFault fault: [Int]) {
        lastStop = fault.last { !isLeftOut($0) } ?? stoppedAt
        for step in blockers {
            state[step] = .unreached
            setAside(openedBy: step)
        }
        for step in fault { state[step] = .forgiven }
        takeBack(except: nil)
        skipSettled()
    }

    /// The push goes before what holds it back: client messages that hold pushes back no more, and are still awaited. What
    /// stands before the push waits on, aside.
    mutating func postpone(until push: Int) {
        for step in awaited(before: push) {
            state[step] = .deferred
            setAside(openedBy: step)
        }
        for step in head..<push where script.steps[step].direction == .toClient && state[step] == .waiting {
            setAside(step)
        }
        skipSettled()
    }

    /// What a lost connection interrupted is given up: the client does not ask for it again, or may no more.
    mutating func giveUpRepeats() {
        guard awaitsRepeats else { return }
        mayComeBack = 0
        skipSettled()
    }

    /// All that the server says in a chain whose request this is.
    private mutating func setAside(openedBy step: Int) {
        guard let group = group(openedBy: step) else { return }
        for mine in script.toClient(in: group) where state[mine] == .waiting { setAside(mine) }
    }

    private mutating func setAside(_ step: Int) {
        state[step] = .dormant
        aside.append(step)
    }

    /// What was set aside and waits for nothing now is due again.
    /// - Parameter opened: a group that is about to be listed as open.
    private mutating func takeBack(except opened: Int?) {
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
            chains.forgetHead(of: group)
            if group != opened { chains.openOnce(group) }
        }
        aside = kept
        if let first { rewindPositions(to: first) }
    }

    /// What is still waited for, of the steps that are meant, is not there for this client.
    mutating func giveUp(where isMeant: (Int) -> Bool) {
        for step in state.indices where state[step] == .waiting && isMeant(step) { state[step] = .lost }
        skipSettled()
    }

    /// The client has sent the request of this group on another stream. The group's messages are no longer sent or expected here.
    mutating func markRequestedElsewhere(_ group: Int) {
        for step in script.toServer(in: group) where [.waiting, .deferred, .abandoned].contains(state[step]) {
            state[step] = script.groups[group].request == step ? .elsewhere : .lost
        }
        for step in script.toClient(in: group) where [.waiting, .dormant, .abandoned].contains(state[step]) {
            state[step] = .lost
        }
        aside.removeAll { state[$0] == .lost }
        chains.close(group)
        countRepeats()
        skipSettled()
    }

    // MARK: - Connections

    /// The same position for another stream of the client, on which nothing was sent yet.
    func onAnotherStream() -> ScriptCursor {
        var other = self
        other.sent = []
        // No connection was lost: what --on-reconnect does, does not apply.
        other.endedByScript = true
        return other
    }

    /// The session's time begins.
    mutating func begin(at now: WireInstant) {
        anchors.restart(Anchor(at: now, recorded: script.opened))
    }

    /// The client has a new connection.
    /// - Returns: whether the one before ended as the script has it.
    mutating func connected() -> Bool {
        generation += 1
        defer { endedByScript = false }
        return endedByScript
    }

    /// The client goes on over a new connection as if there had been no end of the old one.
    /// - Parameter mayRepeat: whether the client may send earlier messages again.
    /// - Returns: whether the one before ended as the script has it.
    mutating func wentOn(mayRepeat: Bool, at now: WireInstant) -> Bool {
        if mayRepeat { wentOnAt = now }
        defer { endedByScript = false }
        return endedByScript
    }

    /// The client's transport has no opening: it counts as done.
    mutating func skipHandshake(at now: WireInstant) {
        for step in [script.clientHandshake, script.serverHandshake].compactMap(\.self) {
            matchedIn[step] = thisConnection
            guard state[step] == .waiting else { continue }
            state[step] = .done
            doneAt[step] = now
        }
        skipSettled()
    }

    /// What an earlier connection left open is given up until its request comes again; a request of the server that was not
    /// answered is asked again.
    mutating func interrupt() {
        abandonOpenChains()
        for answer in script.allAnswers where state[answer] == .waiting {
            guard let group = script.steps[answer].group, let request = script.groups[group].request,
                state[request] == .done
            else { continue }
            state[request] = .waiting
            chains.forgetHead(of: group)
        }
        rewindPositions()
    }

    /// Chains that the lost connection interrupted: neither side says more of them until their request comes again.
    private mutating func abandonOpenChains() {
        for group in script.groups.indices {
            guard script.groups[group].origin == .toServer, let request = script.groups[group].request,
                state[request] == .done
            else { continue }
            for step in script.toClient(in: group) where state[step] == .waiting || state[step] == .dormant {
                state[step] = .abandoned
            }
            for step in script.toServer(in: group) where state[step] == .waiting || state[step] == .deferred {
                state[step] = .abandoned
            }
        }
        aside.removeAll { state[$0] == .abandoned }
        chains.closeAll()
        countRepeats()
    }

    /// What was abandoned may come back.
    private mutating func countRepeats() { mayComeBack = state.count(of: .abandoned) }

    /// The tape's last end, which was the last that was sent, never got there.
    mutating func restoreEnding() {
        guard endedByScript, let last = sent.last.map(Int.init), script.steps[last].role == nil else { return }
        endedByScript = false
        state[last] = .waiting
        sent.removeLast()
        rewindPositions(to: last)
    }

    /// The client never got those steps: they are due again, and so is the ending behind them that was on its way.
    mutating func restore(_ steps: [Int]) {
        var lost = Set(steps)
        guard let first = lost.min() else { return }
        for step in sent.lazy.map(Int.init) where step > first && script.steps[step].role == nil {
            lost.insert(step)
            endedByScript = false
        }
        for step in lost {
            state[step] = .waiting
            if let group = script.steps[step].group { chains.forgetHead(of: group) }
        }
        sent.removeAll { lost.contains(Int($0)) }
        for step in lost.sorted() {
            // Its chain is open again, so that the reconnect can tell whether its request is repeated.
            guard let group = script.steps[step].group, script.groups[group].origin == .toServer else { continue }
            chains.openOnce(group)
        }
        rewindPositions(to: first)
    }

    /// Recalculates the recorded gaps after steps were restored, as if those steps had never been sent.
    mutating func recountTime() {
        anchors.recount()
        takeAnchors(before: head, gates: firstGate)
    }

    /// Steps that were lost are on their way again, by the protocol's own means.
    mutating func deliverAgain(_ steps: [Int]) {
        for step in steps where state[step] == .waiting {
            state[step] = .done
            sent.append(Int32(clamping: step))
        }
        skipSettled()
    }

    /// A client asks once more for what was said to its end: an answer has one each time.
    mutating func endAgain() {
        let ends = script.steps.indices.filter { script.steps[$0].role == nil && state[$0] == .done }
        guard isPlayed, let first = ends.first else { return }
        for end in ends { state[end] = .waiting }
        sent.removeAll { ends.contains(Int($0)) }
        rewindPositions(to: first)
    }

    /// A connection that goes on with nothing is greeted as everybody is: what of the greeting an earlier one did not get comes
    /// now, and is not what the policies take away.
    mutating func greet(_ steps: [Int], at now: WireInstant) {
        let mine = Set(steps)
        aside.removeAll(where: mine.contains)
        heldBack.subtract(mine)
        for step in steps where state[step] != .done {
            state[step] = .done
            doneAt[step] = now
        }
        skipSettled()
    }

    /// The client says that it has all messages up to that one: what follows is due, and nothing before it, whatever was sent.
    /// - Parameter requestFollows: whether the client sends its request again on this connection. If not, the request's chain continues without
    ///   a new request.
    mutating func goOn(behind last: Int, requestFollows: Bool, at now: WireInstant) {
        if !requestFollows { openChainsAgain() }
        for step in script.steps.indices where script.steps[step].direction == .toClient {
            if step <= last {
                if state[step] == .done { continue }
                state[step] = .done
                doneAt[step] = now
            } else if !requestFollows {
                state[step] = .waiting
            } else if state[step] == .done || state[step] == .lost {
                // What belongs to the request goes on with that.
                state[step] = script.steps[step].role == nil || generation == 1 ? .waiting : .abandoned
            }
        }
        endedByScript = false
        countRepeats()
        chains.forgetHeads()
        rewindPositions()
        anchors.goOn(behind: last, Anchor(at: now, recorded: script.steps[last].time))
    }

    /// The chains of the client's requests continue on this connection, whether or not the client has sent those requests.
    private mutating func openChainsAgain() {
        for group in script.groups.indices {
            guard let request = script.groups[group].request, script.groups[group].origin == .toServer else { continue }
            if state[request] != .done { state[request] = .lost }
            for step in script.toServer(in: group) where state[step] == .abandoned { state[step] = .waiting }
            chains.openOnce(group)
        }
        aside = []
    }

    // MARK: - Pushes that wait for a subscription

    /// Pushes that come only to those who have subscribed stay away until the client has.
    mutating func holdBack(_ isMeant: (Script.Name) -> Bool) {
        for index in script.steps.indices where state[index] == .waiting {
            let step = script.steps[index]
            guard step.direction == .toClient, step.role == .push || step.role == .request, step.group == nil,
                let name = script.name(index), isMeant(name)
            else { continue }
            state[index] = .abandoned
            heldBack.insert(index)
        }
        guard !heldBack.isEmpty else { return }
        countRepeats()
        skipSettled()
    }

    /// The client has subscribed again on this connection.
    mutating func bringBack(what pushes: [String]) {
        guard !pushes.isEmpty, !heldBack.isEmpty else { return }
        let back = heldBack.filter { step in
            script.name(step).map { name in pushes.contains { name.isNamed($0) } } ?? false
        }
        guard let first = back.min() else { return }
        heldBack.subtract(back)
        for step in back where state[step] == .abandoned { revive(step) }
        rewindPositions(to: first)
    }

    // MARK: - Policies

    /// What `--on-reconnect` takes away from a client that is back, or gives it again.
    /// - Parameters:
    ///   - remembered: the protocol itself resends what was under way.
    ///   - greeting: steps that every connection hears, which are not given again.
    ///   - ready: when the connection's opening was through.
    mutating func apply(
        _ options: ReplayOptions, remembered: Bool, greeting: [Int], ready: WireInstant?, at now: WireInstant
    ) {
        clockRanOn = options.onReconnect == .live
        switch options.onReconnect {
        case .lose(let count): lose(count)
        case .rewind(let count): rewind(count, except: greeting)
        case .live: if !remembered { loseWhatWasDue(options, ready: ready, at: now) }
        case .resume, .restart, .next, .refuse: break
        }
        // What the policy took away comes back no more.
        if awaitsRepeats { countRepeats() }
    }

    /// The next pushes are gone, those of interrupted streams among them.
    private mutating func lose(_ count: Int) {
        var left = count
        // Items of interrupted streams stand before the head.
        var index = 0
        while index < script.steps.count, left > 0 {
            if script.steps[index].role == .push, script.steps[index].direction == .toClient,
                state[index] == .waiting || (state[index] == .abandoned && openedLastTime(index))
            {
                state[index] = .lost
                left -= 1
            }
            index += 1
        }
        skipSettled()
    }

    /// The last pushes come again: those of no chain, and those of streams whose end is still to come.
    private mutating func rewind(_ count: Int, except greeting: [Int]) {
        var first: Int?
        var left = count
        var seen: Set<Int32> = []
        for step in sent.reversed() {
            guard left > 0 else { break }
            let index = Int(step)
            guard script.steps[index].role == .push, state[index] == .done, seen.insert(step).inserted,
                !greeting.contains(index)
            else { continue }
            if let group = script.steps[index].group {
                guard let last = script.toClient(in: group).last, state[last] != .done || last == index else {
                    continue
                }
                state[index] = state[last] == .abandoned ? .abandoned : .waiting
                chains.forgetHead(of: group)
            } else {
                state[index] = .waiting
            }
            first = min(first ?? index, index)
            left -= 1
        }
        if let first { rewindPositions(to: first) }
    }

    /// The session's clock ran on: pushes that became due without a connection are lost, items of interrupted streams among
    /// them, and so are questions, with their answers, and endings.
    private mutating func loseWhatWasDue(_ options: ReplayOptions, ready: WireInstant?, at now: WireInstant) {
        // Items of interrupted streams stand before the head.
        var index = min(head, state.firstIndex(of: .abandoned) ?? head)
        while index < script.steps.count, index < firstGate {
            defer { index += 1 }
            let step = script.steps[index]
            guard index == head || (step.role == .push && state[index] == .abandoned && openedLastTime(index)) else {
                continue
            }
            guard step.role != .reply, step.role != .handshake else { break }
            let due = due(index, ready: ready, options)
            guard due <= now else { break }
            state[index] = .lost
            doneAt[index] = due
            if step.role == .request, let group = step.group {
                for answer in script.toServer(in: group) where state[answer] == .waiting { state[answer] = .lost }
            }
            skipSettled()
        }
    }

    /// From the first message. What was said and sent so far stays in the report. What the client had said it may say again,
    /// and need not: nothing waits for that once the client has been quiet for the grace.
    mutating func restart(at now: WireInstant, _ tally: inout SessionTally) {
        let count = script.steps.count
        let said = script.steps.indices.filter(mayStayAway)
        state = StepColumn(.waiting, count: count)
        doneAt = StepTimes(count: count)
        matchedIn = StepColumn(0, count: count)
        (head, firstGate, firstAwaited) = (0, 0, 0)
        anchors.lookAgain()
        chains = ChainPositions()
        (aside, standIns, lastSaid, lastStop) = ([], [:], -1, nil)
        tally.restart()
        mayComeBack = 0
        wentOnAt = nil
        heldBack = []
        begin(at: now)
        for step in said {
            state[step] = .abandoned
            guard let group = group(openedBy: step) else { continue }
            for other in script.toClient(in: group) { state[other] = .abandoned }
            for other in script.toServer(in: group) { state[other] = .abandoned }
        }
        countRepeats()
        skipSettled()
    }

    // MARK: - Another script

    /// What has happened on another script, whose steps have the given numbers here.
    mutating func adopt(_ other: ScriptCursor, _ places: [Int: Int]) {
        for (theirs, mine) in places where other.state[theirs] == .done {
            state[mine] = .done
            doneAt[mine] = other.doneAt[theirs]
            matchedIn[mine] = other.matchedIn[theirs]
        }
        if let theirs = other.script.clientHandshake, other.state[theirs] == .done, let mine = script.clientHandshake {
            anchors.client(begins: Anchor(at: other.doneAt[theirs], recorded: script.steps[mine].time))
        }
        sent = other.sent.compactMap { places[Int($0)].map { Int32(clamping: $0) } }
        skipSettled()
    }
}
