internal import WiretapeWire

/// The message numbers of a stateful reconnect: each side counts what it sends, and after a reconnect says with a
/// Sequence from which number on it sends again.
struct SignalRCounters: Hashable, Sendable {
    private struct Side: Hashable, Sendable {
        var next: UInt64 = 1
        var highest: UInt64 = 0
    }

    private var toServer = Side()
    private var toClient = Side()

    /// Counts a message of the types 1 to 5. True when the other side has had it before.
    mutating func isRepeated(_ direction: Direction) -> Bool {
        direction == .toServer ? SignalRCounters.count(&toServer) : SignalRCounters.count(&toClient)
    }

    private static func count(_ side: inout Side) -> Bool {
        let number = side.next
        side.next &+= 1
        guard number > side.highest else { return true }
        side.highest = number
        return false
    }

    /// A Sequence: the next message of that side has this number.
    mutating func restart(_ direction: Direction, at number: UInt64) {
        if direction == .toServer { toServer.next = number } else { toClient.next = number }
    }
}
