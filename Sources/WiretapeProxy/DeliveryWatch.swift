package import WiretapeBytes
package import WiretapeRuntime

/// What has become of the bytes that were written to a stream: which messages the kernel has, and when the peer's kernel has what an
/// end waits for. It asks the stream, often at first and then every 10 ms, as long as somebody waits.
package struct DeliveryWatch {
    /// How long nothing may be acknowledged until what waits for it is told that it will not come, in nanoseconds.
    package static let patience: UInt64 = 5_000_000_000

    private var ledger = SendLedger()
    /// When to ask next; nil: nobody waits.
    package private(set) var nextLook: WireInstant?
    private var lookEvery: UInt64 = 0
    private var progressUntil = WireInstant.zero

    package init() {}

    /// What was found.
    package struct Found {
        /// The kernel has that message and all before it.
        package var handedOver: UInt64?
        /// Who waited for the peer's kernel, and whether it has all; else nobody waits any longer.
        package var acknowledged: [(ticket: UInt64, isThere: Bool)] = []
    }

    package mutating func wrote(_ count: Int) { ledger.wrote(count) }

    /// Whether a message is still to be handed over or acknowledged.
    package var isWaiting: Bool { ledger.hasSends || ledger.hasWaits }

    /// Tells when the kernel has a message.
    /// - Parameter unwritten: bytes that were made and not written yet, those of the message included.
    package mutating func add(_ ticket: UInt64, unwritten: Int) { ledger.add(ticket, unwritten: unwritten) }

    /// Tells when the peer's kernel has everything so far.
    package mutating func await(_ ticket: UInt64, unwritten: Int = 0, at now: WireInstant) {
        ledger.await(ticket, unwritten: unwritten)
        progressUntil = now.advanced(by: DeliveryWatch.patience)
        lookEvery = 50_000
        nextLook = now
    }

    /// Takes the messages that the kernel has.
    /// - Returns: the last of them; what is true of it is true of all before it.
    package mutating func takeHandedOver(queued: Int) -> UInt64? { ledger.takeHandedOver(queued: queued) }

    /// Asks the stream what is still on its way.
    /// - Parameters:
    ///   - stream: nil when it is gone.
    ///   - isPaced: more is written as time goes by, so that nothing has come to a halt.
    ///   - needsPeer: a message counts as handed over only when the peer's kernel has acknowledged it.
    package mutating func look(
        _ stream: (any ByteStream)?, isPaced: Bool = false, needsPeer: Bool = false, at now: WireInstant
    ) -> Found {
        var found = Found()
        guard let stream else {
            found.acknowledged = giveUp()
            return found
        }
        found.handedOver = ledger.takeHandedOver(
            queued: needsPeer ? stream.queued.addingClamped(stream.unacknowledged) : stream.queued)
        if ledger.hasWaits {
            let unacknowledged = stream.unacknowledged
            let done = ledger.takeAcknowledged(queued: stream.queued, unacknowledged: unacknowledged)
            found.acknowledged = done.map { ($0, true) }
            if ledger.hasProgressed(queued: stream.queued, unacknowledged: unacknowledged) || isPaced {
                progressUntil = now.advanced(by: DeliveryWatch.patience)
            } else if progressUntil <= now {
                found.acknowledged += giveUp()
            }
        }
        guard isWaiting else {
            nextLook = nil
            lookEvery = 0
            return found
        }
        // Often at first, as loopback answers at once, and then every 10 ms.
        lookEvery = min(max(lookEvery * 2, 100_000), 10_000_000)
        nextLook = now.advanced(by: lookEvery)
        return found
    }

    /// The stream is gone: what waits is told so.
    package mutating func giveUp() -> [(ticket: UInt64, isThere: Bool)] {
        nextLook = nil
        return ledger.takeWaits().map { ($0, false) }
    }
}

extension Int {
    /// The sum, or the largest number: a stream that has failed reports that all of its bytes are unacknowledged.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
