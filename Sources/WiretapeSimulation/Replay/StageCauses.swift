internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// A plain request beside the sessions of a drawn tape.
struct PlainRequest: Sendable {
    /// The line on the tape, from 1.
    let line: Int
    let head: RequestHead
    var hasCome = false
}

/// Checks the rule "no effect before its cause". A server line waits for all requests and client messages that precede it on the tape, on
/// whatever connection. A reply waits only for those that follow its request.
struct StageCauses: Sendable {
    private(set) var requests: [PlainRequest] = []

    /// Whether the lines of the tape tell in which order its connections spoke.
    var areKnown: Bool { !requests.isEmpty }

    mutating func add(_ request: PlainRequest) { requests.append(request) }

    mutating func came(_ request: PlainRequest) {
        for i in requests.indices where requests[i].line == request.line { requests[i].hasCome = true }
    }

    /// The causes that precede a line of a session on the tape and have not come.
    /// - Parameters:
    ///   - referees: by client and session.
    ///   - polls: the clients that use long polling. Only the engine knows when their sessions open.
    ///   - isSure: leaves out openings of such clients, and causes that were over when the session began.
    func open(
        before line: Int, client: Int, session: Int, _ referees: [[Referee]], polls: Set<Int>, isSure: Bool
    ) -> [String] {
        let talk = referees[client][session].talk
        let step = talk.lines[line]
        guard step.role != .handshake else { return [] }
        let first = step.role == .reply ? step.opener.map { talk.lines[$0].tapeLine } ?? 0 : 0
        let before = (first + 1)..<max(first + 1, step.tapeLine)
        let begin = talk.session.openingPlace?.line ?? 0
        var open = requests.filter { request in
            before.contains(request.line) && !request.hasCome && !(isSure && request.line < begin)
        }.map(\.head.target)
        for k in referees.indices {
            for s in referees[k].indices where (k, s) != (client, session) {
                let other = referees[k][s]
                let opening = unopened(other, polls: polls.contains(k))
                if isSure, isPast(other, begin) { continue }
                open += unsaid(in: before, other)
                if let opening, before.contains(opening), !(isSure && polls.contains(k)) {
                    open.append("the opening on line \(opening)")
                }
            }
        }
        return open
    }

    /// The lines of the server that wait for something on another connection.
    func held(client: Int, session: Int, _ referees: [[Referee]], polls: Set<Int>) -> Set<Int> {
        let lines = referees[client][session].talk.lines
        return Set(
            lines.indices.filter { line in
                lines[line].direction == .toClient
                    && !open(
                        before: line, client: client, session: session, referees, polls: polls, isSure: false
                    ).isEmpty
            })
    }

    /// Whether all of a session was over before that line.
    private func isPast(_ session: Referee, _ line: Int) -> Bool {
        session.talk.lines.allSatisfy { $0.tapeLine < line }
    }

    /// The line of a session's opening that has not come.
    private func unopened(_ session: Referee, polls: Bool) -> Int? {
        let isOpen = polls ? session.generation > 0 : session.connection.openedAt > .zero
        return isOpen ? nil : session.talk.session.openingPlace?.line
    }

    private func unsaid(in lines: Range<Int>, _ session: Referee) -> [String] {
        session.talk.lines.indices.filter { i in
            let line = session.talk.lines[i]
            return line.direction == .toServer && line.role != .cancel && line.role != .close
                && lines.contains(line.tapeLine) && session.arrivals.time(of: i) == nil && !session.terms.isWaived(i)
        }.map { "\(session.name($0)) of session \(session.talk.session.number)" }
    }
}
