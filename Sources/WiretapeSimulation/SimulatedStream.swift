internal import WiretapeBytes
package import WiretapeRuntime

/// One end of a simulated connection.
package final class SimulatedStream: ByteStream, CustomStringConvertible {
    /// As on libuv: the owner hears when what it queued goes below this.
    static let drainedBelow = 32_768
    /// As on libuv: a loop's read buffer.
    static let largestRead = 65_536

    // Lifetime: the test keeps the loop until all is over.
    private unowned let loop: SimulatedLoop
    private let out: SimulatedPipe
    private let into: SimulatedPipe
    private var handler: (any StreamHandler)?
    private var id = 0
    private var isReadScheduled = false, isLookScheduled = false
    private(set) var isConnected = false
    /// No more is told but the end, which is on its way or has been told.
    private(set) var isOver = false
    /// An RST has arrived, whether or not the owner has been told.
    private var isResetByPeer = false
    /// How it will end once what came before has been read.
    private var broken: StreamEnd?
    private var endAsked = false
    package let peer: Address?

    init(_ loop: SimulatedLoop, out: SimulatedPipe, in into: SimulatedPipe, peer: Address) {
        self.loop = loop
        self.out = out
        self.into = into
        self.peer = peer
    }

    package var description: String {
        "stream \(id) \(isConnected ? "with" : "to") \(peer.map(\.description) ?? "?")"
            + "\(out.endTaken ? ", FIN sent" : "")\(into.endTold ? ", FIN told" : "")"
            + "\(isReading ? "" : ", not reading")\(out.isLost ? ", lost" : "")\(isResetByPeer ? ", reset" : "")"
            + ", queued \(queued), unread \(into.received.count)"
    }

    // MARK: ByteStream

    package var isReading = false {
        didSet { if isReading { scheduleRead() } else if isResetByPeer { look() } }
    }

    package var queued: Int { isOver ? 0 : out.queue.count }
    package var peerHasEnded: Bool { into.endArrived || isResetByPeer }
    package var unacknowledged: Int { broken != nil || isResetByPeer ? .max : isOver ? 0 : out.sent.count }

    package func write(_ bytes: Span<UInt8>) {
        guard !isOver else { return }
        if endAsked { loop.violated("\(self): a write after halfClose") }
        // The kernel says EPIPE or ECONNRESET.
        if isResetByPeer { return broke(loop.random.isOne(in: 8) ? .failed("broken pipe") : .reset) }
        loop.writes += 1
        out.write(bytes, isConnected: isConnected)
    }

    package func hand(to handler: any StreamHandler) { self.handler = handler }

    package func halfClose() {
        guard !isOver, !endAsked else { return }
        endAsked = true
        if isResetByPeer { return broke(.failed("socket is not connected")) }
        out.end()
    }

    package func reset() {
        guard !isOver else { return }
        out.abort()
        finish(.aborted)
    }

    // MARK: The life of a stream

    func open(_ handler: any StreamHandler) {
        self.handler = handler
        id = loop.register(self)
    }

    func connected() {
        guard !isOver else { return }
        isConnected = true
        out.scheduleFill()
        scheduleRead()
        loop.note("connected", id)
        handler?.connected()
    }

    func accepted(_ accept: (any ByteStream) -> any StreamHandler) {
        id = loop.register(self)
        isConnected = true
        loop.note("accepted", id)
        handler = accept(self)
        if isResetByPeer { noticeReset() }
        scheduleRead()
    }

    func drained() {
        guard !isOver else { return }
        loop.note("drained", id)
        handler?.drained()
    }

    func closeWhenDone() {
        if out.endTaken, into.endTold { finish(.closed) }
    }

    /// An RST arrives. Who reads or has something queued hears of it soon, others at their next write or slow look.
    func hearReset() {
        guard !isOver, !isResetByPeer else { return }
        isResetByPeer = true
        if handler != nil { noticeReset() }
    }

    private func noticeReset() {
        if isReading { scheduleRead() } else { look() }
    }

    private func look() {
        guard !isLookScheduled, !isOver else { return }
        isLookScheduled = true
        loop.after(queued > 0 ? 1 : 1 + loop.random.next() % loop.slowLook) { [self] in
            isLookScheduled = false
            if !isReading { broke(.reset) }
        }
    }

    /// As on libuv: what came before can still be read, and the end waits until it is.
    private func broke(_ how: StreamEnd) {
        guard !isOver, broken == nil else { return }
        broken = how
        out.dropQueue()
        if into.endTold || into.received.isEmpty { finish(how) } else { scheduleRead() }
    }

    /// The last thing that the owner hears, and never from within its own call.
    func finish(_ how: StreamEnd) {
        guard !isOver else { return }
        isOver = true
        loop.after(0) { [self] in
            loop.forget(id)
            loop.note("ended \(how)", id)
            let last = handler
            handler = nil
            last?.ended(how)
        }
    }

    // MARK: Reading

    func scheduleRead() {
        guard isReading, isConnected, !isOver, !isReadScheduled else { return }
        guard !into.received.isEmpty || into.endArrived || isResetByPeer else { return }
        isReadScheduled = true
        loop.after(UInt64(loop.random.below(20_000))) { [self] in
            isReadScheduled = false
            read()
        }
    }

    private func read() {
        guard isReading, !isOver else { return }
        if !into.received.isEmpty {
            let piece = into.takeReceived(max(1, min(SimulatedStream.largestRead, loop.readLimit)))
            into.didRead()
            loop.note("received", id, piece.count)
            handler?.received(piece.span)
            scheduleRead()
        } else if isResetByPeer {
            finish(broken ?? .reset)
        } else if into.endArrived, !into.endTold {
            into.endTold = true
            isReading = false
            loop.note("receivedEnd", id)
            handler?.receivedEnd()
            closeWhenDone()
        }
    }
}
