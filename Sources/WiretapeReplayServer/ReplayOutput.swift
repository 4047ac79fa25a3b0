internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeWire

/// What leaves on one connection of a replay: at once, or later, more slowly or not at all where rules want it so. It knows who waits to hear that
/// bytes are the kernel's or the client's.
struct ReplayOutput {
    /// How long a client whose kernel has acknowledged everything is given to read it, where its clock is moved by hand, in nanoseconds.
    private static let settleTime: UInt64 = 20_000_000

    private var queue = OutboundQueue()
    private var watch = DeliveryWatch()
    /// Bytes that may still leave; nil: all.
    private var budget: Int?
    /// Acknowledged; the client is given a moment to read it.
    private var settling: [(ticket: UInt64, until: WireInstant)] = []

    /// Bytes that wait.
    var count: Int { queue.count }

    /// Whether nothing leaves until a rule says so.
    var isStopped: Bool { queue.pacer.isStopped }

    // MARK: Bytes

    /// Gives the stream what was made and may leave now.
    mutating func write(from writer: inout ServerWriter, to stream: any ByteStream, at now: WireInstant) {
        if writer.outputCount > 0 {
            let bytes = withinBudget(writer.takeOutput())
            if queue.isIdle(at: now) { return emit(bytes, to: stream) }
            queue.add(bytes, at: now)
        }
        guard queue.count > 0 else { return }
        while case .writes(let pieces) = queue.take(at: now) {
            for piece in pieces { emit(piece, to: stream) }
        }
    }

    private mutating func emit(_ bytes: [UInt8], to stream: any ByteStream) {
        guard !bytes.isEmpty else { return }
        watch.wrote(bytes.count)
        stream.write(bytes.span)
    }

    private mutating func withinBudget(_ bytes: [UInt8]) -> [UInt8] {
        guard let budget else { return bytes }
        self.budget = budget - min(budget, bytes.count)
        return Array(bytes.prefix(budget))
    }

    // MARK: What rules want

    /// Of everything that is made from now on so many bytes leave.
    mutating func limit(_ count: Int) { budget = min(budget ?? .max, count) }

    mutating func set(_ pace: WritePacer.Pace, at now: WireInstant) { queue.pacer.set(pace, at: now) }

    mutating func hold(until moment: WireInstant) { queue.hold(until: moment) }

    mutating func stop(_ isStopped: Bool) { queue.pacer.isStopped = isStopped }

    // MARK: Who waits

    /// `handedOver` follows when the kernel has everything so far; never when a rule keeps some of it.
    /// - Parameter made: bytes that were made and not taken.
    mutating func expect(_ ticket: UInt64, made: Int) {
        guard made <= budget ?? .max else { return }
        watch.add(ticket, unwritten: unwritten(made))
    }

    /// `acknowledged` follows when the client's kernel has everything so far.
    mutating func await(_ ticket: UInt64, made: Int, at now: WireInstant) {
        watch.await(ticket, unwritten: unwritten(made), at: now)
    }

    /// Bytes that were made and not written.
    private func unwritten(_ made: Int) -> Int { queue.count + min(made, budget ?? .max) }

    /// Whether a message is still to be handed over or acknowledged.
    var isDelivering: Bool { watch.isWaiting || !settling.isEmpty }

    /// Asks the stream what is still on its way.
    /// - Parameters:
    ///   - settles: acknowledged bytes are reported a moment later: with a clock that stands still it cannot be the driver's.
    ///   - needsPeer: the client has sent its FIN, and may be gone: only what its kernel has acknowledged was delivered.
    mutating func look(
        _ stream: any ByteStream, settles: Bool, needsPeer: Bool, at now: WireInstant
    ) -> [ReplayInput] {
        let found = watch.look(
            stream, isPaced: queue.count > 0 && !isStopped, needsPeer: needsPeer, at: now)
        var told: [ReplayInput] = []
        if let last = found.handedOver { told.append(.handedOver(last)) }
        for (ticket, isThere) in found.acknowledged {
            if isThere, settles {
                settling.append((ticket, now.advanced(by: Self.settleTime)))
            } else {
                told.append(.acknowledged(ticket, complete: isThere))
            }
        }
        while let first = settling.first, first.until <= now {
            settling.removeFirst()
            told.append(.acknowledged(first.ticket, complete: true))
        }
        return told
    }

    /// The last message that the kernel has and that nobody was told of.
    mutating func takeHandedOver(queued: Int) -> UInt64? { watch.takeHandedOver(queued: queued) }

    /// The stream is gone: what waits is forgotten, and who waits is told so.
    mutating func giveUp() -> [ReplayInput] {
        let settled = settling.map { ReplayInput.acknowledged($0.ticket, complete: true) }
        settling = []
        queue.clear()
        return settled + watch.giveUp().map { .acknowledged($0.ticket, complete: false) }
    }

    /// When to write or to look again; nil: nothing waits for time.
    func nextWake(after now: WireInstant) -> WireInstant? {
        [watch.nextLook, settling.first?.until, queue.nextWake(after: now)].compactMap(\.self).min()
    }
}

/// What the loop reports about written bytes and about the end of a connection.
enum ReplayInput {
    /// The connection is closed. It follows the client's FIN where an answer was owed then.
    case closed(ClientEnd)
    /// The client sent a close frame on a connection that a rule stalls. The frame is read when the rule ends.
    case leftSilently(ClientEnd)
    case handedOver(UInt64)
    case acknowledged(UInt64, complete: Bool)
}
