internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeReplay
package import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeWire

/// A replay engine and its clients in virtual time, without a byte of HTTP or WebSocket framing: every connection has its
/// own latency and a kernel that takes what is sent after a while. It does the engine's actions, holds them to what a server
/// can do, and tells ``Referee``s what passes.
package final class EngineStage {
    package internal(set) var engine: ReplayEngine
    package let clients: [ModelClient]
    /// By client and session.
    package internal(set) var referees: [[Referee]]
    /// By client and session.
    var accounts: [[WireAccount]]
    /// When the first connection was open.
    private(set) var begun: WireInstant?
    package internal(set) var problems: [String] = []
    package internal(set) var logs: [String] = []
    /// Everything that was sent to clients, when and where.
    package internal(set) var digest = StableHash()
    package internal(set) var now = WireInstant(nanoseconds: 1_000_000_000)
    /// Wake-ups of the engine, and everything else that happened.
    package private(set) var wakes = 0
    package private(set) var events = 0

    /// Hears everything that happens, for people.
    package var trace: ((String) -> Void)?
    /// Does something wrong in the engine's name.
    package var mutant: EngineMutant?

    let weather: Weather
    var random: SplitMix64
    var queue = StageQueue<StageEvent>()
    var wires: [StageWire] = []
    var slots: [[Int: ConnectionID]]
    var actions: [ReplayAction] = []
    /// The causes that server messages have on other connections.
    var causes = StageCauses()
    /// What has been told about a session that explains an end that is not the tape's.
    var divergences = 0
    let hasFaults: Bool

    /// How the connections between the clients and the engine behave.
    package struct Weather: Sendable {
        /// Nanoseconds one way, drawn for every connection.
        package var latency: ClosedRange<UInt64>
        /// Nanoseconds until the kernel has a message, drawn for every message.
        package var taking: ClosedRange<UInt64>

        package init(latency: ClosedRange<UInt64> = 0...0, taking: ClosedRange<UInt64> = 0...0) {
            self.latency = latency
            self.taking = taking
        }
    }

    package init(
        _ engine: ReplayEngine, _ clients: [ModelClient], weather: Weather, timing: RefereeTerms.Timing?, seed: UInt64
    ) {
        self.engine = engine
        self.clients = clients
        self.weather = weather
        random = SplitMix64(seed: seed)
        slots = Array(repeating: [:], count: clients.count)
        hasFaults = !engine.faults.rules.isEmpty
        accounts = clients.map { client in client.plays.map { _ in WireAccount() } }
        referees = clients.map { client in
            client.plays.map { play in
                var referee = Referee(play.talk.session)
                referee.terms.timing = timing
                referee.terms.seesTurns = client.habits.transport != .lp
                referee.terms.isStateful = client.habits.usesStatefulReconnect
                return referee
            }
        }
    }

    /// Runs until every client is over and the engine asks for nothing but keepalives, or until `end`.
    /// - Returns: whether it came to its end by itself.
    package func run(until end: WireInstant, limit: Int = 200_000) -> Bool {
        for k in clients.indices { arm(k) }
        var idle = 0
        while events + wakes < limit {
            var wake = engine.nextWake
            mutant?.hurry(&wake, at: now)
            let next = min(queue.next ?? .init(nanoseconds: .max), wake ?? .init(nanoseconds: .max))
            guard next.nanoseconds != .max else { return clients.allSatisfy { $0.phase == .over } }
            guard next <= end else { return false }
            idle = next > now ? 0 : idle + 1
            if idle > 2_000 {
                problems.append("nothing but wake-ups at one moment")
                return false
            }
            now = max(now, next)
            if let wake, wake <= now, queue.next.map({ $0 > now }) ?? true {
                wakes += 1
                engine.wake(at: now, into: &actions)
                perform()
            } else if let event = queue.removeNext() {
                events += 1
                happen(event)
            }
            if clients.allSatisfy({ $0.phase == .over }), queue.next == nil, engine.isFinished { return true }
        }
        problems.append("more than \(limit) events")
        return false
    }

    /// A client does something wrong: the server may refuse what it says.
    /// - Parameter forgiven: lines of its session without which the server may go on.
    package func expectWrong(ofClient k: Int, session: Int, forgiven: Set<Int>) {
        referees[k][session].terms.expectsRefusals = true
        referees[k][session].terms.forgiven = forgiven
    }

    package func finish() -> ReplayReport { engine.finish(at: now) }

    // MARK: Events

    private func happen(_ event: StageEvent) {
        switch event {
        case .wake(let k):
            guard let wake = clients[k].nextWake, wake <= now else { return arm(k) }
            var out: [ClientAction] = []
            clients[k].wake(at: now, into: &out)
            act(k, out)
        case .asks(let request): ask(request)
        case .up(let c, let action, let order): arrive(c, action, order)
        case .taken(let c): take(c)
        case .delivered(let c, let item): deliver(c, item)
        case .acknowledged(let c, let ticket, let complete):
            engine.acknowledged(c, ticket: ticket, complete: complete, at: now, into: &actions)
            perform()
        case .delayed(let action): perform(action)
        case .wasGone(let c):
            engine.clientClosed(c, .rst("reset"), at: now, into: &actions)
            perform()
        }
    }

    /// Somebody makes a plain request at that time.
    package func ask(_ exchange: RecordedExchange, at time: WireInstant) {
        let request = PlainRequest(line: exchange.line, head: exchange.request)
        causes.add(request)
        queue.add(.asks(request), at: time)
    }

    private func ask(_ request: PlainRequest) {
        begun = begun ?? now
        let c = ConnectionID(wires.count)
        var wire = StageWire(client: 0, slot: -1, latency: 0)
        (wire.isPlain, wire.isOpened, wire.isAsked) = (true, true, true)
        wires.append(wire)
        tell { "? > \(c) \(request.head.method) \(request.head.target)" }
        causes.came(request)
        engine.opened(c, from: Address(host: "10.0.1.1", port: 5_000), at: now, into: &actions)
        engine.request(c, request.head, body: [], at: now, into: &actions)
        perform()
    }

    /// Wakes the client when it wants to be.
    func arm(_ k: Int) {
        guard let wake = clients[k].nextWake else { return }
        queue.add(.wake(client: k), at: max(wake, now))
    }

    /// What the client did.
    func act(_ k: Int, _ actions: [ClientAction]) {
        for action in actions {
            let c = connection(k, action.slot)
            wires[Int(c)].say(action, at: now, &random, &queue, c)
            if case .end = action { leave(c) }
            if case .closeFrame = action { leave(c) }
        }
        arm(k)
    }

    private func connection(_ k: Int, _ slot: Int) -> ConnectionID {
        if let c = slots[k][slot] { return c }
        let c = ConnectionID(wires.count)
        wires.append(StageWire(client: k, slot: slot, latency: random.draw(in: weather.latency)))
        slots[k][slot] = c
        return c
    }

    /// The client hears nothing more there: what is on its way is lost to it.
    private func leave(_ c: ConnectionID) {
        guard wires[Int(c)].isHeard else { return }
        wires[Int(c)].isHeard = false
    }

    // MARK: Towards the engine

    private func arrive(_ c: ConnectionID, _ action: ClientAction, _ order: Int) {
        let i = Int(c)
        let k = wires[i].client
        let said = action.sayings
        guard order >= wires[i].dropsBefore, !wires[i].isOver else {
            tell { "\(k) > \(c) LOST \(action.words)" }
            lose(k, said)
            if case .end = action, !wires[i].isTold { told(c, .fin) }
            return
        }
        if !wires[i].isOpened {
            wires[i].isOpened = true
            begun = begun ?? now
            engine.opened(c, from: Address(host: "10.0.0.\(k + 1)", port: 5_000), at: now, into: &actions)
        }
        if wires[i].isDeaf, keep(c, action, order) { return }
        for saying in said {
            referees[k][saying.session].arrived(saying, at: now)
            wires[i].session = saying.session
            if let line = saying.line, referees[k][saying.session].talk.lines[line].role == .close {
                accounts[k][saying.session].clientSaidGoodbye(at: now)
            }
        }
        tell { "\(k) > \(c) \(action.words)" }
        if mutant?.swallows(said, { saying in saying.line.map { referees[k][saying.session].talk.lines[$0] } }) == true
        {
            return
        }
        switch action {
        case .request(_, let head, let body, _):
            if wires[i].isAsked { problems.append("a request before the answer to the one before") }
            wires[i].isAsked = true
            wires[i].asked = head
            engine.request(c, head, body: body, at: now, into: &actions)
        case .message(_, let opcode, let bytes, _):
            engine.message(c, opcode, bytes.span, at: now, into: &actions)
        case .closeFrame(_, let code):
            wires[i].saidClose = true
            referees[k][wires[i].session].left(at: now)
            let how = ClientEnd.closeFrame(code: code, reason: "")
            accounts[k][wires[i].session].clientEnded(c, how, at: now)
            engine.clientClosed(c, how, at: now, into: &actions)
            neverTaken(c)
        case .end(_, let reset):
            told(c, reset ? .rst("reset") : .fin)
        }
        perform()
    }

    /// Keeps a client's action that arrives on a stalled connection.
    /// - Returns: false for a FIN or RST, which the server notices at once.
    private func keep(_ c: ConnectionID, _ action: ClientAction, _ order: Int) -> Bool {
        let i = Int(c)
        switch action {
        case .end: return false
        case .request, .message: break
        case .closeFrame(_, let code):
            let how = ClientEnd.closeFrame(code: code, reason: "")
            accounts[wires[i].client][wires[i].session].clientEnded(c, how, at: now)
            engine.clientLeftSilently(c, how, at: now)
        }
        wires[i].kept.append((action, order))
        return true
    }

    /// A rule stops the reading and writing of a connection, or lets them go on.
    func stall(_ c: ConnectionID, reads: Bool, writes: Bool) {
        let i = Int(c)
        guard !wires[i].isOver else { return }
        wires[i].isDeaf = reads
        wires[i].isStopped = writes
        if !writes { for _ in wires[i].untaken { queue.add(.taken(c), at: now) } }
        guard !reads else { return }
        let kept = wires[i].kept
        wires[i].kept = []
        for (action, order) in kept { queue.add(.up(c, action, order: order), at: now) }
    }

    /// Counts unread messages as lost, because the connection is over.
    func loseKept(_ c: ConnectionID) {
        let kept = wires[Int(c)].kept
        wires[Int(c)].kept = []
        for (action, _) in kept { lose(wires[Int(c)].client, action.sayings) }
    }

    private func told(_ c: ConnectionID, _ how: ClientEnd) {
        let i = Int(c)
        var isFirst = false
        if !wires[i].isOver {
            referees[wires[i].client][wires[i].session].left(at: now)
            isFirst = accounts[wires[i].client][wires[i].session].clientEnded(c, how, at: now)
        }
        let told = isFirst && isAlone(in: wires[i].session, wires[i].client) ? mutant?.misread(how) : nil
        wires[i].isTold = true
        wires[i].isOver = true
        loseKept(c)
        engine.clientClosed(c, told ?? how, at: now, into: &actions)
        perform()
        neverTaken(c)
        if hasFaults { tellTakenAway(wires[i].client, wires[i].session) }
    }

    /// Whether no other client plays the session, so that the report tells whose it was.
    private func isAlone(in session: Int, _ k: Int) -> Bool {
        let number = clients[k].plays[session].talk.session.number
        return clients.count { $0.plays.contains { $0.talk.session.number == number } } == 1
    }

    func tell(_ text: () -> String) {
        guard let trace else { return }
        let ms = Double(now.nanoseconds - 1_000_000_000) / 1e6
        trace("\(ms) ms: client \(text())")
    }

    /// What the client has given up for good holds nothing back.
    func forgive(_ k: Int, _ session: Int) {
        let play = clients[k].plays[session]
        guard !play.givenUp.isEmpty else { return }
        for line in play.talk.lines.indices where play.talk.lines[line].direction == .toServer {
            guard let opener = play.talk.lines[line].opener, play.givenUp.contains(opener) else { continue }
            referees[k][session].terms.givenUp.insert(line)
        }
    }

    private func lose(_ k: Int, _ sayings: [Saying]) {
        for saying in sayings {
            guard let line = saying.line else { continue }
            // What only repeats what is there is no loss.
            let isRemembered = clients[k].habits.usesStatefulReconnect
            if isRemembered, referees[k][saying.session].isThere(line) { continue }
            clients[k].lost(.said([line]), session: saying.session)
        }
        arm(k)
    }

    /// What the kernel has not taken by the end of a connection was never sent, nor was the end behind it.
    func neverTaken(_ c: ConnectionID) {
        let wire = wires[Int(c)]
        wires[Int(c)].untaken = []
        guard wire.untaken.contains(where: { $0.event != nil && $0.ticket != nil }) else { return }
        let lost = wire.untaken.flatMap(\.lines)
        let ending = wire.untaken.compactMap(\.ending)
        referees[wire.client][wire.session].neverTaken(lost + ending)
    }
}
