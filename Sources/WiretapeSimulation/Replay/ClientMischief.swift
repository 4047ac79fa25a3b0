internal import WiretapeBytes

/// What a model client does wrong on purpose, with one line of one of its sessions, and whether it has.
struct ClientMischief {
    /// Whether it has begun.
    private(set) var isDone = false
    private let plan: ClientHabits.Mischief?
    /// The line that is held back, and the count of pushes or of lines said at which that began.
    private var held: (line: Int, since: Int)?
    private var farewellDue: WireInstant?

    init(_ plan: ClientHabits.Mischief?) { self.plan = plan }

    private func what(_ line: Int, of session: Int) -> ClientHabits.Mischief.What? {
        guard let plan, plan.session == session, plan.line == line else { return nil }
        return plan.what
    }

    func isAltered(_ line: Int, of session: Int) -> Bool { what(line, of: session) == .alter }

    /// Nanoseconds that the line is said later than it could be.
    func lateness(_ line: Int, of session: Int) -> UInt64 {
        guard case .late(let by)? = what(line, of: session) else { return 0 }
        return by
    }

    /// What is done with the line that is to be said now; nil when it is the wrong line, or all is done already.
    mutating func begin(_ line: Int, of session: Int) -> ClientHabits.Mischief.What? {
        guard !isDone, let what = what(line, of: session) else { return nil }
        isDone = true
        return what
    }

    /// Whether the line may be said although something holds it back.
    /// - Parameter pushes: how many have come.
    mutating func maySay(_ line: Int, of session: Int, pushes: Int) -> Bool {
        what(line, of: session) != .afterNextPush || hasMoved(line, to: pushes)
    }

    /// Whether an answer to the server's question is held back: until the next push, or until another line is said.
    /// - Parameters:
    ///   - said: how many lines are said, of so many.
    mutating func holds(_ answer: Int, of session: Int, pushes: Int, said: Int, of lines: Int) -> Bool {
        switch what(answer, of: session) {
        case .afterNextPush: !hasMoved(answer, to: pushes)
        case .swap: !hasMoved(answer, to: said) && said < lines
        case .drop, .late, .double, .alter, .extra, nil: false
        }
    }

    private mutating func hasMoved(_ line: Int, to count: Int) -> Bool {
        let since = held?.since ?? count
        if held == nil { held = (line, count) }
        return count > since
    }

    /// Until when the farewell is held back; nil when it may be said.
    mutating func delay(ofFarewell line: Int, of session: Int, at now: WireInstant) -> WireInstant? {
        let lateness = lateness(line, of: session)
        if lateness > 0, !isDone {
            isDone = true
            farewellDue = now.advanced(by: lateness)
        }
        guard let due = farewellDue, due > now else { return nil }
        return due
    }

    /// How often the farewell is said.
    mutating func farewells(_ line: Int, of session: Int) -> Int {
        guard let what = what(line, of: session) else { return 1 }
        isDone = true
        switch what {
        case .drop, .afterNextPush: return 0
        case .double: return 2
        case .late, .swap, .alter, .extra: return 1
        }
    }
}
