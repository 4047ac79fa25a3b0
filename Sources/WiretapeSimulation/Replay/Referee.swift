package import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Watches one session of a replay, as the server's side of the wire sees it, and holds it to the rules of
/// `docs/replay.md`: nothing leaves before its causes, replies go to the id that asked, nothing is sent twice, nothing out of
/// turn, nothing early or late.
package struct Referee: Sendable {
    package let talk: Conversation
    package private(set) var problems: [String] = []
    package var terms = RefereeTerms()
    var arrivals: LineArrivals
    var sends: LineSends
    var connection = RefereeConnection()
    /// Lines that every connection hears behind the handshake, unless the protocol goes on without one.
    let greeting: [Int]
    /// Lines that others passed although they waited for nothing, and the first that did.
    private var passedBy: [Int: (line: Int, text: String)] = [:]
    private var counted = CountedMessages()
    private var ear: any FrameCodec

    package init(_ session: RecordedSession) {
        talk = Conversation(session)
        arrivals = LineArrivals(talk.lines.count)
        sends = LineSends(talk.lines.count)
        ear = session.codec.type.init(session.opening)
        let lines = talk.lines
        greeting = lines.indices.filter { lines[$0].message?.label == "Welcome" }
    }

    package mutating func complain(_ text: String) {
        if problems.count < 20 { problems.append("session \(talk.session.number): \(text)") }
    }

    /// The end of the run.
    /// - Parameter takenAway: lines that a rule let nobody have.
    package mutating func finish(takenAway: Set<Int>) {
        if terms.endsAreTheClients { checkGreeting() }
        for (line, passer) in passedBy.sorted(by: { $0.key < $1.key }) {
            // What the protocol brings again stands where it was taken away.
            let isBrought = takenAway.contains(passer.line) && talk.lines[passer.line].ending == nil
            if !takenAway.contains(line), !isBrought { complain(passer.text) }
        }
    }

    /// A line was passed: that is wrong unless a rule has taken it away.
    mutating func suspect(_ passed: Int, _ passer: Int, _ text: String) {
        if passedBy[passed] == nil { passedBy[passed] = (passer, text) }
    }

    /// Counts the client's connections to the session, from 1.
    package var generation: Int { connection.generation }

    /// Whether a line of the client has come since the protocol's own state began.
    func isThere(_ line: Int) -> Bool {
        let last = arrivals.connection(of: line)
        return last > 0 && last >= connection.epoch
    }

    /// Whether all that a line waits for has come.
    func isFree(_ line: Int) -> Bool { talk.lines[line].causes.allSatisfy { arrivals.time(of: $0) != nil } }

    /// Sends that count.
    package func effective(_ line: Int) -> Int { sends.effective(line) }

    // MARK: The client's side

    /// The first connection is open.
    package mutating func connected(at now: WireInstant) {
        connection.opened(at: now)
    }

    /// The client ended the connection before the server did.
    package mutating func left(at now: WireInstant) {
        connection.left(at: now)
        if connection.owesGreeting(before: now), terms.endsAreTheClients { checkGreeting() }
        _ = connection.takeGreeting()
    }

    /// Whether the client may have left while that ending of the server was on its way: then it need not come any more.
    package func isOvertaken(_ line: Int) -> Bool {
        guard let leftAt = connection.leftAt, talk.lines[line].ending != nil else { return false }
        return talk.lines[line].causes.allSatisfy { cause in
            terms.isWaived(cause) || arrivals.time(of: cause).map { $0 <= leftAt } ?? false
        }
    }

    package mutating func arrived(_ saying: Saying, at now: WireInstant) {
        if connection.heard(saying) {
            sends.forget()
            counted.forget()
        }
        guard let line = saying.line else { return }
        if let chain = saying.chain, talk.lines[line].role == .request { connection.bind(chain.id, to: line) }
        arrivals.note(line, on: saying.generation, at: now)
        guard talk.lines[line].role == .handshake, let bytes = talk.lines[line].message?.bytes else { return }
        var seen: [Message] = []
        ear.decode(bytes.span, .text, .toServer, into: &seen)
    }

    // MARK: The server's side

    /// One payload for the client.
    /// - Returns: the lines that it carries.
    package mutating func sent(_ bytes: [UInt8], _ opcode: Opcode, at now: WireInstant) -> [Int] {
        var messages: [Message] = []
        ear.decode(bytes.span, opcode, .toClient, into: &messages)
        return messages.compactMap { judge($0, at: now) }
    }

    /// The kernel has them.
    package mutating func taken(_ lines: [Int]) {
        if terms.isStateful { sends.take(lines) }
    }

    /// The kernel never took them: the connection was gone.
    package mutating func neverTaken(_ lines: [Int]) {
        for line in lines {
            if terms.isStateful, talk.lines[line].isCounted { sends.remember(line) } else { sends.lose(line) }
        }
    }

    /// The server ended the connection, and no fault, divergence or farewell made it do so.
    /// - Parameter ending: nil where the transport has no way to tell one from another.
    /// - Returns: its line.
    package mutating func ended(_ ending: RecordedSession.Ending?, at now: WireInstant) -> Int? {
        guard let line = talk.lines.indices.first(where: { talk.lines[$0].ending != nil && effective($0) == 0 })
        else {
            complain("ended the connection, which is not on the tape")
            return nil
        }
        if let ending, talk.lines[line].ending != ending { complain("ended with \(ending) instead of \(name(line))") }
        check(line, at: now)
        return line
    }

    private mutating func judge(_ message: Message, at now: WireInstant) -> Int? {
        if message.type == "Sequence" { return restart(message) }
        guard terms.isStateful, StatefulMemory.counted.contains(message.type) else { return judgeNew(message, at: now) }
        guard let earlier = counted.takeNext() else {
            let line = judgeNew(message, at: now)
            if let line { sends.begin(line) }
            counted.add(message.bytes, line: line)
            return line
        }
        // What is sent again is what was sent.
        if earlier.bytes != message.bytes { complain("\(message.title) is not what message \(earlier.number) was") }
        return earlier.line
    }

    /// The server says from which message on it repeats.
    private mutating func restart(_ message: Message) -> Int? {
        let number = message.content["sequenceId"]?.int ?? 0
        if !counted.goBack(to: number) { complain("Sequence \(number) after \(counted.count) messages") }
        return nil
    }

    private mutating func judgeNew(_ message: Message, at now: WireInstant) -> Int? {
        if message.role == .keepalive || message.role == .ack { return nil }
        if message.meaning["error"]?.string?.hasPrefix("wiretape:") == true {
            if !terms.expectsRefusals { complain("refused: \(message.title)") }
            return nil
        }
        guard let line = message.role == .handshake ? talk.serverHandshake : identify(message) else { return nil }
        check(line, at: now)
        return line
    }

    /// The line that the message plays: the first of that meaning and chain that is still to be sent, else the last.
    private mutating func identify(_ message: Message) -> Int? {
        let key = message.matchKey
        var opener: Int?
        if let chain = message.chain, chain.origin == .toServer {
            guard let found = connection.opener(chain.id) else {
                complain("\(message.title): nobody asked under that id on this connection")
                return nil
            }
            opener = found
        }
        var earlier: Int?
        for (i, line) in talk.lines.enumerated() where line.direction == .toClient && line.key == key {
            guard line.opener == opener || (opener == nil && line.opener == i) else { continue }
            if effective(i) == 0 { return i }
            earlier = i
        }
        if earlier == nil { complain("\(message.title) is not on the tape there") }
        return earlier
    }
}
