internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The rules, each written down from the page and not from the engine.
extension Referee {
    /// A line of the server leaves now.
    mutating func check(_ line: Int, at now: WireInstant) {
        checkCauses(line)
        if talk.lines[line].role == .push, talk.lines[line].opener == nil, !greeting.contains(line) { checkGreeting() }
        if talk.lines[line].role == .handshake { connection.shook(at: now) }
        if effective(line) > 0 { checkRepetition(line) } else { checkTurn(line) }
        if sends.count(of: line) == 0, !talk.lines[line].isOptional { checkTime(line, at: now) }
        sends.note(line, on: generation, at: now)
    }

    private func hasCome(_ cause: Int) -> Bool {
        arrivals.time(of: cause) != nil || terms.isWaived(cause)
    }

    /// Whether that message of the client may hold something back or not: its chain is given up, or it may come back in one
    /// that a lost connection interrupted.
    private func isUndecided(_ cause: Int) -> Bool {
        guard arrivals.time(of: cause) != nil else { return terms.givenUp.contains(cause) }
        guard talk.lines[cause].role == .part, let opener = talk.lines[cause].opener else { return false }
        return arrivals.connection(of: cause) < arrivals.connection(of: opener)
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
        guard connection.takeGreeting() else { return }
        for line in greeting where sends.connection(of: line) < generation {
            complain("connection \(generation) was not greeted with \(name(line))")
        }
    }

    /// Nothing is sent twice, unless the client asked twice or lost what a question was.
    private mutating func checkRepetition(_ line: Int) {
        let step = talk.lines[line]
        switch step.role {
        case .handshake where sends.connection(of: line) < generation: return
        case .reply where step.opener.map({ arrivals.count(of: $0) > effective(line) }) ?? false: return
        case .request where sends.connection(of: line) < generation && !hasAnswer(line): return
        case .push where greeting.contains(line) && sends.connection(of: line) < connection.epoch: return
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
        if talk.lines[line].isOptional || !terms.seesTurns { return }
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
            let waits =
                isBehind || terms.heldElsewhere.contains(i) || step.causes.contains { !hasCome($0) }
                || (isHeld && step.role != .reply)
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

    /// Whether a line of the server is still to be sent on this connection.
    private func isDue(_ line: Int) -> Bool {
        let step = talk.lines[line]
        guard step.direction == .toClient, !step.isOptional, step.role != .handshake, effective(line) == 0 else {
            return false
        }
        guard let opener = step.opener, talk.lines[opener].direction == .toServer else { return true }
        return connection.epoch <= 1 || arrivals.connection(of: opener) >= connection.epoch
    }

    /// The recorded gap since the last thing that it waited for, in actual time, divided by the speed.
    private mutating func checkTime(_ line: Int, at now: WireInstant) {
        guard let timing = terms.timing else { return }
        let step = talk.lines[line]
        var last = (at: connection.openedAt, recorded: talk.opened)
        func take(_ at: WireInstant?, _ recorded: UInt64) {
            guard let at, (at, recorded) > last else { return }
            last = (at, recorded)
        }
        for cause in step.causes { take(arrivals.time(of: cause), talk.lines[cause].time) }
        for i in talk.lines.indices.prefix(line) where talk.lines[i].direction == .toClient {
            take(sends.time(of: i), talk.lines[i].time)
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
