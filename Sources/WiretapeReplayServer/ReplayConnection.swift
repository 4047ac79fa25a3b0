internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeRuntime
internal import WiretapeWire

/// One client of the replay server: what its stream says goes to the server's end of HTTP and WebSockets, and the events of that to the driver.
/// What the driver says to the client stands in `ReplayClients.swift`. It keeps two deadlines: the client's answer to a close frame, the client's FIN.
final class ReplayConnection: StreamHandler {
    /// How long a client may take to answer a close frame, or our FIN, in nanoseconds.
    static let patience: UInt64 = 5_000_000_000
    /// Queued bytes above which nothing that makes more is read.
    static let mostQueued = 64 << 10

    let id: ConnectionID
    var isTouched = false
    let server: ReplayService
    let stream: any ByteStream
    /// The one of the tape that its listener stands for.
    let upstream: String?
    /// Nil where nobody is limited.
    var seat: Seat?
    var endpoint = ServerEndpoint()
    /// What leaves, later or more slowly where rules want it so.
    var output = ReplayOutput()
    var ruled = RuledTraffic()
    /// The request that is owed an answer, and the way to the upstream once it was given there.
    var asked: (head: RequestHead, body: [UInt8])?
    private var passage: ReplayPassage?
    private var timer: (any LoopTimer)?
    /// What rules did on it that the actual tape has not told yet.
    var accounts = FaultAccounts()
    /// Exchanges so far, for the actual tape.
    var exchange: UInt32 = 0
    /// Input waits until what was said is written.
    private var isHeldBack = false
    var ends = Ends()
    private var hold: MemoryHold?

    /// What rules want of a connection beyond what its bytes leave through.
    struct RuledTraffic: ~Copyable {
        /// The client is not read.
        var isDeaf = false
        /// Bytes received during the stall. Nil if Wiretape reads nothing from the socket.
        var silent: SilentInput?
        /// When to look for the end of a client that is not read.
        var nextPeek: WireInstant?
    }

    /// The ends of a connection: ours, the client's, and how long they are waited for.
    struct Ends {
        var wantsFIN = false
        var sentFIN = false
        var sawFIN = false
        var isGone = false
        /// The driver was told of the client's FIN while an answer was owed. It hears of the stream's end as well.
        var toldFIN = false
        /// Whose end came first, for the actual tape.
        private(set) var first: TapeEvent.Party?
        /// When to stop waiting for the client's close frame or FIN.
        var by: WireInstant?
        /// What was queued for the client when that was asked last.
        var queuedAtLast = Int.max

        /// Ours or the client's is on its way.
        var isLeaving: Bool { wantsFIN || sentFIN || sawFIN || by != nil }

        mutating func begin(_ party: TapeEvent.Party) { first = first ?? party }
    }

    init(_ server: ReplayService, _ id: ConnectionID, _ stream: any ByteStream, upstream: String?) {
        self.server = server
        self.id = id
        self.stream = stream
        self.upstream = upstream
        // Lifetime: the budget forgets it when nothing is held any more, which `ended` says.
        hold = server.memory.hold { [unowned self] in refuseForMemory() }
    }

    // MARK: The stream

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        if let passage {
            passage.fromClient(bytes)
            return passageMoved()
        }
        if ruled.silent != nil { return receivedInSilence(bytes) }
        endpoint.writer.isCongested = stream.queued > Self.mostQueued
        endpoint.room = hold?.room ?? .max
        endpoint.received(bytes)
        server.touch(self)
        server.pump()
        seat?.restart(.body, at: server.loop.now)
    }

    func receivedEnd() {
        ends.sawFIN = true
        ends.begin(.client)
        if let passage { return passage.clientEnded() }
        endpoint.receivedEnd()
        server.touch(self)
        server.pump()
        expectOwnEnd()
    }

    /// The client's end is known though what it said before is not read.
    func noticeEnd() {
        ends.sawFIN = true
        ends.begin(.client)
        endpoint.receivedEnd()
        expectOwnEnd()
        server.touch(self)
    }

    /// Limits the time until Wiretape's own FIN, unless a response is still due.
    private func expectOwnEnd() {
        guard !ends.isGone, ends.by == nil, !endpoint.writer.owesAnswer, !endpoint.writer.isStreaming else { return }
        setEnd()
        arm()
    }

    func drained() {
        if let passage { return passage.clientDrained() }
        endpoint.writer.isCongested = false
        server.touch(self)
        server.pump()
    }

    func ended(_ how: StreamEnd) {
        ends.isGone = true
        passage?.abandon()
        passage = nil
        timer?.close()
        timer = nil
        let (end, kind, why) = Self.meaning(how)
        noteGone(kind, why)
        endpoint.lost(end)
        for input in output.giveUp() { server.tell(self, input) }
        if ends.toldFIN { server.tell(self, .closed(end)) }
        asked = nil
        hold?.set(0)
        seat?.leave()
        server.remove(self)
        server.touch(self)
        server.pump()
    }

    private static func meaning(_ how: StreamEnd) -> (ClientEnd, TapeEvent.How, String?) {
        switch how {
        case .closed: (.fin, .fin, nil)
        case .reset: (.rst("connection reset by peer"), .rst, nil)
        case .aborted: (.rst("reset by the replay"), .rst, nil)
        case .failed(let text): (.rst(text), .error, text)
        }
    }

    // MARK: Who is let in

    /// Answers a request that is not let in, and ends the connection.
    /// - Returns: why it was not; nil when it is let in.
    private func refuse(_ head: RequestHead) -> String? {
        guard let refusal = server.entrance.access.refusal(head, judgesOrigin: true) else { return nil }
        let body = Array("wiretape: \(refusal.reason)\n".utf8)
        let fields = [HeaderField("Content-Type", "text/plain; charset=utf-8")]
        respond(HTTPAnswer(status: 403, headers: fields, body: body), thenClose: true, nil)
        return refusal.reason
    }

    // MARK: The end

    /// The server stops.
    func goAway() {
        if let passage {
            passage.abandon()
            return abort()
        }
        if endpoint.writer.isOpenWebSocket { close(1001, "the replay ends") } else { disconnect() }
    }

    func abort() {
        if !ends.isGone { stream.reset() }
    }

    // MARK: The upstream

    /// Gives the request that is owed an answer, and the connection with it, to the upstream.
    func passThrough() {
        guard endpoint.writer.owesAnswer, let asked else { return }
        let dialer: UpstreamDialer
        do throws(NetError) {
            guard let found = try server.dialer(to: upstream) else { return refuse(502, "no upstream is named") }
            dialer = found
        } catch {
            return refuse(502, error.reason)
        }
        write()
        let passage = ReplayPassage(self, dialer, asked.head, asked.body, early: endpoint.handOn())
        self.passage = passage
        self.asked = nil
        ends.by = nil
        seat?.move(to: .busy, at: server.loop.now)
        if ends.sawFIN { passage.clientEnded() }
        passage.begin()
        passageMoved()
    }

    private func refuse(_ status: Int, _ why: String) {
        respond(HTTPAnswer(status: status, body: Array("wiretape: \(why)\n".utf8)), thenClose: true, nil)
    }

    /// - Returns: false when no more is wanted for now.
    func fromUpstream(_ bytes: Span<UInt8>) -> Bool {
        guard !ends.isGone else { return true }
        stream.write(bytes)
        return stream.queued <= Self.mostQueued
    }

    func upstreamEnded() {
        guard !ends.isGone, !ends.sentFIN else { return }
        ends.sentFIN = true
        ends.begin(.server)
        stream.halfClose()
        // Its FIN is still to come.
        if !ends.sawFIN { stream.isReading = true }
        setEnd()
        arm()
    }

    func upstreamFailed(_ words: [UInt8], _ status: Int) {
        guard !ends.isGone else { return }
        noteOwnAnswer(status)
        stream.write(words.span)
        upstreamEnded()
    }

    /// Whether the upstream answers this client.
    var isPassedOn: Bool { passage != nil }

    /// The client is read as fast as the upstream takes it.
    func passageMoved() {
        guard let passage, !ends.isGone, !ends.sawFIN else { return }
        if stream.isReading != passage.wantsMore { stream.isReading = passage.wantsMore }
    }

    // MARK: A wake-up

    /// What came of asking for the next thing that the client said.
    enum Told {
        case something
        /// The client has ended, which is not told yet: the answers to what it said before come first.
        case end(ClientEnd)
        case nothing
    }

    /// Tells the driver the next thing that the client said.
    func tellNext(to driver: inout any ReplayDriver, at now: WireInstant, into actions: inout [ReplayAction]) -> Told {
        // Answers to one piece of many small requests must not pile up: they are written first.
        isHeldBack = !ends.isGone && endpoint.writer.outputCount + output.count + stream.queued > queueLimit
        guard !isHeldBack, let event = endpoint.next() else { return .nothing }
        hear(event)
        switch event {
        case .request(let head, let body, _):
            if let why = refuse(head) {
                server.tellRefused(why)
            } else {
                driver.request(id, head, body: body, at: now, into: &actions)
            }
        case .message(let opcode, let payload, _): driver.message(id, opcode, payload.span, at: now, into: &actions)
        case .ping: driver.controlFrame(id, isPing: true, at: now)
        case .pong: driver.controlFrame(id, isPing: false, at: now)
        case .ended(let how):
            if how == .fin {
                ends.toldFIN = endpoint.writer.owesAnswer || endpoint.writer.isStreaming
                if ends.isGone { server.tell(self, .closed(how)) }
            }
            return .end(how)
        case .refused(nil, let answer):
            let reason = String(decoding: answer.body, as: UTF8.self).trimmingPrefix("wiretape: ").prefix { $0 != "\n" }
            if let words = HTTPFault(answer.status, String(reason)).otherProtocol { server.tellRefused(words) }
        case .refused: break
        case .finish: ends.wantsFIN = true
        }
        return .something
    }

    /// What is queued before nothing more is read. An event stream makes no output of what its client says, and its end must
    /// be heard; of a WebSocket's messages only those that are refused do.
    private var queueLimit: Int {
        if endpoint.writer.isStreaming { return .max }
        return endpoint.writer.isHTTP ? Self.mostQueued : Self.mostQueued << 4
    }

    /// Says what is held of the client's, and for it.
    func account() {
        guard !ends.isGone else { return }
        // What was asked is wanted until it is answered.
        if !endpoint.writer.owesAnswer { asked?.body = [] }
        hold?.set(
            endpoint.heldCount + (ruled.silent?.count ?? 0) + output.count + stream.queued + (asked?.body.count ?? 0))
    }

    /// It holds more than any other, and all of them too much.
    private func refuseForMemory() {
        guard !ends.isGone else { return }
        // A client that does not read what is queued for it would not read a refusal either.
        guard stream.queued + output.count <= endpoint.heldCount + (asked?.body.count ?? 0) else {
            return stream.reset()
        }
        if endpoint.writer.owesAnswer {
            server.forgetBodies(of: self)
            let body = Array("wiretape: \(MemoryBudget.reason)\n".utf8)
            respond(HTTPAnswer(status: 503, body: body), thenClose: true, nil)
        } else {
            if endpoint.writer.isOpenWebSocket { note(.close(.toClient, code: 1009, reason: MemoryBudget.reason)) }
            endpoint.refuse(MemoryBudget.reason)
        }
        account()
        server.touch(self)
    }

    /// What comes after a wake-up in which everything was written.
    func goOn() {
        // Else `drained` goes on.
        let isFull = stream.queued + output.count > queueLimit
        if isHeldBack, !isFull { server.touch(self) }
        let reads = endpoint.pendingCount <= Self.mostQueued && !isFull && !isUnread
        if !ends.sawFIN, stream.isReading != reads {
            stream.isReading = reads
            if reads { seat?.restart(phase, at: server.loop.now) }
        }
        seat?.move(to: phase, at: server.loop.now)
        arm()
    }

    // MARK: Time

    /// Our end or the client's is on its way.
    var isLeaving: Bool { ends.isLeaving }

    func setEnd() {
        ends.by = server.loop.now.advanced(by: Self.patience)
        ends.queuedAtLast = .max
    }

    private func arm() {
        let next = [ends.by, ruled.nextPeek, output.nextWake(after: server.loop.now)].compactMap(\.self).min()
        guard let next else {
            timer?.cancel()
            return
        }
        // Lifetime: `ended` closes it; the stream keeps the connection until then.
        if timer == nil { timer = server.loop.timer { [unowned self] in timerFired() } }
        timer?.arm(at: next)
    }

    private func timerFired() {
        if let end = ends.by, end <= server.loop.now { waitedLong() }
        if !ends.isGone { peek() }
        server.touch(self)
        server.pump()
    }

    /// The client did not answer our close frame or FIN. A close frame is followed by FIN, a FIN by RST, unless the client
    /// still takes what is queued for it.
    private func waitedLong() {
        let queued = stream.queued + output.count
        if queued > 0, queued < ends.queuedAtLast, !output.isStopped {
            setEnd()
            ends.queuedAtLast = queued
        } else if ends.sentFIN || output.isStopped || ruled.isDeaf || ends.wantsFIN && queued == 0 {
            ends.by = nil
            stream.reset()
        } else {
            disconnect()
        }
    }
}
