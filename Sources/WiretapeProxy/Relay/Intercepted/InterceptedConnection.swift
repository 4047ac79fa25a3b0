internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

/// A relayed connection that a rule may touch: requests, answers and messages are put together, read, shown to the rules,
/// and go on as they came unless a rule says otherwise. It takes the place of ``RelayConnection``'s own ways of reading;
/// streams, dialling and the tape stay there.
///
/// It handles one exchange at a time: requests that a client sends ahead wait for the answer before them. It is in one of
/// three modes: HTTP exchanges; a WebSocket (or an upgrade to something else, whose bytes pass); over, where bytes are read
/// and thrown away until the peers end.
final class InterceptedConnection {
    /// How often a client that is not read is looked at.
    static let peekInterval: UInt64 = 20_000_000
    /// Bytes that may wait for their time before the side they come from is not read any more.
    static let queueLimit = 4 << 20
    static let settleTime: UInt64 = 20_000_000
    /// How long a peer may take to answer our close frame or FIN.
    static let goodbyeTime: UInt64 = 5_000_000_000

    // Lifetime: the connection keeps what it became.
    unowned let connection: RelayConnection
    let control: FaultControl
    var toClient = OutboundLeg()
    var toServer = OutboundLeg()
    var http: InterceptedExchange
    /// The WebSocket that it has become.
    var socket: InterceptedSocket?
    /// Bytes of an upgrade to something that is no WebSocket pass.
    private(set) var isTunnel = false
    private(set) var isOver = false
    /// What happens when what stands before it has been written, or read by the peer.
    private var marks = QueueMarks()
    /// What stops by itself; nil: nothing yet, as on most connections, which are not asked for it then.
    private var lasting: LastingChanges<[Direction]>?
    private var timer = WakeTimer()
    private var isPumping = false
    /// When to stop waiting for a peer that was told to go.
    private var goodbyeBy: WireInstant?
    /// Keepalives that have stopped.
    private(set) var muted: MuteScope?
    /// A rule has stopped our reading, and the client has ended meanwhile: what it said before is not heard.
    private(set) var isDeaf = false
    /// The bytes that a stalled WebSocket client has sent. Nil if the client is not stalled or not read.
    private var silent: SilentInput?
    private var nextPeek: WireInstant?
    /// The poll that was answered last, while none waits.
    private(set) var lastPoll: LiveExchange?
    var ends = InterceptedEnds()
    private var turn = TurnShare()
    /// Bytes after which it is asked whether the connection has had its share.
    private static let slice = 4096
    private var hold: MemoryHold?

    /// Messages of the exchange's session that let others pass.
    var parked: ParkedMessages {
        get { http.live?.parked ?? ParkedMessages() }
        set { http.live?.parked = newValue }
    }

    var faults: LiveFaults { control.faults }
    var node: RelayNode { connection.node }
    var now: WireInstant { node.loop.now }

    init(_ connection: RelayConnection, _ control: FaultControl) {
        self.connection = connection
        self.control = control
        http = InterceptedExchange()
        // Lifetime: the budget forgets it when nothing is held any more, which the end of both streams says.
        hold = control.memory.hold { [unowned self] in refuseForMemory() }
    }

    /// Whether something of a session is under way on it.
    var isCarrying: Bool { socket != nil || http.live != nil }

    /// Whether it was made silent.
    var isStalled: Bool {
        toClient.queue.pacer.isStopped || silent != nil || connection.client?.isBlocked(.fault) == true
    }

    /// Ends a stall.
    func resume() {
        stop(.stall(Stall()), at: now)
        pump()
    }

    /// Whether a request was passed on whose answer has not begun.
    var awaitsAnswer: Bool { http.live != nil && http.response.head == nil && socket == nil && !isTunnel && !isOver }

    // MARK: What it becomes

    /// An upgrade to a WebSocket is granted.
    func becomesSocket(_ socket: consuming InterceptedSocket) { self.socket = consume socket }

    /// What passes is no HTTP any more, and no WebSocket.
    func becomesTunnel() { isTunnel = true }

    /// Nothing passes any more.
    func stopsRelaying() { isOver = true }

    /// - Parameter scope: the keepalives that stop; nil: they go on.
    func mutes(_ scope: MuteScope?) { muted = scope }

    /// No request is under way.
    /// - Parameter poll: the one that was answered last, if it was a poll.
    func rests(behind poll: LiveExchange?) { lastPoll = poll }

    // MARK: What the streams tell

    func received(_ bytes: Span<UInt8>, from side: RelaySide, at now: WireInstant) {
        if isDeaf, side.direction == .toServer { return }
        if isOver { return lookForGoodbye(bytes, side.direction) }
        if silent != nil, side.direction == .toServer { return receivedInSilence(bytes, at: now) }
        if turn.waits(side.direction) { return turn.wait(bytes, side.direction) }
        turn.begin()
        take(bytes, side.direction, at: now)
        pump(at: now)
    }

    // MARK: A client that a rule stalls

    /// A rule stops the reading. The bytes of a WebSocket are still read, for its close frame, and kept.
    func stopHearing() {
        guard silent == nil else { return }
        control.hasStalled = true
        if socket?.isBetweenFrames == true, !turn.waits(.toServer) {
            silent = SilentInput()
        } else {
            connection.client?.block(.fault)
        }
    }

    private func receivedInSilence(_ bytes: Span<UInt8>, at now: WireInstant) {
        if let live = socket?.live, case .closeFrame(let code, _)? = silent?.take(bytes) {
            faults.leftSilently(live, with: .close(code), at: now)
        }
        if silent?.isFull == true { connection.client?.block(.fault) }
        pump(at: now)
    }

    /// Ends the stall, and reads the kept bytes.
    func hearAgain(at now: WireInstant) {
        if let kept = takeKept() { take(kept.span, .toServer, at: now) }
        connection.client?.unblock(.fault)
    }

    /// Removes and returns the kept bytes of a stalled client.
    func takeKept() -> [UInt8]? {
        guard let silent = silent.take() else { return nil }
        return silent.all()
    }

    /// Drops the kept bytes, because the stalled client has left.
    func endsUnheard() {
        guard takeKept() != nil else { return }
        isDeaf = true
    }

    /// Looks at bytes until the connection has had its share. The rest waits for the next turn, and the peer is not read.
    func take(_ bytes: Span<UInt8>, _ direction: Direction, at now: WireInstant) {
        var at = 0
        while at < bytes.count || owes(direction), !isOver {
            let next = min(bytes.count, at + Self.slice)
            at += look(bytes.extracting(at..<next), direction, at: now)
            // What stood behind the answer to an upgrade may wait already.
            guard turn.waits(direction) || turn.isOver && (at < bytes.count || owes(direction)), !isOver else {
                continue
            }
            turn.wait(bytes.extracting(at..<bytes.count), direction)
            side(direction.reversed)?.block(.turn)
            // What is decoded of a body is kept until it is whole: that does not wait.
            turn.rest(isLong: socket != nil, at: now)
            return
        }
    }

    /// What was taken is not wholly looked at: a message or a body is being inflated.
    private func owes(_ direction: Direction) -> Bool {
        socket?.owes(direction) ?? (direction == .toServer && http.request.isDecoding)
    }

    /// - Returns: how many of the bytes were looked at; not all when the connection has had its share.
    private func look(_ bytes: Span<UInt8>, _ direction: Direction, at now: WireInstant) -> Int {
        if direction == .toServer, http.request.isDecoding { decodeBody(at: now) }
        if socket != nil { return heard(bytes, direction, at: now) }
        if isTunnel {
            tunnel(bytes, direction, at: now)
        } else if direction == .toServer {
            fromClient(bytes, at: now)
        } else {
            fromServer(bytes, at: now)
        }
        return bytes.count
    }

    /// Bytes of an upgrade to something that is no WebSocket.
    func tunnel(_ bytes: Span<UInt8>, _ direction: Direction, at now: WireInstant) {
        node.tap?.record(.bytes, connection.id, flags: RecordFlags.direction(direction), at: now, bytes)
        add(copy(bytes), direction, at: now)
    }

    /// Something was looked at that costs as much as so many messages.
    func spend(_ cost: Int) { turn.spend(cost) }

    var hasHadItsShare: Bool { turn.isOver }

    /// A new turn: what waited for it is looked at.
    private func takeTurn(at now: WireInstant) {
        guard turn.isNext(at: now) else { return }
        turn.begin()
        for direction in Direction.allCases {
            // Of the side that sends that way.
            guard let bytes = turn.take(direction), let side = side(direction.reversed) else { continue }
            if isDeaf, direction == .toServer { continue }
            if isOver { lookForGoodbye(bytes.span, direction) } else { take(bytes.span, direction, at: now) }
            if !turn.waits(direction) { side.unblock(.turn) }
        }
    }

    func receivedEnd(from side: RelaySide, at now: WireInstant) {
        if side.direction == .toServer { clientEnded(at: now) } else { serverEnded(at: now) }
        pump()
    }

    func drained(_ side: RelaySide) { pump() }

    func serverConnected() { pump() }

    /// A stream is gone; the connection has done what follows from it.
    func ended(_ party: TapeEvent.Party, _ how: StreamEnd, at now: WireInstant) {
        switch how {
        case .reset, .failed: closed(party, .reset, at: now)
        case .closed, .aborted: closed(party, .fin, at: now)
        }
        if connection.client == nil, connection.server == nil {
            close()
        } else {
            pump()
        }
    }

    // MARK: Writing

    func side(_ direction: Direction) -> RelaySide? {
        direction == .toClient ? connection.client : connection.server
    }

    /// Whether bytes to that side can be written now.
    private func isOpen(_ direction: Direction) -> Bool {
        let connection = connection
        return switch direction {
        case .toClient: connection.client?.hasStream == true
        case .toServer: connection.isServerConnected && connection.server?.hasStream == true
        }
    }

    /// What nothing holds back is written, in one call: the messages of one read leave together.
    func writeGathered() {
        if toServer.hasGathered {
            let bytes = toServer.takeGathered()
            side(.toServer)?.stream?.write(bytes.span)
        }
        if toClient.hasGathered {
            let bytes = toClient.takeGathered()
            side(.toClient)?.stream?.write(bytes.span)
        }
    }

    /// Queues bytes behind those that wait. What need not wait is written when this turn's work is done (``pump()``), or
    /// before anything else happens to a stream.
    func add(
        _ bytes: [UInt8], _ direction: Direction, endsFrame: Bool = true, delay: UInt64 = 0, at now: WireInstant
    ) {
        update(direction) { $0.carries(bytes.count) }
        let isIdle = direction == .toClient ? toClient.isIdle(at: now) : toServer.isIdle(at: now)
        if isIdle, delay == 0, endsFrame, isOpen(direction) { return update(direction) { $0.gather(bytes) } }
        update(direction) { $0.queue.add(bytes, endsFrame: endsFrame, delay: delay, at: now) }
    }

    func update(_ direction: Direction, _ change: (inout OutboundLeg) -> Void) {
        if direction == .toClient { change(&toClient) } else { change(&toServer) }
    }

    func mark(_ mark: QueueMark, _ direction: Direction, delay: UInt64 = 0, at now: WireInstant) {
        let ticket = marks.add(mark)
        update(direction) { $0.queue.mark(ticket, delay: delay, at: now) }
    }

    /// Writes what may leave, does what stands between, and sets the timer for the rest.
    func pump() { pump(at: now) }

    private func pump(at now: WireInstant) {
        guard !isPumping else { return }
        isPumping = true
        if passesCalmly() { isPumping = false } else { pumpAll(at: now) }
        control.arm()
        connection.settle(at: now)
    }

    /// Messages that nothing happens to are most of what passes: what was gathered of them is written.
    /// - Returns: whether that was all there is to do. Nothing waits, lasts or is to come, and both sides take what they get.
    private func passesCalmly() -> Bool {
        guard !isOver, silent == nil, goodbyeBy == nil, lasting == nil, !timer.isSet, turn.next == nil, !ends.toServer,
            toClient.isSilent, toServer.isSilent, !marks.isSettling, socket?.isResting == true
        else { return false }
        let connection = connection
        guard let client = connection.client, let server = connection.server, connection.isServerConnected,
            client.isUnblocked, server.isUnblocked, let toClient = client.stream, let toServer = server.stream
        else { return false }
        if self.toServer.hasGathered { toServer.write(self.toServer.takeGathered().span) }
        if self.toClient.hasGathered { toClient.write(self.toClient.takeGathered().span) }
        return toClient.queued == 0 && toServer.queued == 0 && hold?.count == 0
    }

    private func pumpAll(at now: WireInstant) {
        restore(at: now)
        peek(at: now)
        release(at: now)
        goAhead(at: now)
        if ends.toServer, http.early.isEmpty, !turn.waits(.toServer) {
            passRequest(at: now)
            endToServer(at: now)
        }
        var goesOn = true
        while goesOn {
            goesOn = false
            if isOpen(.toServer), step(.toServer, at: now) { goesOn = true }
            if isOpen(.toClient), step(.toClient, at: now) { goesOn = true }
        }
        writeGathered()
        isPumping = false
        look(at: now)
        account()
        relievePressure()
        arm(at: now)
    }

    private func account() {
        guard connection.client != nil || connection.server != nil else { return }
        let waiting = toClient.waitingCount + toServer.waitingCount + turn.waitingCount
        let streams = (connection.client?.stream?.queued ?? 0) + (connection.server?.stream?.queued ?? 0)
        hold?.set(waiting + streams + http.heldCount + (socket?.heldCount ?? 0) + (silent?.count ?? 0))
    }

    /// It holds more than any other, and all of them too much.
    private func refuseForMemory() {
        guard !isOver else { return }
        refused(MemoryBudget.reason, at: now)
        turn.forget()
        pump()
    }

    private func step(_ direction: Direction, at now: WireInstant) -> Bool {
        writeGathered()
        let output = direction == .toClient ? toClient.take(at: now) : toServer.take(at: now)
        switch output {
        case .nothing: return false
        case .writes(let pieces):
            for piece in pieces {
                side(direction)?.stream?.write(piece.span)
                update(direction) { $0.wrote(piece.count) }
            }
        case .mark(let ticket):
            if let mark = marks.take(ticket) { reached(mark, direction, at: now) }
        }
        return true
    }

    /// The peer's kernel must have what was written before `mark` happens.
    func awaitAcknowledged(_ mark: QueueMark, _ direction: Direction, at now: WireInstant) {
        writeGathered()
        let ticket = marks.add(mark)
        update(direction) { $0.await(ticket, at: now) }
    }

    private func look(at now: WireInstant) {
        guard toClient.nextLook != nil || toServer.nextLook != nil || marks.isSettling else { return }
        var told: [(ticket: Int, isThere: Bool)] = []
        for direction in Direction.allCases {
            let stream = side(direction)?.stream
            update(direction) { leg in
                if let next = leg.nextLook, next <= now || stream == nil { told += leg.look(stream, at: now) }
            }
        }
        for (ticket, isThere) in told {
            marks.acknowledged(ticket, isThere: isThere, at: now)
        }
        for one in marks.takeSettled(by: now) { acknowledged(one.mark, isThere: one.isThere, at: now) }
    }

    private func relievePressure() {
        let queueLimit = control.memory.queueLimit(InterceptedConnection.queueLimit)
        guard let client = side(.toClient), let server = side(.toServer) else { return }
        relievePressure(of: client, from: server, toClient.waitingCount, queueLimit)
        relievePressure(of: server, from: client, toServer.waitingCount, queueLimit)
    }

    private func relievePressure(of target: RelaySide, from source: RelaySide, _ waiting: Int, _ queueLimit: Int) {
        if target.stream?.queued ?? 0 > RelayConnection.pressureLimit || waiting > queueLimit {
            source.block(.pressure)
        } else if source.isBlocked(.pressure) {
            source.unblock(.pressure)
        }
    }

    // MARK: Time

    /// A rule has changed something for so many nanoseconds; nil: for good.
    func last(
        _ change: LastingChange, for time: UInt64?, _ directions: [Direction] = Direction.allCases, at now: WireInstant
    ) {
        guard let time else { return }
        var all = lasting ?? .init()
        all.add(change, at: directions, until: now.advanced(by: time))
        lasting = all
    }

    private func restore(at now: WireInstant) {
        for one in lasting?.takeOver(by: now) ?? [] { stop(one.change, one.place, at: now) }
    }

    /// A client that is not read may have gone: its end is noticed all the same, and told by reading on.
    private func peek(at now: WireInstant) {
        guard let client = connection.client, client.isBlocked(.fault), !isDeaf else { return nextPeek = nil }
        if let nextPeek, nextPeek > now { return }
        nextPeek = now.advanced(by: InterceptedConnection.peekInterval)
        lookForEnd(at: now)
    }

    /// Checks a client that is not read for its FIN.
    func lookForEnd(at now: WireInstant) {
        guard let client = connection.client, client.isBlocked(.fault), !isDeaf, client.stream?.peerHasEnded == true
        else { return }
        isDeaf = true
        nextPeek = nil
        // The response to the last poll may wait in the queue.
        let live = socket?.live ?? http.live ?? (toClient.waitingCount > 0 ? lastPoll : nil)
        if let live { faults.leftSilently(live, with: .fin, at: now) }
        client.unblock(.fault)
    }

    /// From now on the peers have five seconds to end.
    func sayGoodbye(at now: WireInstant) {
        goodbyeBy = now.advanced(by: InterceptedConnection.goodbyeTime)
        arm(at: now)
    }

    private func arm(at now: WireInstant) {
        guard connection.client != nil || connection.server != nil else { return }
        var next: WireInstant?
        func consider(_ moment: WireInstant?) {
            if let moment { next = min(next ?? moment, moment) }
        }
        if isOpen(.toClient) { consider(toClient.nextWake(after: now)) }
        if isOpen(.toServer) { consider(toServer.nextWake(after: now)) }
        consider(toClient.nextLook)
        consider(toServer.nextLook)
        consider(marks.next)
        consider(lasting?.next)
        consider(socket?.nextParked)
        consider(http.stream == nil ? nil : parked.next)
        consider(http.response.goesAheadAt)
        consider(goodbyeBy)
        consider(nextPeek)
        consider(turn.next)
        // Lifetime: it is closed when both streams have ended; they keep the connection, and that keeps us.
        timer.set(for: next, on: node.loop) { [unowned self] in fired() }
    }

    private func fired() {
        timer.fires()
        if let by = goodbyeBy, by <= now {
            goodbyeBy = nil
            goodbyeIsOver()
        }
        takeTurn(at: now)
        pump()
    }

    func close() {
        timer.close()
        hold?.set(0)
    }
}

func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.append(copying: bytes)
    return out
}
