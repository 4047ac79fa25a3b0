package import WiretapeBytes
package import WiretapeFaults
package import WiretapeProtocol
package import WiretapeProxy
package import WiretapeReplay
package import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// The replay server of one loop: accepts clients, feeds what they send to its driver and does what that says. All of its
/// connections share the driver, so a session may go on over a second one. It knows HTTP and WebSockets as far as
/// ``WiretapeWire/ServerEndpoint`` does, and nothing of any protocol above them.
package final class ReplayService {
    let loop: any Loop
    private(set) var answers: Answers
    /// Hears what passed, as a tape would tell it: times since the server was made. Nil: nobody listens.
    package var observe: ((TapeEvent) -> Void)?
    /// Hears what has happened, at the end of each wake-up of the loop. Nil: nobody follows the run.
    package var news: (([RunNews]) -> Void)? { didSet { if news != nil { driver.follow() } } }
    /// A line for people.
    package var log: (String) -> Void = { _ in }
    /// The run is over by `--until`: called once, never from within a call of the owner.
    package var ended: (() -> Void)?

    /// What the clients' connections may hold.
    let memory: MemoryBudget
    /// Who is let in.
    let entrance: Entrance
    /// Why clients were not, each reason once.
    private var refusals: Set<String> = []
    /// The way of requests that the driver passes on.
    private var passage: Passage
    package private(set) var clock: ReplayClock
    private var driver: any ReplayDriver
    private var actual: ActualTape
    private var timer: (any LoopTimer)?
    private var listeners: [any Listener] = []
    let clients = ReplayClients()
    /// Whether a rule has stopped the reading of any client.
    var hasStalled = false
    private var actions: [ReplayAction] = []
    private var wakeup = WakeUp()
    private var stopping = Stopping()
    /// Nil while nobody waits for a run to be settled.
    private var settling: Settling?

    /// The tape of what really passed.
    private struct ActualTape {
        let started: WireInstant
        /// Events that it has.
        var events: UInt64 = 0
    }

    /// TLS handshakes of the listeners' clients.
    final class ListenerHandshakes {
        var watch: ReplayHandshakes?
        var tls = SpokenTLS()
        /// Whether rules that are still to be read may be about them.
        let areAwaited: Bool
        /// What rules did to that of the connection that comes about now.
        var hits: [FaultHit] = []

        init(areAwaited: Bool) { self.areAwaited = areAwaited }
    }

    /// Reads everything that clients have sent, just before a run is judged.
    private struct Settling {
        /// Whether anything arrived since the last look. Wiretape looks every millisecond until nothing more arrives.
        var hasHeard = true
        var looks = 0
        let timer: any LoopTimer
        /// All callers that wait for the same moment.
        var done: [() -> Void]

        static let interval: UInt64 = 1_000_000
        static let mostLooks = 50
    }

    /// How far the end of the run is.
    private struct Stopping {
        /// The owner was told that the run is over.
        var isTold = false
        /// Called when no connection is left; nil: nobody has asked the server to stop.
        var whenEmpty: (() -> Void)?
    }

    /// Who is let in, and for how long.
    struct Entrance {
        let access: AccessPolicy
        /// How long clients may keep us waiting, in their time.
        let limits: ClientLimits
        let places: ClientPlaces
        let admission: Admission
        let handshakes: ListenerHandshakes
    }

    /// What the server makes of answers before they leave.
    struct Answers {
        /// The value of `Date`.
        let date: () -> String?
        /// How they lead back to it.
        var leading: ReplayLeading
    }

    /// A server that requests are passed on to, and how streams to it are opened.
    package typealias Way = (upstream: Upstream, connect: (Address, any StreamHandler) -> any ByteStream)

    /// The way to the upstreams.
    struct Passage {
        /// That of the upstream of the tape that the client's listener stands for; nil where none is named. It says why there is none.
        var find: (String?) throws(NetError) -> Way?
        /// Nanoseconds to wait for each address of an upstream.
        let connectTimeout: UInt64
        /// The proxy through which upstreams are reached.
        let via: ViaProxy?
        /// By the names of their upstreams.
        private var dialers: [String: UpstreamDialer] = [:]

        init(connectTimeout: UInt64, via: ViaProxy?, find: @escaping (String?) throws(NetError) -> Way?) {
            self.connectTimeout = connectTimeout
            self.via = via
            self.find = find
        }

        mutating func dialer(to name: String?, on loop: any Loop) throws(NetError) -> UpstreamDialer? {
            guard let way = try find(name) else { return nil }
            if let known = dialers[way.upstream.name] { return known }
            let dialer = UpstreamDialer(loop, way.upstream, via: via, timeout: connectTimeout, connect: way.connect)
            dialers[way.upstream.name] = dialer
            return dialer
        }

        /// Nobody is reached any more.
        func close() {
            for name in dialers.keys.sorted() { dialers[name]?.close() }
        }
    }

    /// What is still to be told or written at the end of this wake-up.
    private struct WakeUp {
        var inbox: [(ConnectionID, ReplayInput)] = []
        /// Connections with something to write or to tell.
        var touched: [ReplayConnection] = []
        /// A client's end that was read in one piece with what it said before.
        var lastWord: (ConnectionID, ClientEnd)?
        var isPumping = false
    }

    /// - Parameters:
    ///   - timeScale: how many times faster than ours the clock of the clients runs. The driver lives by that clock.
    ///   - hasManualClock: it moves by ``advance(by:)`` only.
    ///   - upstream: where ``WiretapeReplay/ReplayAction/passThrough(_:)`` leads, and how streams to it are opened.
    ///   - via: the proxy through which it is reached.
    ///   - access: who is let in.
    ///   - limits: how long clients may keep us waiting, in their time.
    ///   - places: how many there may be.
    ///   - memory: what the clients' connections may hold.
    ///   - leading: how answers lead back that were recorded as they lead away.
    ///   - judgesHandshakes: whether the driver that takes a ``WaitingDriver``'s place has rules about TLS handshakes, which wait
    ///     for it then.
    ///   - date: the value of `Date` in answers; nil leaves it out.
    package init(
        _ loop: any Loop, driver: any ReplayDriver, timeScale: Double = 1, hasManualClock: Bool = false,
        upstream: Way? = nil,
        connectTimeout: UInt64 = RelayOptions.connectTimeout, via: ViaProxy? = nil, access: AccessPolicy = .open,
        limits: ClientLimits = ClientLimits(), places: ClientPlaces = ClientPlaces(),
        memory: MemoryBudget = MemoryBudget(), leading: ReplayLeading = ReplayLeading(), judgesHandshakes: Bool = false,
        date: @escaping () -> String? = { nil }
    ) {
        self.loop = loop
        self.driver = driver
        answers = Answers(date: date, leading: leading)
        self.memory = memory
        passage = Passage(connectTimeout: connectTimeout, via: via) { _ in upstream }
        let clock = ReplayClock(at: loop.now, scale: timeScale, isManual: hasManualClock)
        self.clock = clock
        entrance = Entrance(
            access: access, limits: limits, places: places,
            admission: Admission(loop, limits: limits.converted(clock.loopDuration), places: places),
            handshakes: ListenerHandshakes(areAwaited: judgesHandshakes))
        actual = ActualTape(started: loop.now)
        // Lifetime: the server is kept until it has stopped, and closes its timer then.
        timer = loop.timer { [unowned self] in timerFired() }
    }

    /// What is passed on goes a way that is found when it is asked for.
    /// - Parameter find: for the name of an upstream of the tape; nil where it has one only. Asked for each request.
    package func passOn(_ find: @escaping (String?) throws(NetError) -> Way) { passage.find = find }

    /// Reaches the upstream of the tape that a client's listener stands for.
    func dialer(to name: String?) throws(NetError) -> UpstreamDialer? { try passage.dialer(to: name, on: loop) }

    /// Accepts clients at `address`; port 0 picks one. May be called for several addresses.
    /// - Parameters:
    ///   - name: what the listener's clients go by.
    ///   - upstream: the one of the tape that it stands for.
    ///   - door: nil for clients that speak plain HTTP.
    /// - Returns: where it listens, with the real port.
    package func listen(
        on address: Address, name: String? = nil, upstream: String? = nil, door: TLSDoor? = nil
    ) throws(NetError) -> Address {
        entrance.handshakes.tls.add(door)
        var place = Handshake.Place(name ?? "", to: nil, upstream: upstream)
        let listener = try loop.listen(
            on: address, reusePort: false, door: door, admission: entrance.admission,
            handshakes: WatchedHandshakes(watch: watch) { place }
        ) { [weak self] in
            guard let self, !listeners.isEmpty else { return nil }
            return accept($0, $1, name: name, upstream: upstream)
        }
        place = Handshake.Place(name ?? "", to: listener.address, upstream: upstream)
        listeners.append(listener)
        answers.leading.listens(upstream, at: listener.address)
        arm()
        return listener.address
    }

    /// Accepts clients of a forward proxy at `address`: each gets what was recorded at the host that it names.
    /// - Parameters:
    ///   - scope: which hosts are answered for; the others are tunnelled to.
    ///   - inner: of TLS within the proxy.
    ///   - pressure: of the loop, shared with `unseen`.
    ///   - unseen: relays plain requests to hosts that are not answered for.
    ///   - door: nil for clients that speak plain HTTP to the proxy itself.
    ///   - page: what ``ForwardDoor/magicHost`` answers.
    /// - Returns: where it listens, with the real port.
    package func listenForward(
        on address: Address, scope: ForwardDoor.Scope, inner: TLSDoor, pressure: RelayPressure,
        unseen: ForwardRelays, door: TLSDoor? = nil,
        page: @escaping (RequestHead) -> HTTPAnswer
    ) throws(NetError) -> Address {
        // Lifetime: the server closes its listeners before it goes, and its connections have ended by then.
        let proxy = ForwardDoor(
            loop, scope: scope, inner: inner, admission: entrance.admission, pressure: pressure,
            unseen: unseen,
            connectTimeout: passage.connectTimeout, via: passage.via,
            page: page, say: { [unowned self] in tellRefused($0) }
        ) { [unowned self] stream, seat, target, isTLS in
            accept(stream, seat, name: nil, upstream: target.tapeName(isTLS: isTLS))
        }
        proxy.handshakes = watch
        entrance.handshakes.tls.add(inner)
        let real = try proxy.listen(on: address, reusePort: false, door: door)
        listeners.append(proxy)
        arm()
        return real
    }

    /// Accepts clients whose connections were redirected to `addresses`: each gets what was recorded at the host that it means.
    /// - Parameter inner: of clients that speak TLS.
    /// - Returns: where it listens, with the real ports.
    package func listenTransparent(on addresses: [Address], inner: TLSDoor) throws(NetError) -> [Address] {
        // Lifetime: as that of a forward proxy.
        let door = TransparentDoor(
            loop, inner: inner, admission: entrance.admission, own: nil, say: { [unowned self] in log($0) }
        ) { [unowned self] stream, seat, to in
            accept(stream, seat, name: nil, upstream: to.name)
        }
        door.handshakes = watch
        entrance.handshakes.tls.add(inner)
        var real: [Address] = []
        for address in addresses { real.append(try door.listen(on: address, reusePort: false)) }
        listeners.append(door)
        arm()
        return real
    }

    /// The tape was read: `driver` takes the place of the ``WaitingDriver`` that the server was made with, and hears what
    /// clients have said meanwhile.
    package func begin(_ driver: any ReplayDriver) {
        guard let waiting = self.driver as? WaitingDriver else { return }
        self.driver = driver
        if news != nil { self.driver.follow() }
        waiting.tell(&self.driver, into: &actions)
        pump()
        entrance.handshakes.watch?.goOn()
    }

    /// Hears of the TLS handshakes of all listeners.
    private var watch: ReplayHandshakes {
        let watch = entrance.handshakes.watch ?? ReplayHandshakes(self)
        entrance.handshakes.watch = watch
        return watch
    }

    /// Why rules about TLS handshakes could not be carried out here; nil when they could.
    package func problemOfTLS(_ plan: FaultPlan) -> PlanError? { entrance.handshakes.tls.problem(of: plan) }

    /// Whether the tape is still being read.
    var isReading: Bool { driver is WaitingDriver }

    /// Whether rules may have something to say to TLS handshakes.
    var mayJudgeHandshakes: Bool {
        isReading ? entrance.handshakes.areAwaited : (driver as? ReplayEngine)?.judgesHandshakes ?? false
    }

    /// Calls `accept` for a client to whose TLS handshake rules had something to say.
    func within(_ hits: [FaultHit], _ accept: () -> any StreamHandler) -> any StreamHandler {
        entrance.handshakes.hits = hits
        defer { entrance.handshakes.hits = [] }
        return accept()
    }

    /// Client connections that are open.
    package var count: Int { clients.count }

    /// Nanoseconds of the clients' time since the server was made.
    package var elapsed: UInt64 { now.since(actual.started) }

    /// The time of the clients.
    package var now: WireInstant { clock.time(at: loop.now) }

    /// Moves a manual clock forward by so many nanoseconds. What falls due on the way happens at its own time, in order;
    /// what clients say to it comes later, after the whole move.
    package func advance(by nanoseconds: UInt64) {
        let target = now.advanced(by: nanoseconds)
        while let next = driver.nextWake, next <= target, next > now {
            clock.advance(to: next)
            driver.wake(at: now, into: &actions)
            pump()
        }
        clock.advance(to: target)
        driver.wake(at: now, into: &actions)
        pump()
    }

    /// Lets the clients' clock run from where it stands, or stops it there.
    package func setClock(isManual: Bool) {
        clock.set(isManual: isManual, at: loop.now)
        _ = consult { engine, now, out in
            engine.setClock(isManual: isManual)
            engine.wake(at: now, into: &out)
        }
    }

    /// Says something on the tape of the run.
    package func mark(_ text: String) { note(0, .mark(text)) }

    /// Under `--speed step`: lets so many more messages leave.
    /// - Parameter session: the number of a recorded session; nil: every claimed one.
    package func step(_ count: Int, session: Int? = nil) {
        driver.step(count, session: session, at: now, into: &actions)
        pump()
    }

    /// Lets `body` ask or change the engine between two inputs. What it wants done is done before this returns.
    /// - Returns: nil while the tape is still being read.
    package func consult<R>(
        _ body: (inout ReplayEngine, _ now: WireInstant, inout [ReplayAction]) -> R
    ) -> R? {
        guard var engine = driver as? ReplayEngine else { return nil }
        let result = body(&engine, now, &actions)
        driver = engine
        pump()
        return result
    }

    /// Has ``ended`` called when the run is over by `--until` the next time, also when it was before.
    package func awaitEnd() {
        guard stopping.whenEmpty == nil else { return }
        stopping.isTold = false
        arm()
    }

    /// Reads what has arrived from clients by now, and calls `done`: it belongs to the run. A client's FIN that came a moment before the run
    /// is judged is its end. What falls due meanwhile is not sent. A server that is stopping reads nothing more: `done` is called at once.
    package func settle(_ done: @escaping () -> Void) {
        guard stopping.whenEmpty == nil else { return done() }
        guard settling == nil else {
            settling?.done.append(done)
            return
        }
        // Lifetime: it is closed when it has looked often enough, and keeps the server until then.
        let timer = loop.timer { [self] in lookOnce() }
        settling = Settling(timer: timer, done: [done])
        lookAgain()
    }

    private func lookAgain() {
        for client in clients.all { client.lookForEnd() }
        timer?.cancel()
        settling?.timer.arm(at: loop.now.advanced(by: Settling.interval))
    }

    private func lookOnce() {
        guard var settling else { return }
        settling.looks += 1
        let goesOn = settling.looks < 2 || settling.hasHeard || clients.all.contains(where: \.isHalfDelivered)
        settling.hasHeard = false
        self.settling = settling
        guard !goesOn || settling.looks >= Settling.mostLooks else { return lookAgain() }
        self.settling = nil
        settling.timer.close()
        for done in settling.done { done() }
    }

    /// What the run has come to so far. The driver is not asked anything afterwards but how to end connections.
    /// - Parameter clientsAreGone: nothing more would have come, however long the run had lasted.
    package func report(clientsAreGone: Bool = false) -> ReplayReport {
        var report = driver.finish(at: now, clientsAreGone: clientsAreGone)
        tellNews()
        // Whoever was sent away may have been a client that the run is about.
        if report.failure == nil, let summary = entrance.places.summary {
            report.failure = ReplayReport.Failure(exitCode: 1, reason: summary)
        }
        return report
    }

    /// A text of the report without secrets.
    package func masked(_ text: String) -> String { driver.masked(text) }

    /// Stops accepting, ends all connections in order (WebSockets with 1001), aborts after `grace` nanoseconds those that
    /// do not end. `done` is called when none is left; never before this call returns.
    package func stop(grace: UInt64 = 500_000_000, _ done: @escaping () -> Void) {
        for listener in listeners { listener.close() }
        listeners = []
        entrance.handshakes.watch?.close()
        stopping.isTold = true
        stopping.whenEmpty = done
        for client in clients.all { client.goAway() }
        pump()
        timer?.arm(at: clients.isEmpty ? loop.now : loop.now.advanced(by: grace))
    }

    private func accept(
        _ stream: any ByteStream, _ seat: Seat?, name: String?, upstream: String?
    ) -> any StreamHandler {
        let connection = ReplayConnection(self, clients.takeNumber(), stream, upstream: upstream)
        connection.seat = seat
        clients.add(connection)
        let to = listeners.count == 1 ? listeners[0].address.description : nil
        note(
            connection.id,
            .open(
                .init(
                    from: stream.peer?.description, to: to, upstream: upstream, tls: (stream as? TLSStream)?.told,
                    session: name)))
        noteHandshake(entrance.handshakes.hits, on: connection.id)
        stream.isReading = true
        seat?.sit(connection, .silent, at: loop.now)
        lookForEnds()
        driver.opened(connection.id, from: stream.peer, name: name, upstream: upstream, at: now, into: &actions)
        // What is to be done at once would come from within the loop's call: it is done at the end of it.
        if actions.isEmpty { arm() } else { pump() }
        return connection
    }

    /// Checks stalled clients for their FIN. A client that reconnects may have closed its stalled connection just before.
    private func lookForEnds() {
        guard hasStalled else { return }
        for client in clients.all where client.isUnread { client.lookForEnd() }
    }

    /// What the connection asked was answered already, and is not to be kept for a driver that has not begun.
    func forgetBodies(of connection: ReplayConnection) {
        guard var waiting = driver as? WaitingDriver else { return }
        waiting.forgetBodies(of: connection.id)
        driver = waiting
    }

    func remove(_ connection: ReplayConnection) {
        clients.remove(connection)
        if clients.isEmpty, stopping.whenEmpty != nil { timer?.arm(at: loop.now) }
    }

    // MARK: The way of an input

    func tell(_ connection: ReplayConnection, _ input: ReplayInput) {
        wakeup.inbox.append((connection.id, input))
    }

    /// `connection` has something to write or to tell.
    func touch(_ connection: ReplayConnection) {
        settling?.hasHeard = true
        if !connection.isTouched {
            connection.isTouched = true
            wakeup.touched.append(connection)
        }
    }

    /// Tells the driver what has come, one thing at a time, and does what it says before the next; then writes what has
    /// gathered: several messages of one wake-up leave in one write.
    func pump() {
        guard !wakeup.isPumping else { return }
        wakeup.isPumping = true
        while true {
            if !actions.isEmpty {
                let batch = actions
                actions = []
                for action in batch { carryOut(action) }
            } else if !wakeup.inbox.isEmpty {
                let (id, input) = wakeup.inbox.removeFirst()
                feed(id, input)
            } else if let (id, how) = wakeup.lastWord {
                wakeup.lastWord = nil
                driver.clientClosed(id, how, at: now, into: &actions)
            } else if let connection = wakeup.touched.first {
                switch connection.tellNext(to: &driver, at: now, into: &actions) {
                case .something: break
                case .end(let how):
                    // The answers to what it said before are the kernel's first: they count as sent.
                    connection.flush()
                    wakeup.lastWord = (connection.id, how)
                case .nothing:
                    wakeup.touched.removeFirst()
                    connection.isTouched = false
                    connection.flush()
                }
            } else {
                break
            }
        }
        wakeup.isPumping = false
        tellNews()
        arm()
    }

    private func tellNews() {
        guard let news else { return }
        let told = driver.takeNews()
        if !told.isEmpty { news(told) }
    }

    private func feed(_ c: ConnectionID, _ input: ReplayInput) {
        switch input {
        case .handedOver(let ticket): driver.handedOver(c, ticket: ticket, at: now, into: &actions)
        case .closed(let how): driver.clientClosed(c, how, at: now, into: &actions)
        case .leftSilently(let how): driver.clientLeftSilently(c, how, at: now)
        case .acknowledged(let ticket, let complete):
            driver.acknowledged(c, ticket: ticket, complete: complete, at: now, into: &actions)
        }
    }

    /// Each reason once, and not more than a person reads.
    func tellRefused(_ why: String) {
        if refusals.count < 16, refusals.insert(why).inserted { log(why) }
    }

    private func carryOut(_ action: ReplayAction) {
        switch clients.carryOut(driver.spoken(action)) {
        case .gone(let c, let ticket): wakeup.inbox.append((c, .acknowledged(ticket, complete: false)))
        case .note(let c, .fault(let fault)):
            note(c, .fault(rule: fault.rule, action: fault.action, reference: nil, delivered: nil, line: fault.line))
        case .note(let c, .carries(let session, let run, let policy)):
            note(c, .mark(PlayedMark(connection: c, session: session, run: run, policy: policy).text))
        case .log(let line): log(line)
        case nil: break
        }
    }

    // MARK: Time

    private func timerFired() {
        if stopping.whenEmpty != nil {
            for client in clients.all { client.abort() }
            guard clients.isEmpty else { return }
            timer?.close()
            timer = nil
            entrance.admission.close()
            passage.close()
            let done = stopping.whenEmpty
            stopping.whenEmpty = nil
            done?()
            return
        }
        if driver.shouldEnd, !stopping.isTold {
            stopping.isTold = true
            ended?()
            return
        }
        driver.wake(at: now, into: &actions)
        pump()
    }

    private func arm() {
        guard stopping.whenEmpty == nil, settling == nil else { return }
        if driver.shouldEnd, !stopping.isTold {
            timer?.arm(at: loop.now)
        } else if let next = driver.nextWake, let at = clock.loopTime(of: next, now: loop.now) {
            timer?.arm(at: at)
        } else {
            timer?.cancel()
        }
    }

    // MARK: The actual tape

    /// - Returns: the event's number; nil when nobody listens.
    @discardableResult
    func note(_ c: ConnectionID, _ kind: @autoclosure () -> TapeEvent.Kind) -> UInt64? {
        guard let observe else { return nil }
        observe(TapeEvent(time: now.since(actual.started), connection: c, kind()))
        actual.events += 1
        return actual.events
    }
}
