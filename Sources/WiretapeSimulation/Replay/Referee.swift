package import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

/// Watches one session of a replay, as the server's side of the wire sees it, and holds it to the rules of
/// `docs/replay.md`: nothing leaves before its causes, replies go to the id that asked, nothing is sent twice, nothing out of
/// turn, nothing early or late.
package struct Referee: Sendable {
    package let talk: Conversation
    package private(set) var problems: [String] = []
    /// When each line of the client first arrived, and on which connection it did last.
    var arrivedAt: [WireInstant?]
    var arrivedIn: [Int]
    /// On how many connections each line arrived.
    var asked: [Int]
    /// When each line of the server was handed to its connection last, and how often it was.
    package internal(set) var sentAt: [WireInstant?]
    package internal(set) var sends: [Int]
    var sentIn: [Int]
    /// Of those, the ones that the kernel never took before the connection was gone: they count for nothing.
    var lostSends: [Int]
    /// Whether the protocol itself brings back what a lost connection took with it (``Conversation/Line/isCounted``).
    var isStateful = false
    /// Of those: what the server said since the protocol's own state began, and which of it is said next.
    private var counted: [(line: Int?, bytes: [UInt8])] = []
    private var nextCounted = 0
    /// Lines whose last send the kernel has taken, and those that it has not before the connection was gone: the protocol
    /// may make these good.
    private var taken: Set<Int> = []
    private var remembered: Set<Int> = []
    /// The live ids of this connection.
    var openers: [String: Int] = [:]
    var generation = 0
    /// The connection on which the protocol's own state began.
    var epoch = 0
    var ear: any FrameCodec
    /// When the client ended the connection that it had last.
    private var leftAt: WireInstant?
    /// When the first connection opened.
    var openedAt = WireInstant.zero
    /// Lines of the client that replay has given up waiting for, by its own report.
    package var forgiven: Set<Int> = []
    /// Lines of chains that the client does not ask for again: they hold something back for a grace, and then nothing.
    var givenUp: Set<Int> = []
    /// Whether the client may be told that what it says is on no tape.
    package var expectsRefusals = false
    /// Whether turns can be told: what a poll brings has gathered since the one before.
    package var seesTurns = true
    /// Nil: times are not looked at.
    package var timing: Timing?
    /// Lines in the order of sending.
    package internal(set) var order: [Int] = []
    package internal(set) var refusals = 0
    /// Lines that others passed although they waited for nothing, and the first that did.
    var passedBy: [Int: (line: Int, text: String)] = [:]
    /// Lines that every connection hears behind the handshake, unless the protocol goes on without one.
    let greeting: [Int]
    /// Since when this connection should have heard them; nil: it has, or need not.
    var greetedSince: WireInstant?
    /// Whether nothing but the client ends connections before the tape does.
    package var endsAreTheClients = false

    /// How recorded gaps are played.
    package struct Timing: Sendable {
        /// Their divisor; 0: no gaps at all.
        package var speed: Double
        package var idleCap: UInt64?

        package init(speed: Double, idleCap: UInt64? = nil) {
            self.speed = speed
            self.idleCap = idleCap
        }

        func scaled(from earlier: UInt64, to later: UInt64) -> UInt64 {
            guard later > earlier, speed > 0 else { return 0 }
            return UInt64(Double(min(later - earlier, idleCap ?? .max)) / speed)
        }
    }

    package init(_ session: RecordedSession) {
        talk = Conversation(session)
        let count = talk.lines.count
        arrivedAt = Array(repeating: nil, count: count)
        arrivedIn = Array(repeating: 0, count: count)
        asked = Array(repeating: 0, count: count)
        sentAt = Array(repeating: nil, count: count)
        sends = Array(repeating: 0, count: count)
        sentIn = Array(repeating: 0, count: count)
        lostSends = Array(repeating: 0, count: count)
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
        if endsAreTheClients { checkGreeting() }
        for (line, passer) in passedBy.sorted(by: { $0.key < $1.key }) {
            // What the protocol brings again stands where it was taken away.
            let isBrought = takenAway.contains(passer.line) && talk.lines[passer.line].ending == nil
            if !takenAway.contains(line), !isBrought { complain(passer.text) }
        }
    }

    /// Whether a line of the client has come since the protocol's own state began.
    func isThere(_ line: Int) -> Bool { arrivedIn[line] > 0 && arrivedIn[line] >= epoch }

    /// Whether all that a line waits for has come.
    func isFree(_ line: Int) -> Bool { talk.lines[line].causes.allSatisfy { arrivedAt[$0] != nil } }

    /// Sends that count.
    package func effective(_ line: Int) -> Int { sends[line] - lostSends[line] }

    // MARK: The client's side

    /// The first connection is open.
    package mutating func connected(at now: WireInstant) {
        if generation == 0 { openedAt = now }
        leftAt = nil
    }

    /// The client ended the connection before the server did.
    package mutating func left(at now: WireInstant) {
        if leftAt == nil { leftAt = now }
        if let since = greetedSince, since < now, endsAreTheClients { checkGreeting() }
        greetedSince = nil
    }

    /// Whether the client may have left while that ending of the server was on its way: then it need not come any more.
    package func isOvertaken(_ line: Int) -> Bool {
        guard let leftAt, talk.lines[line].ending != nil else { return false }
        return talk.lines[line].causes.allSatisfy { cause in
            forgiven.contains(cause) || givenUp.contains(cause) || arrivedAt[cause].map { $0 <= leftAt } ?? false
        }
    }

    package mutating func arrived(_ saying: Saying, at now: WireInstant) {
        if saying.generation > generation {
            generation = saying.generation
            greetedSince = nil
            if !saying.isResumed {
                epoch = generation
                openers = [:]
                for line in remembered { lostSends[line] += 1 }
                remembered = []
                (counted, nextCounted) = ([], 0)
            }
        }
        guard let line = saying.line else { return }
        if let chain = saying.chain, talk.lines[line].role == .request { openers[chain.id] = line }
        if arrivedAt[line] == nil { arrivedAt[line] = now }
        if arrivedIn[line] != saying.generation { asked[line] += 1 }
        arrivedIn[line] = saying.generation
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
        guard isStateful else { return }
        taken.formUnion(lines)
        remembered.subtract(lines)
    }

    /// The kernel never took them: the connection was gone.
    package mutating func neverTaken(_ lines: [Int]) {
        for line in lines {
            if !isStateful || !talk.lines[line].isCounted {
                lostSends[line] += 1
            } else if !taken.contains(line) {
                remembered.insert(line)
            }
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
        guard isStateful, StatefulMemory.counted.contains(message.type) else { return judgeNew(message, at: now) }
        defer { nextCounted += 1 }
        guard nextCounted < counted.count else {
            let line = judgeNew(message, at: now)
            if let line { taken.remove(line) }
            counted.append((line, message.bytes))
            return line
        }
        // What is sent again is what was sent.
        let earlier = counted[nextCounted]
        if earlier.bytes != message.bytes { complain("\(message.title) is not what message \(nextCounted + 1) was") }
        return earlier.line
    }

    /// The server says from which message on it repeats.
    private mutating func restart(_ message: Message) -> Int? {
        let number = message.content["sequenceId"]?.int ?? 0
        if number < 1 || number > counted.count + 1 { complain("Sequence \(number) after \(counted.count) messages") }
        nextCounted = min(max(0, number - 1), counted.count)
        return nil
    }

    private mutating func judgeNew(_ message: Message, at now: WireInstant) -> Int? {
        if message.role == .keepalive || message.role == .ack { return nil }
        if message.meaning["error"]?.string?.hasPrefix("wiretape:") == true {
            refusals += 1
            if !expectsRefusals { complain("refused: \(message.title)") }
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
            guard let found = openers[chain.id] else {
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
