internal import WiretapeBytes
internal import WiretapeRuntime

/// One direction of a connection: what the sender queued, what its kernel took, what the receiver's kernel holds.
final class SimulatedPipe {
    // Lifetime: the test keeps the loop until all is over.
    private unowned let loop: SimulatedLoop
    private let number: Int
    /// Where the connection goes to.
    private let port: UInt16
    private let fromConnector: Bool
    private let drawn: DrawnConditions
    private let conditions: NetworkConditions
    weak var source: SimulatedStream?
    weak var target: SimulatedStream?
    weak var other: SimulatedPipe?

    private(set) var queue = ByteQueue()
    private(set) var sent = ByteQueue()
    private(set) var received = ByteQueue()
    /// The sender wants a FIN after what is queued; its kernel has been told; it has arrived; the owner has been told.
    private(set) var endAsked = false, endTaken = false, endArrived = false
    var endTold = false
    /// Nothing passes any more.
    private(set) var isBroken = false, isLost = false
    private var isFilling = false, isTransmitting = false
    private var arrived = 0

    init(_ loop: SimulatedLoop, _ number: Int, to port: UInt16, fromConnector: Bool) {
        self.port = port
        self.loop = loop
        self.number = number
        self.fromConnector = fromConnector
        conditions = loop.conditions
        drawn = DrawnConditions(loop.conditions, &loop.random)
    }

    private func latency() -> UInt64 { loop.random.draw(in: conditions.latency) }
    private func piece(of n: Int) -> Int { conditions.isChoppy ? loop.random.piece(of: n) : n }

    // MARK: The sender's side

    func write(_ bytes: Span<UInt8>, isConnected: Bool) {
        guard !isBroken, !bytes.isEmpty else { return }
        var done = 0
        if queue.isEmpty, isConnected, sent.count < drawn.sendBuffer {
            done = piece(of: min(bytes.count, drawn.sendBuffer - sent.count))
            sent.append(bytes.extracting(..<done))
            scheduleTransmission()
        }
        if done < bytes.count {
            queue.append(bytes.extracting(done...))
            loop.noteQueued(queue.count, port, fromConnector: fromConnector)
            scheduleFill()
        }
    }

    func end() {
        endAsked = true
        scheduleFill()
    }

    /// The owner has been told that nothing can be sent any more.
    func dropQueue() { queue.removeAll() }

    /// The sender's kernel takes more, a little later: never from within a call of the owner.
    func scheduleFill() {
        guard !isFilling, !isBroken, source?.isConnected == true else { return }
        guard !queue.isEmpty || (endAsked && !endTaken) else { return }
        isFilling = true
        loop.after(conditions.isChoppy ? UInt64(loop.random.below(50_000)) : 0) { [self] in
            isFilling = false
            fill()
        }
    }

    private func fill() {
        guard !isBroken, let source, !source.isOver else { return }
        let before = queue.count
        if before > 0, sent.count < drawn.sendBuffer {
            sent.append(queue.take(piece(of: min(before, drawn.sendBuffer - sent.count))).span)
        }
        if !queue.isEmpty {
            if sent.count < drawn.sendBuffer { scheduleFill() }
        } else if endAsked {
            endTaken = true
        }
        scheduleTransmission()
        let after = queue.count
        if after < before,
            after == 0 || (before >= SimulatedStream.drainedBelow && after < SimulatedStream.drainedBelow)
        {
            source.drained()
        }
        source.closeWhenDone()
    }

    // MARK: The network

    private func scheduleTransmission() {
        guard !isTransmitting, !isBroken, !isLost else { return }
        guard sent.isEmpty ? endTaken && !endArrived : received.count < drawn.receiveBuffer else { return }
        isTransmitting = true
        let n = sent.isEmpty ? 0 : piece(of: min(sent.count, drawn.receiveBuffer - received.count))
        loop.after(latency() + UInt64(n) * drawn.nanosecondsPerByte) { [self] in
            isTransmitting = false
            transmit(n)
        }
    }

    private func transmit(_ planned: Int) {
        guard !isBroken, !isLost else { return }
        var n = planned
        let fault = loop.faults.first {
            $0.connection == number && $0.fromConnector == fromConnector && $0.after <= arrived + n
        }
        if let fault { n = max(0, fault.after - arrived) }
        if n > 0 {
            arrived += n
            received.append(sent.take(n).span)
        } else if planned == 0, sent.isEmpty, fault == nil {
            endArrived = true
        }
        target?.scheduleRead()
        if fault?.kind == .reset || loop.random.isOne(in: conditions.resetOneIn) { return cut() }
        if fault?.kind == .lost || loop.random.isOne(in: conditions.loseOneIn) { return lose() }
        scheduleTransmission()
        if n > 0 { scheduleFill() }
    }

    /// The receiver has read: there is room again.
    func didRead() { scheduleTransmission() }

    func takeReceived(_ largest: Int) -> [UInt8] {
        received.take(min(largest, piece(of: received.count)))
    }

    /// An RST from somewhere in between.
    private func cut() {
        breakBoth(keepReceived: loop.random.isOne(in: 2))
        source?.hearReset()
        target?.hearReset()
    }

    private func lose() {
        isLost = true
        other?.isLost = true
        // The kernels give up on what is not acknowledged.
        loop.after(924_000_000_000) { [self] in
            for case let pipe? in [self, other] where !pipe.sent.isEmpty {
                pipe.source?.finish(.failed("connection timed out"))
            }
        }
    }

    /// This direction's sender aborts. Some of what its kernel held may be on the way already.
    func abort() {
        let n =
            sent.isEmpty || isLost || isBroken
            ? 0 : loop.random.below(min(sent.count, max(0, drawn.receiveBuffer - received.count)) + 1)
        if n > 0 { received.append(sent.take(n).span) }
        let wasCut = isLost || isBroken
        breakBoth(keepReceived: true)
        other?.received.removeAll()
        guard !wasCut else { return }
        loop.after(latency()) { [self] in
            if loop.random.isOne(in: 2) { received.removeAll() }
            target?.hearReset()
        }
        target?.scheduleRead()
    }

    private func breakBoth(keepReceived: Bool) {
        for case let pipe? in [self, other] {
            pipe.isBroken = true
            pipe.sent.removeAll()
            if !keepReceived { pipe.received.removeAll() }
        }
    }
}
