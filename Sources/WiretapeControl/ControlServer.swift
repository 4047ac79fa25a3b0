internal import WiretapeBytes
internal import WiretapeReport
package import WiretapeRuntime
internal import WiretapeWire

/// The control API of a process: HTTP on a listener of its own, for the runs of one loop. It looks at them and acts on them between
/// two of the loop's calls, so what it says is true at one moment, and nothing of a run waits for it.
///
/// Memory: 1 MiB a request, 64 KiB a connection that is written to, what ``RunJournal`` keeps for all subscribers together.
package final class ControlServer {
    /// Most bytes of a request's body.
    package static let mostBody = 1 << 20
    /// Open connections beyond which new ones are refused.
    package let mostConnections: Int

    let loop: any Loop
    let access: ControlAccess
    /// The run that is meant when a request names none, and those that requests have made.
    private(set) var runs: [Int: any ControlledRun] = [:]
    /// Runs that are ending, and those that have ended since the last look.
    private var ending: [Int: any ControlledRun] = [:]
    private var ended: Set<Int> = []
    private let maker: (any RunMaker)?
    private var listener: (any Listener)?
    private var connections: [Int: ControlConnection] = [:]
    private var nextConnection = 1
    private var nextRun = 1
    // Lifetime: the server closes it when it has stopped.
    private lazy var feed = SubscriberFeed(loop) { [unowned self] in tell($0) }
    /// Requests that wait, by their connections.
    private var waiting: [Int: PendingWait] = [:]
    private var bell: (any LoopTimer)?
    private var isRinging = false
    private var sweeper: (any LoopTimer)?
    private var isSweepArmed = false
    private var whenEmpty: (() -> Void)?
    /// Events that subscribers did not read in time.
    var dropped: UInt64 { feed.dropped }
    private(set) var requests: UInt64 = 0
    var observed = ObservedEvents()

    /// Runs of a process.
    private static let mostRuns = 256
    private static let sweepTime: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - maker: makes further runs; nil: there are none.
    ///   - mostConnections: each takes a descriptor.
    package init(
        _ loop: any Loop, access: ControlAccess, maker: (any RunMaker)? = nil, mostConnections: Int = 2_048
    ) {
        self.loop = loop
        self.access = access
        self.maker = maker
        self.mostConnections = max(4, mostConnections)
        // Lifetime: the server is kept until it has stopped, and closes its timers then.
        bell = loop.timer { [unowned self] in
            isRinging = false
            lookAround()
        }
        // Lifetime: as above.
        sweeper = loop.timer { [unowned self] in sweep() }
    }

    /// Accepts programs at `address`; port 0 picks one.
    /// - Returns: where it listens, with the real port.
    package func listen(on address: Address) throws(NetError) -> Address {
        // Lifetime: `stop()` closes the listener before the server goes.
        let listener = try loop.listen(on: address, reusePort: false) { [unowned self] in accept($0) }
        self.listener = listener
        return listener.address
    }

    /// Adds a run.
    /// - Returns: its number: 1 for the first.
    @discardableResult package func add(_ run: any ControlledRun) -> Int {
        let number = nextRun
        nextRun += 1
        runs[number] = run
        run.journal.happened = { [weak self] in self?.ring() }
        return number
    }

    /// The run that is meant when a request names none.
    package var firstRun: (any ControlledRun)? { runs[1] }

    /// Ends all runs but the first, and all connections; `done` is called when none is left, never before this call returns.
    package func stop(_ done: @escaping () -> Void) {
        listener?.close()
        listener = nil
        for id in waiting.keys.sorted() { giveUp(id, ControlError(503, "the run ends")) }
        feed.tellAll()
        var open = 1
        let one = { [weak self] in
            open -= 1
            guard open == 0, let self else { return }
            whenEmpty = done
            for id in self.connections.keys.sorted() { self.connections[id]?.goAway() }
            sweeper?.arm(at: loop.now.advanced(by: self.connections.isEmpty ? 0 : 300_000_000))
        }
        for (number, run) in runs where number != 1 {
            open += 1
            run.stop { _ in one() }
        }
        one()
    }

    // MARK: Connections

    /// Open connections, and those of them that are subscribed to events.
    var counts: (connections: Int, subscribers: Int) {
        (connections.count, connections.values.count { $0.subscription != nil })
    }

    private func accept(_ stream: any ByteStream) -> any StreamHandler {
        let id = nextConnection
        nextConnection += 1
        let connection = ControlConnection(self, id, stream)
        sweepLater()
        let isFull = connections.count >= mostConnections
        connections[id] = connection
        if isFull { connection.refuse("all \(mostConnections) connections of the control API are taken") }
        stream.isReading = true
        return connection
    }

    func remove(_ connection: ControlConnection) {
        connections[connection.id] = nil
        feed.remove(connection.id)
        drop(connection.id)
        if connections.isEmpty, whenEmpty != nil { sweeper?.arm(at: loop.now) }
    }

    private func sweepLater() {
        guard !isSweepArmed, whenEmpty == nil else { return }
        isSweepArmed = true
        sweeper?.arm(at: loop.now.advanced(by: Self.sweepTime))
    }

    private func sweep() {
        isSweepArmed = false
        let now = loop.now
        for number in ended { ending[number] = nil }
        ended = []
        if let done = whenEmpty {
            for id in connections.keys.sorted() { connections[id]?.abort() }
            guard connections.isEmpty else { return }
            whenEmpty = nil
            feed.close()
            bell?.close()
            sweeper?.close()
            (bell, sweeper) = (nil, nil)
            return done()
        }
        for id in connections.keys.sorted() { connections[id]?.tend(at: now) }
        if !connections.isEmpty { sweepLater() }
    }

    // MARK: Subscribers

    /// The connection's subscriber can take more.
    func isReady(_ connection: ControlConnection) { feed.isReady(connection.id) }

    private func ring() {
        feed.ring()
        guard !isRinging, !waiting.isEmpty, let bell else { return }
        isRinging = true
        bell.arm(at: loop.now)
    }

    private func tell(_ id: Int) -> ControlConnection.Fed? {
        guard let connection = connections[id], let subscription = connection.subscription else { return nil }
        guard let run = runs[subscription.run] else {
            // Its run is over.
            connection.endEvents()
            return nil
        }
        return connection.feed(from: run.journal)
    }

    // MARK: Requests

    /// Answers a request, now or later.
    func handle(_ head: RequestHead, _ body: [UInt8], on connection: ControlConnection) {
        requests += 1
        let found = ControlOperation.find(head.method, head.path)
        let isOpen = if case .operation(let operation, _) = found { operation.isOpen } else { false }
        if let refusal = access.refusal(head, isOpen: isOpen || head.method == "OPTIONS") {
            return connection.answer(
                refusal, extra: refusal.status == 401 ? [HeaderField("WWW-Authenticate", "Bearer")] : [])
        }
        switch found {
        case .nothing:
            connection.answer(
                .unknown("there is no \(Summary.line(head.path)) in this API; docs/openapi.json lists what there is"))
        case .otherMethods(let methods):
            let allow = HeaderField("Allow", methods.joined(separator: ", "))
            if head.method == "OPTIONS" { return connection.allow(allow, head) }
            connection.answer(
                ControlError(405, "\(Summary.line(head.path)) has \(methods.joined(separator: ", ")) only"),
                extra: [allow])
        case .operation(let operation, let names):
            do throws(ControlError) {
                let request = try ControlRequest(operation, names, head, body)
                connection.answer(try perform(request, on: connection), isHead: head.method == "HEAD")
            } catch {
                connection.answer(error)
            }
        }
    }

    /// The run that a request is about.
    func run(of request: ControlRequest) throws(ControlError) -> (number: Int, run: any ControlledRun) {
        let number = try request.queryNumber("run").map { Int(clamping: $0) } ?? 1
        guard let run = runs[number] else { throw .unknown("there is no run \(number)") }
        return (number, run)
    }

    // MARK: Further runs

    func make(_ order: RunOrder, on connection: ControlConnection) throws(ControlError) {
        guard let maker else { throw .conflict("this process makes no further runs") }
        // A page of loopback is any program's: it may look, and not make files.
        guard !connection.isOfPage || access.hasToken else {
            throw ControlError(403, "a page starts runs only where --control-token is set")
        }
        guard runs.count < Self.mostRuns else { throw .conflict("there are \(Self.mostRuns) runs already") }
        let id = connection.id
        try maker.make(order, on: loop) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let run):
                let number = add(run)
                run.journal.ready(run.place)
                guard let connection = connections[id] else { return }
                connection.answer(.json(summary(number, run), status: 201), isHead: false)
                connection.pump()
            case .failure(let error):
                connections[id]?.answer(error)
                connections[id]?.pump()
            }
        }
    }

    /// A run as lists have it.
    func summary(_ number: Int, _ run: any ControlledRun) -> JSONValue {
        .object([.init("id", .number(number)), .init("kind", .string(run.kind.rawValue))] + run.place)
    }

    /// Ends a run that a request has made; its report is the answer.
    func end(_ number: Int, _ kinds: [ControlledRunKind], on connection: ControlConnection) throws(ControlError) {
        guard let run = runs[number], kinds.contains(run.kind) else { throw .unknown("there is no such run \(number)") }
        guard number != 1 else { throw .conflict("run 1 is the command's own: it ends with the command") }
        guard ending[number] == nil else { throw .conflict("run \(number) is ending already") }
        ending[number] = run
        let id = connection.id
        run.settle { [weak self] in self?.end(run, number, for: id) }
    }

    /// Judges and ends a run after everything that its clients sent was read.
    private func end(_ run: any ControlledRun, _ number: Int, for id: Int) {
        let report = run.report()
        let json = report.json.mappingTexts(run.masked)
        run.journal.end(
            [
                .init("verdict", .string(report.verdict.rawValue)), .init("exit", .number(report.exitCode)),
                .init("reason", .string(run.masked(report.summary))), .init("command_exit", .null),
            ], at: run.elapsed)
        feed.tellAll()
        runs[number] = nil
        observed.forget(run: number)
        for (id, wait) in waiting where wait.run == number { giveUp(id, .conflict("run \(number) was ended")) }
        for one in connections.values where one.subscription?.run == number { one.endEvents() }
        run.stop { [weak self] problem in
            // It is let go of when nothing of it is on the stack any more.
            self?.ended.insert(number)
            self?.sweepLater()
            if let problem {
                self?.connections[id]?.answer(.conflict(problem))
            } else {
                self?.connections[id]?.answer(.json(json, status: 200), isHead: false)
            }
            self?.connections[id]?.pump()
        }
    }

    // MARK: Who waits

    /// Answers the connection when what it waits for has happened, or its time is over.
    func wait(_ wait: PendingWait, within time: UInt64, on connection: ControlConnection) {
        let id = connection.id
        // Lifetime: the server closes the timers of all waits before it goes.
        let timer = loop.timer { [unowned self] in timedOut(id) }
        timer.arm(at: loop.now.advanced(by: time))
        var wait = wait
        wait.timer = timer
        waiting[id] = wait
        lookAround()
    }

    private func lookAround() {
        var next: UInt64?
        defer { if let next, !isRinging { bell?.arm(at: loop.now.advanced(by: next)) } }
        for id in waiting.keys.sorted() {
            guard var wait = waiting[id] else { continue }
            guard let run = runs[wait.run] else {
                giveUp(id, .conflict("run \(wait.run) was ended"))
                continue
            }
            let outcome = wait.look(run)
            waiting[id] = wait
            switch outcome {
            case .found(let json): finish(id, .success(json))
            case .never(let error): finish(id, .failure(error))
            case .notYet(let again):
                if let again { next = min(next ?? again, again) }
            }
        }
    }

    private func timedOut(_ id: Int) {
        guard let wait = waiting[id] else { return }
        giveUp(id, ControlError(408, runs[wait.run].map(wait.late) ?? "the time is over"))
    }

    private func giveUp(_ id: Int, _ error: ControlError) { finish(id, .failure(error)) }

    private func finish(_ id: Int, _ result: Result<JSONValue, ControlError>) {
        drop(id)
        guard let connection = connections[id] else { return }
        switch result {
        case .success(let json): connection.answer(.json(json, status: 200), isHead: false)
        case .failure(let error): connection.answer(error)
        }
        connection.pump()
    }

    private func drop(_ id: Int) { waiting.removeValue(forKey: id)?.timer?.close() }
}

/// Makes further runs for ``ControlServer``: it knows tapes and options.
package protocol RunMaker: AnyObject {
    /// - Throws: for what is wrong with the order.
    /// - Parameter done: called once, on the loop's thread, never within this call.
    func make(
        _ order: RunOrder, on loop: any Loop, _ done: @escaping (Result<any ControlledRun, ControlError>) -> Void
    ) throws(ControlError)
}

/// A run as a request wants it.
package struct RunOrder: Sendable {
    package var kind: ControlledRunKind
    /// The tape that is played, or made.
    package var tape: String
    /// Of a recording: whose server.
    package var upstream: String?
    /// Options of `wiretape replay` or `wiretape record` by their names, without the dashes. A switch has no value.
    package var options: [(name: String, value: String?)]
}
