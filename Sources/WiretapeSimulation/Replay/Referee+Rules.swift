internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The rules, each written down from the page and not from the engine.
extension Referee {
    /// A line of the server leaves now.
    mutating func check(_ line: Int, at now: WireInstant) {
        checkCauses(line)
        if talk.lines[line].role == .push, talk.lines[line].opener == nil, !greeting.contains(line) { checkGreeting() }
        if talk.lines[line].role == .handshake, generation > 1, epoch == generation { greetedSince = now }
        if effective(line) > 0 { checkRepetition(line) } else { checkTurn(line) }
        if sends[line] == 0, !talk.lines[line].isOptional { checkTime(line, at: now) }
        sends[line] += 1
        sentAt[line] = now
        sentIn[line] = generation
        order.append(line)
    }

    private func hasCome(_ cause: Int) -> Bool {
        arrivedAt[cause] != nil || forgiven.contains(cause) || givenUp.contains(cause)
    }

    /// Whether that message of the client may hold something back or not: its chain is given up, or it may come back in one
    /// that a lost connection interrupted.
    private func isUndecided(_ cause: Int) -> Bool {
        guard arrivedAt[cause] != nil else { return givenUp.contains(cause) }
        guard talk.lines[cause].role == .part, let opener = talk.lines[cause].opener else { return false }
        return arrivedIn[cause] < arrivedIn[opener]
    }

    /// Nothing is sent before its causes.
    private mutating func checkCauses(_ line: Int) {
        for cause in talk.lines[line].causes where !hasCome(cause) {
            complain("\(name(line)) left before \(name(cause)) had come")
        }
    }

    /// What the server says to everybody who connects comes on each connection that begins with a handshake, before the pushes
    /// that go on.
    mutating func checkGreeting() {
        guard greetedSince != nil else { return }
        greetedSince = nil
        for line in greeting where sentIn[line] < generation {
            complain("connection \(generation) was not greeted with \(name(line))")
        }
    }

    /// Nothing is sent twice, unless the client asked twice or lost what a question was.
    private mutating func checkRepetition(_ line: Int) {
        let step = talk.lines[line]
        switch step.role {
        case .handshake where sentIn[line] < generation: return
        case .reply where step.opener.map({ asked[$0] > effective(line) }) ?? false: return
        case .request where sentIn[line] < generation && !hasAnswer(line): return
        case .push where greeting.contains(line) && sentIn[line] < epoch: return
        case .handshake, .request, .send, .reply, .push, .part, .cancel, .keepalive, .ack, .close, .opaque, nil:
            complain("\(name(line)) was sent twice")
        }
    }

    private func hasAnswer(_ question: Int) -> Bool {
        talk.lines.indices.contains {
            talk.lines[$0].direction == .toServer && talk.lines[$0].opener == question && hasCome($0)
        }
    }

    /// Recorded order, but a reply whose chain is complete may pass what waits for the client.
    private mutating func checkTurn(_ line: Int) {
        if talk.lines[line].isOptional || !seesTurns { return }
        var isHeld = false
        var heldChains: Set<Int> = []
        // As these two, of what may be held or not.
        var mayBeHeld = false
        var openChains: Set<Int> = []
        for i in talk.lines.indices.prefix(line) where isDue(i) {
            let step = talk.lines[i]
            let isBehind = step.opener.map { heldChains.contains($0) } ?? false
            let isOpen = step.opener.map { openChains.contains($0) } ?? false
            if isOpen || (mayBeHeld && step.role != .reply) || step.causes.contains(where: isUndecided) {
                mayBeHeld = true
                if let opener = step.opener { openChains.insert(opener) }
                continue
            }
            let waits = isBehind || step.causes.contains { !hasCome($0) } || (isHeld && step.role != .reply)
            isHeld = isHeld || waits
            if waits, let opener = step.opener { heldChains.insert(opener) }
            if step.opener != nil, step.opener == talk.lines[line].opener {
                return suspect(i, line, "\(name(line)) passed \(name(i)) of its own chain")
            }
            // What waits for nobody, or for time only, holds back everything after it. What waits for the client holds back
            // pushes and its own chain, and lets replies pass.
            guard waits else {
                return suspect(i, line, "\(name(line)) passed \(name(i)), which waited for nothing but time")
            }
            guard talk.lines[line].role == .reply else {
                return complain("\(name(line)) passed \(name(i)) and is no reply")
            }
        }
    }

    /// A line that was passed: wrong unless a rule has taken it away.
    private mutating func suspect(_ passed: Int, _ passer: Int, _ text: String) {
        if passedBy[passed] == nil { passedBy[passed] = (passer, text) }
    }

    /// Whether a line of the server is still to be sent on this connection.
    private func isDue(_ line: Int) -> Bool {
        let step = talk.lines[line]
        guard step.direction == .toClient, !step.isOptional, step.role != .handshake, effective(line) == 0 else {
            return false
        }
        guard let opener = step.opener, talk.lines[opener].direction == .toServer else { return true }
        return epoch <= 1 || arrivedIn[opener] >= epoch
    }

    /// The recorded gap since the last thing that it waited for, in actual time, divided by the speed.
    private mutating func checkTime(_ line: Int, at now: WireInstant) {
        guard let timing else { return }
        let step = talk.lines[line]
        var last = (at: openedAt, recorded: talk.opened)
        func take(_ at: WireInstant?, _ recorded: UInt64) {
            guard let at, (at, recorded) > last else { return }
            last = (at, recorded)
        }
        for cause in step.causes { take(arrivedAt[cause], talk.lines[cause].time) }
        for i in talk.lines.indices.prefix(line) where talk.lines[i].direction == .toClient && sends[i] > 0 {
            take(sentAt[i], talk.lines[i].time)
        }
        var due = last.at.advanced(by: timing.scaled(from: last.recorded, to: step.time))
        // It waits until what goes before it is acknowledged, and 20 ms.
        if step.ending == .reset { due = due.advanced(by: 20_000_000) }
        if due != now {
            complain("\(name(line)) left at \(now.nanoseconds) ns instead of \(due.nanoseconds)")
        }
    }

    /// For people.
    package func name(_ line: Int) -> String {
        "line \(line) (\(talk.lines[line].message?.title ?? "\(talk.lines[line].ending.map { "\($0)" } ?? "-")"))"
    }
}
