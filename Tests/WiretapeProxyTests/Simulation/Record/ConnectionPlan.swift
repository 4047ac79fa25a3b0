import WiretapeWire

/// What the two ends of one client connection will say to each other, in one order that leads to no deadlock: whatever waits
/// waits for something before it.
struct ConnectionPlan {
    /// Something that one side sends.
    struct Item {
        var direction: Direction
        var sent: [UInt8]
        /// The same as the proxy passes it on.
        var arrives: [UInt8]
        /// What the tape holds of it, as ``TapeContent`` writes it down: data, and control frames beside it.
        var data: [UInt8] = []
        var control: [UInt8] = []
        /// Whether everything before it in the other direction must have arrived.
        var waits = true
        var delay: UInt64 = 0
        /// The sender stops reading for so long after it.
        var pause: UInt64 = 0
    }

    enum End {
        /// When everything has been sent and has arrived.
        case first
        /// When everything has been sent, whatever is still to come.
        case early
        /// When the other side has ended.
        case second
        /// An RST, when so many items have been sent.
        case reset(after: Int)

        var isReset: Bool { if case .reset = self { true } else { false } }
    }

    var number: Int
    var items: [Item] = []
    var clientEnd = End.first
    var serverEnd = End.second

    func items(_ direction: Direction) -> [Item] { items.filter { $0.direction == direction } }

    /// All that arrives at the receiving end of `direction`.
    func arrives(_ direction: Direction) -> [UInt8] { items(direction).flatMap(\.arrives) }

    func data(_ direction: Direction) -> [UInt8] { items(direction).flatMap(\.data) }
    func control(_ direction: Direction) -> [UInt8] { items(direction).flatMap(\.control) }

    /// How much of data and control frames the tape must hold when `count` bytes have arrived.
    func recorded(_ direction: Direction, arrived count: Int) -> (data: Int, control: Int) {
        var arrived = 0, data = 0, control = 0
        for item in items(direction) {
            arrived += item.arrives.count
            // What has no bytes of its own is seen by the end of the connection.
            guard arrived <= count, !item.arrives.isEmpty else { break }
            data += item.data.count
            control += item.control.count
        }
        return (data, control)
    }

    /// What the peer that sends in `direction` does.
    func script(_ direction: Direction) -> [PlannedPeer.Step] {
        var steps: [PlannedPeer.Step] = []
        var others = 0
        var mine = 0
        let end = direction == .toServer ? clientEnd : serverEnd
        for item in items {
            guard item.direction == direction else {
                others += item.arrives.count
                continue
            }
            if case .reset(let after) = end, mine == after { break }
            mine += 1
            steps.append(.init(.send(item.sent), whenReceived: item.waits ? others : 0, delay: item.delay))
            if item.pause > 0 { steps.append(.init(.pause(item.pause), whenReceived: 0, delay: 0)) }
        }
        let total = arrives(direction == .toServer ? .toClient : .toServer).count
        switch end {
        case .first: steps.append(.init(.end, whenReceived: total, delay: 0))
        case .early: steps.append(.init(.end, whenReceived: 0, delay: 0))
        case .second: steps.append(.init(.endAfterOther, whenReceived: 0, delay: 0))
        case .reset: steps.append(.init(.reset, whenReceived: 0, delay: 1_000))
        }
        return steps
    }
}
