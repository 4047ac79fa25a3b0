internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapeRuntime

/// What goes to one side of a held connection, and what has become of it.
struct OutboundLeg {
    /// How long nothing may be acknowledged until an end that waits for it comes all the same.
    static let patience: UInt64 = 5_000_000_000

    var queue = OutboundQueue()
    /// Bytes since a rule fired for an event: what carries that.
    var carried = 0
    /// What nothing holds back, until it is written in one call.
    private var gathered: [UInt8] = []
    private var ledger = SendLedger()
    private var lookEvery: UInt64 = 0
    private(set) var nextLook: WireInstant?
    private var progressUntil = WireInstant.zero

    mutating func wrote(_ count: Int) { ledger.wrote(count) }

    mutating func gather(_ bytes: [UInt8]) {
        if gathered.isEmpty { gathered = bytes } else { gathered += bytes }
    }

    /// - Returns: what the caller writes now.
    mutating func takeGathered() -> [UInt8] {
        guard !gathered.isEmpty else { return [] }
        defer { gathered = [] }
        wrote(gathered.count)
        return gathered
    }

    /// Tells by ``look(_:at:)`` when the peer's kernel has everything that was written.
    mutating func await(_ ticket: Int, at now: WireInstant) {
        ledger.await(UInt64(ticket), unwritten: 0)
        progressUntil = now.advanced(by: OutboundLeg.patience)
        lookEvery = 50_000
        nextLook = now
    }

    /// Asks the stream what is still on its way.
    /// - Parameter stream: nil when it is gone.
    /// - Returns: what is there, or will not get there.
    mutating func look(_ stream: (any ByteStream)?, at now: WireInstant) -> [(ticket: Int, isThere: Bool)] {
        guard ledger.hasWaits else {
            nextLook = nil
            return []
        }
        guard let stream else { return giveUp() }
        let queued = stream.queued
        let unacknowledged = stream.unacknowledged
        let done = ledger.takeAcknowledged(queued: queued, unacknowledged: unacknowledged).map { (Int($0), true) }
        if ledger.hasProgressed(queued: queued, unacknowledged: unacknowledged) {
            progressUntil = now.advanced(by: OutboundLeg.patience)
        } else if progressUntil <= now {
            return done + giveUp()
        }
        if ledger.hasWaits {
            // Often at first, as loopback answers at once, and then every 10 ms.
            lookEvery = min(max(lookEvery * 2, 100_000), 10_000_000)
            nextLook = now.advanced(by: lookEvery)
        } else {
            nextLook = nil
        }
        return done
    }

    mutating func giveUp() -> [(ticket: Int, isThere: Bool)] {
        nextLook = nil
        return ledger.takeWaits().map { (Int($0), false) }
    }
}
