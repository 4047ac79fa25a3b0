internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeRuntime
internal import WiretapeWire

/// One client of the replay server: joins a stream to the server's end of HTTP and WebSockets. It dispatches outcomes and
/// keeps three deadlines: asking for acknowledgements, the client's answer to a close frame, the client's FIN.
final class ReplayConnection: StreamHandler {
    /// How long a client may take to answer a close frame, or our FIN, and how long nothing may be acknowledged.
    static let patience: UInt64 = 5_000_000_000
    static let settleTime: UInt64 = 20_000_000
    /// Queued bytes above which nothing that makes more is read.
    static let mostQueued = 64 << 10

    let id: ConnectionID
    var isTouched = false
    let server: ReplayServer
    let stream: any ByteStream
    /// The one of the tape that its listener stands for.
    private let upstream: String?
    /// Nil where nobody is limited.
    var seat: Seat?
    var endpoint = ServerEndpoint()
    private var watch = DeliveryWatch()
    /// What leaves, later or more slowly where rules want it so.
    var outbound = OutboundQueue()
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
    /// Acknowledged; the client is given a moment to read it.
    private var settling: [(ticket: UInt64, until: WireInstant)] = []
    private var hold: MemoryHold?

    /// What rules want of a connection beyond the pace of its bytes.
    struct RuledTraffic {
        /// Bytes that may still leave; nil: all.
        var budget: Int?
        /// The client is not read.
        var isDeaf = false
        /// When to look for the end of a client that is not read.
        var nextPeek: WireInstant?
    }

    /// The ends of a connection: ours, the client's, and how long they are waited for.
    struct Ends {
        var wantsFIN = false
        var sentFIN = false
        var sawFIN = false
        var isGone = false
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

    init(_ server: ReplayServer, _ id: ConnectionID, _ stream: any ByteStream, upstream: String?) {
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
        endpoint.isCongested = stream.queued > Self.mostQueued
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
        if ends.by == nil { setEnd() }
        server.touch(self)
        server.pump()
    }

    /// The client's end is known though what it said before is not read.
    func noticeEnd() {
        ends.sawFIN = true
        ends.begin(.client)
        endpoint.receivedEnd()
        if ends.by == nil { setEnd() }
        server.touch(self)
    }

    func drained() {
        if let passage { return passage.clientDrained() }
        endpoint.isCongested = false
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
        for (ticket, _) in settling { server.tell(self, .acknowledged(ticket, complete: true)) }
        settling = []
        for (ticket, _) in watch.giveUp() { server.tell(self, .acknowledged(ticket, complete: false)) }
        asked = nil
        outbound.clear()
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
    func refuse(_ head: RequestHead) -> String? {
        guard let refusal = server.entrance.access.refusal(head, judgesOrigin: true) else { return nil }
        let body = Array("wiretape: \(refusal.reason)\n".utf8)
        let fields = [HeaderField("Content-Type", "text/plain; charset=utf-8")]
        respond(HTTPAnswer(status: 403, headers: fields, body: body), thenClose: true, nil)
        return refusal.reason
    }

    /// An answer as this client gets it: readable by pages that are let in, and leading here.
    private func own(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard let head = asked?.head else { return answer }
        let led = server.answers.leading.led(answer, to: head, overTLS: stream is TLSStream, at: upstream)
        return server.entrance.access.restricted(led, to: head)
    }

    // MARK: What the driver says

    func respond(_ answer: HTTPAnswer, thenClose: Bool, _ ticket: UInt64?) {
        guard endpoint.owesAnswer else { return }
        let answer = own(answer)
        noteAnswer(answer)
        endpoint.answer(answer, thenClose: thenClose, date: server.answers.date())
        if let ticket { expectWritten(ticket) }
        server.touch(self)
    }

    func beginStream(_ answer: HTTPAnswer) {
        guard endpoint.owesAnswer else { return }
        let answer = own(answer)
        noteAnswer(answer, isStream: true)
        endpoint.beginStream(answer, date: server.answers.date())
        server.touch(self)
    }

    func piece(_ bytes: [UInt8], _ ticket: UInt64) {
        guard endpoint.isStreaming else { return }
        if !bytes.isEmpty { note(.chunk(x: exchange, .toClient, bytes)) }
        endpoint.piece(bytes.span)
        expectWritten(ticket)
        server.touch(self)
    }

    func endStream() {
        guard endpoint.isStreaming else { return }
        note(.end(x: exchange, .toClient, trailers: []))
        endpoint.endStream()
        server.touch(self)
    }

    func upgrade(_ headers: [HeaderField], _ accept: String?, _ deflate: DeflateParameters?) {
        guard endpoint.owesAnswer else { return }
        let headers = own(HTTPAnswer(status: 101, headers: headers)).headers
        if let sent = endpoint.upgrade(headers, accept: accept, deflate: deflate, date: server.answers.date()) {
            noteAnswer(HTTPAnswer(status: sent.status, reason: sent.reason, headers: sent.headers))
        }
        server.touch(self)
    }

    func send(_ opcode: Opcode, _ payload: [UInt8], _ ticket: UInt64, deflated: Bool) {
        guard endpoint.isOpenWebSocket else { return }
        let isDeflated = endpoint.send(opcode, payload.span, deflated: deflated)
        note(.message(.toClient, opcode, payload, deflated: isDeflated, fragments: []))
        expectWritten(ticket)
        server.touch(self)
    }

    func close(_ code: UInt16?, _ reason: String) {
        guard endpoint.isOpenWebSocket || endpoint.owesClose else {
            disconnect()
            return
        }
        note(.close(.toClient, code: code, reason: code == nil ? nil : reason))
        endpoint.close(code: code, reason: reason)
        setEnd()
        server.touch(self)
    }

    func disconnect() {
        endpoint.finish()
        server.touch(self)
    }

    func reset() {
        // What was said before goes as far as the kernel takes it now.
        write()
        guard !ends.isGone else { return }
        tellHandedOver()
        ends.begin(.server)
        stream.reset()
    }

    func awaitAcknowledged(_ ticket: UInt64) {
        watch.await(ticket, unwritten: unwritten, at: server.loop.now)
        server.touch(self)
    }

    /// The server stops.
    func goAway() {
        if let passage {
            passage.abandon()
            return abort()
        }
        if endpoint.isOpenWebSocket { close(1001, "the replay ends") } else { disconnect() }
    }

    func abort() {
        if !ends.isGone { stream.reset() }
    }

    // MARK: The upstream

    /// Gives the request that is owed an answer, and the connection with it, to the upstream.
    func passThrough() {
        guard endpoint.owesAnswer, let asked else { return }
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

    /// The client is read as fast as the upstream takes it.
    func passageMoved() {
        guard let passage, !ends.isGone, !ends.sawFIN else { return }
        if stream.isReading != passage.wantsMore { stream.isReading = passage.wantsMore }
    }

    // MARK: A wake-up

    /// The next thing that the client said, for the driver.
    func next() -> ServerEvent? {
        // Answers to one piece of many small requests must not pile up: they are written first.
        isHeldBack = !ends.isGone && endpoint.outputCount + outbound.count + stream.queued > queueLimit
        guard !isHeldBack else { return nil }
        let event = endpoint.next()
        if let event { hear(event) }
        if event == .finish { ends.wantsFIN = true }
        return event
    }

    /// What is queued before nothing more is read. An event stream makes no output of what its client says, and its end must
    /// be heard; of a WebSocket's messages only those that are refused do.
    private var queueLimit: Int {
        if endpoint.isStreaming { return .max }
        return endpoint.isHTTP ? Self.mostQueued : Self.mostQueued << 4
    }

    /// Says what is held of the client's, and for it.
    private func account() {
        guard !ends.isGone else { return }
        // What was asked is wanted until it is answered.
        if !endpoint.owesAnswer { asked?.body = [] }
        hold?.set(endpoint.heldCount + outbound.count + stream.queued + (asked?.body.count ?? 0))
    }

    /// It holds more than any other, and all of them too much.
    private func refuseForMemory() {
        guard !ends.isGone else { return }
        // A client that does not read what is queued for it would not read a refusal either.
        guard stream.queued + outbound.count <= endpoint.heldCount + (asked?.body.count ?? 0) else {
            return stream.reset()
        }
        if endpoint.owesAnswer {
            server.forgetBodies(of: self)
            let body = Array("wiretape: \(MemoryBudget.reason)\n".utf8)
            respond(HTTPAnswer(status: 503, body: body), thenClose: true, nil)
        } else {
            if endpoint.isOpenWebSocket { note(.close(.toClient, code: 1009, reason: MemoryBudget.reason)) }
            endpoint.refuse(MemoryBudget.reason)
        }
        account()
        server.touch(self)
    }

    /// Writes what has gathered, and tells what has become of it.
    func flush() {
        defer { account() }
        guard !ends.isGone, passage == nil else { return }
        write()
        if ends.wantsFIN, !ends.sentFIN, outbound.count == 0, !outbound.pacer.isStopped {
            ends.sentFIN = true
            ends.begin(.server)
            stream.halfClose()
            setEnd()
        }
        look()
        // Else `drained` goes on.
        let isFull = stream.queued + outbound.count > queueLimit
        if isHeldBack, !isFull { server.touch(self) }
        let reads = endpoint.pendingCount <= Self.mostQueued && !isFull && !ruled.isDeaf
        if !ends.sawFIN, stream.isReading != reads {
            stream.isReading = reads
            if reads { seat?.restart(phase, at: server.loop.now) }
        }
        seat?.move(to: phase, at: server.loop.now)
        arm()
    }

    func write() {
        guard !ends.isGone, !ends.sentFIN else { return }
        if endpoint.outputCount > 0 {
            let bytes = withinBudget(endpoint.takeOutput())
            if outbound.isIdle(at: server.loop.now) { return emit(bytes) }
            outbound.add(bytes, at: server.loop.now)
        }
        guard outbound.count > 0 else { return }
        while case .writes(let pieces) = outbound.take(at: server.loop.now) {
            for piece in pieces { emit(piece) }
        }
    }

    private func emit(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        watch.wrote(bytes.count)
        stream.write(bytes.span)
    }

    /// Bytes that were made and not written.
    private var unwritten: Int { outbound.count + min(endpoint.outputCount, ruled.budget ?? .max) }

    /// `handedOver` follows when the kernel has everything so far; never when a rule keeps some of it.
    func expectWritten(_ ticket: UInt64) {
        guard endpoint.outputCount <= ruled.budget ?? .max else { return }
        watch.add(ticket, unwritten: unwritten)
    }

    // MARK: Time

    /// Asks the stream what is still on its way.
    private func look() {
        let isPaced = outbound.count > 0 && !outbound.pacer.isStopped
        let found = watch.look(stream, isPaced: isPaced, at: server.loop.now)
        if let last = found.handedOver { server.tell(self, .handedOver(last)) }
        for (ticket, isThere) in found.acknowledged {
            if isThere { acknowledged(ticket) } else { server.tell(self, .acknowledged(ticket, complete: false)) }
        }
        while let first = settling.first, first.until <= server.loop.now {
            settling.removeFirst()
            server.tell(self, .acknowledged(first.ticket, complete: true))
        }
    }

    /// The peer's kernel has all of it. With a clock that stands still the settle time cannot be the driver's.
    private func acknowledged(_ ticket: UInt64) {
        guard server.clock.isManual else { return server.tell(self, .acknowledged(ticket, complete: true)) }
        settling.append((ticket, server.loop.now.advanced(by: Self.settleTime)))
    }

    private func tellHandedOver() {
        if let last = watch.takeHandedOver(queued: stream.queued) { server.tell(self, .handedOver(last)) }
    }

    /// Our end or the client's is on its way.
    var isLeaving: Bool { ends.isLeaving }

    func setEnd() {
        ends.by = server.loop.now.advanced(by: Self.patience)
        ends.queuedAtLast = .max
    }

    private func arm() {
        let next = [
            watch.nextLook, settling.first?.until, ends.by, ruled.nextPeek, outbound.nextWake(after: server.loop.now),
        ].compactMap(\.self).min()
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
        let queued = stream.queued + outbound.count
        if queued > 0, queued < ends.queuedAtLast, !outbound.pacer.isStopped {
            setEnd()
            ends.queuedAtLast = queued
        } else if ends.sentFIN || outbound.pacer.isStopped || ruled.isDeaf {
            ends.by = nil
            stream.reset()
        } else {
            disconnect()
        }
    }
}
