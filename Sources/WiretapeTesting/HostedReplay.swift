internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeTLS
internal import WiretapeTape
internal import WiretapeWire

/// A replay on the shared loop with what its test has to be told of it: what passed, decoded, and who waits for what. Belongs to
/// the loop's thread.
final class HostedReplay {
    /// Somebody who waits for something to have happened.
    private struct Waiter {
        /// True when it has, and whoever waits was told.
        var look: (HostedReplay) -> Bool
        /// Tells that it did not come in time, or is not wanted any more.
        var give: (HostedReplay, _ isCancelled: Bool) -> Void
        var timer: any LoopTimer
    }

    /// A message that passed.
    struct Seen {
        /// Nanoseconds of the client's time since the server was made.
        var time: UInt64
        var message: Message
        var transport: Transport
        var connection: UInt32
        /// Which session of the tape its connection carried; nil: none that is known.
        var mark: PlayedMark?
    }

    private struct Begun {
        var session: Int
        var run: Int
        var number: Int
        /// Nanoseconds of the client's time since the first thing that a client did.
        var time: UInt64
    }

    let server: ReplayService
    let loop: UVLoop
    private var reader = SessionReader(codecs: Codecs.all, header: TapeHeader(), keepsEntries: false)
    private var events: UInt64 = 0
    /// The first thing that a client did, from which the times of attempts count.
    private var origin: UInt64?
    /// When something passed last, in real time.
    private var latest: WireInstant
    private(set) var seen: [Seen] = []
    private var marks: [UInt32: PlayedMark] = [:]
    private var attempts: [Begun] = []
    /// The texts that people get, in the order in which they came.
    private(set) var divergences: [String] = []
    private(set) var warnings: [String] = []
    private var waiters: [Int: Waiter] = [:]
    private var cancelled: Set<Int> = []
    /// Rings when something has happened that somebody may wait for: never from within a call of the server.
    private var bell: (any LoopTimer)?
    private var isRinging = false
    private(set) var hasEnded = false
    private var hasStopped = false
    /// How many messages of a kind somebody was given by ``next(_:_:)``.
    private var given: [String: Int] = [:]
    /// The tape of the run, where reports are wanted.
    private var actual: RunTape?

    init(_ engine: ReplayEngine, _ options: ReplayOptions, on loop: UVLoop) {
        self.loop = loop
        latest = loop.now
        server = ReplayService(
            loop, driver: engine, timeScale: options.clock.scale, hasManualClock: options.clock.isManual,
            leading: ReplayLeading(.standard, Codecs.all))
        bell = loop.timer { [weak self] in self?.lookAround() }
        server.observe = { [weak self] in self?.passed($0) }
        server.news = { [weak self] in self?.happened($0) }
        server.log = { [weak self] in self?.warnings.append($0) }
        server.ended = { [weak self] in
            self?.hasEnded = true
            self?.ring()
        }
    }

    // MARK: What is told

    /// Writes what passes to a tape of its own. One that cannot be written is no news of the test.
    func record(to place: ReportPlace, of tape: String, _ upstreams: Upstreams) {
        actual = try? RunTape(
            path: place.tape(),
            TapeHeader(ofRun: tape, upstreams, started: SystemClock.rfc3339(SystemClock.wall), tool: "WiretapeTesting"))
    }

    private func passed(_ event: TapeEvent) {
        actual?.append(event)
        latest = loop.now
        if origin == nil { origin = event.time }
        if case .mark(let text) = event.kind, let mark = PlayedMark(text) {
            marks[mark.connection] = mark
            // Whose a request is, is told behind it.
            for i in seen.indices.reversed() {
                guard seen[i].time == event.time else { break }
                if seen[i].connection == mark.connection { seen[i].mark = mark }
            }
        }
        events += 1
        var messages: [DecodedMessage] = []
        reader.read(event, number: events, into: &messages)
        for one in messages {
            seen.append(
                Seen(
                    time: event.time, message: one.message, transport: one.transport, connection: one.connection,
                    mark: marks[one.connection]))
        }
        if case .gone = event.kind { marks[event.connection] = nil }
        ring()
    }

    private func happened(_ news: [RunNews]) {
        for one in news {
            switch one.what {
            case .attempt(let number, _, _):
                attempts.append(Begun(session: one.session, run: one.run, number: number, time: one.time))
            case .divergence(let text): divergences.append(server.masked(text))
            case .connected, .disconnected, .fault, .finished: break
            }
        }
        ring()
    }

    /// The attempt in which the message came, as they are counted while it happens; 0: in none.
    func attempt(of seen: Seen) -> Int {
        guard let mark = seen.mark else { return 0 }
        let time = seen.time - min(seen.time, origin ?? 0)
        return attempts.last { $0.session == mark.session && $0.run == mark.run && $0.time <= time }?.number ?? 0
    }

    // MARK: Who waits

    private func ring() {
        guard !isRinging, !waiters.isEmpty, !hasStopped else { return }
        isRinging = true
        bell?.arm(at: loop.now)
    }

    private func lookAround() {
        isRinging = false
        for id in waiters.keys.sorted() {
            guard let waiter = waiters[id], waiter.look(self) else { continue }
            remove(id)
        }
    }

    /// - Parameters:
    ///   - within: nanoseconds of real time.
    ///   - look: called now, and whenever something has happened, until it says true.
    ///   - give: called instead when the time is over.
    func wait(
        _ id: Int, within: UInt64, _ look: @escaping (HostedReplay) -> Bool,
        give: @escaping (HostedReplay, _ isCancelled: Bool) -> Void
    ) {
        if cancelled.remove(id) != nil { return give(self, true) }
        if look(self) { return }
        if hasStopped { return give(self, false) }
        let timer = loop.timer { [weak self] in self?.end(id, isCancelled: false) }
        timer.arm(at: loop.now.advanced(by: within))
        waiters[id] = Waiter(look: look, give: give, timer: timer)
    }

    func cancel(_ id: Int) {
        if waiters[id] == nil { cancelled.insert(id) } else { end(id, isCancelled: true) }
    }

    private func end(_ id: Int, isCancelled: Bool) {
        let waiter = waiters[id]
        remove(id)
        waiter?.give(self, isCancelled)
    }

    private func remove(_ id: Int) {
        waiters.removeValue(forKey: id)?.timer.close()
    }

    // MARK: What is asked

    /// Whether all of what clients began is played. On a clock that is moved by hand it is quiet behind the last message for
    /// some real time.
    func isFinished() -> Bool {
        if hasEnded { return true }
        let isPlayed = server.consult { engine, now, out in
            engine.wake(at: now, into: &out)
            return engine.isFinished ? true : engine.options.clock.isManual && engine.isPlayed ? false : nil
        }
        guard let isPlayed = isPlayed ?? nil else { return false }
        let quiet = latest.advanced(by: Self.quietTime)
        if isPlayed || quiet <= loop.now { return true }
        bell?.arm(at: quiet)
        return false
    }

    private static let quietTime: UInt64 = 50_000_000

    /// Looks anew whether the run is over.
    func awaitEnd() {
        hasEnded = false
        server.awaitEnd()
    }

    /// The next message of that direction and name that no call before has got.
    func next(_ direction: Direction, _ name: String) -> ReceivedMessage? {
        let key = "\(direction) \(name)"
        var left = given[key, default: 0]
        for one in seen where one.message.direction == direction && one.message.isCalled(name) {
            if left == 0 {
                given[key, default: 0] += 1
                return message(one)
            }
            left -= 1
        }
        return nil
    }

    func message(_ seen: Seen) -> ReceivedMessage {
        ReceivedMessage(
            seen.message, transport: seen.transport.rawValue, attempt: attempt(of: seen),
            session: seen.mark?.session ?? 0,
            time: .nanoseconds(Int64(clamping: seen.time - min(seen.time, origin ?? 0))))
    }

    /// What the run has come to so far.
    func soFar() -> ReplayReport {
        server.consult { engine, now, _ in engine.soFar(at: now) } ?? .empty(seed: 0)
    }

    /// Reads everything that clients have sent by now.
    func settle(_ done: @escaping () -> Void) { server.settle(done) }

    /// What the run has come to. Nothing more is played afterwards.
    /// - Parameter place: where its report goes; nil: nobody wants one.
    func finish(_ place: ReportPlace?) -> RunOutcome {
        let report = server.report(clientsAreGone: true)
        var masked = report.reasons.map(server.masked)
        // What happened in the run has more than one line.
        for text in divergences {
            let first = String(text.prefix { $0 != "\n" })
            if let i = masked.firstIndex(of: first) { masked[i] = text }
        }
        var outcome = RunOutcome(report: report, reasons: masked, text: server.masked(report.text))
        if let place {
            outcome.json = report.json.mappingTexts(server.masked).text
            outcome.html = report.html(of: place.title, command: place.command, masked: server.masked)
        }
        return outcome
    }

    /// Ends all connections. `done` is called when none is left; at once, the second time.
    func stop(_ done: @escaping () -> Void) {
        guard !hasStopped else { return done() }
        hasStopped = true
        for id in waiters.keys.sorted() { end(id, isCancelled: false) }
        bell?.close()
        bell = nil
        server.stop(grace: 100_000_000) { [actual] in
            try? actual?.finish()
            done()
        }
    }
}

/// What a run came to.
struct RunOutcome: Sendable {
    var report: ReplayReport
    /// What speaks against a pass, without secrets.
    var reasons: [String]
    /// The report for people, without secrets.
    var text: String
    /// The report for machines, without secrets; empty when nobody wants it.
    var json = ""
    /// The report as a page, without secrets; empty when nobody wants it.
    var html = ""
    /// Where that was written, as a line behind a report; empty when nowhere.
    var written = ""
}

extension Message {
    /// Whether people call it so: by its label, its type or its channel.
    func isCalled(_ name: String) -> Bool { label == name || type == name || channel == name }
}
