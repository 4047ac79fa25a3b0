internal import WiretapeBytes
internal import WiretapeWire

/// What a connection may bring in one turn of the loop, so that a peer that floods does not delay others by more than milliseconds.
struct TurnShare {
    /// Read and not looked at: the connection has had its share.
    private var late: [Direction: [UInt8]] = [:]
    private var spent = 0
    private var restedAt = WireInstant.zero

    /// Messages, or what costs as much.
    private static let share = 128
    /// Until the next share, in nanoseconds, about what one takes: a loop that never waits keeps its peers, and others that
    /// share its processor, from running (the kernel lets a thread run for milliseconds before it gives way).
    private static let pause: UInt64 = 250_000

    /// The connection has had its share.
    var isOver: Bool { spent >= TurnShare.share }

    mutating func begin() { spent = 0 }

    /// Something was looked at that costs as much as so many messages.
    mutating func spend(_ cost: Int) { spent += cost }

    /// These bytes are looked at in another turn.
    mutating func wait(_ bytes: Span<UInt8>, _ direction: Direction) {
        late[direction, default: []].append(copying: bytes)
    }

    func waits(_ direction: Direction) -> Bool { !late.isEmpty && late[direction] != nil }

    mutating func take(_ direction: Direction) -> [UInt8]? { late.removeValue(forKey: direction) }

    mutating func forget() { late = [:] }

    var waitingCount: Int { late.isEmpty ? 0 : late.values.reduce(0) { $0 + $1.count } }

    /// - Parameter isLong: what waits is not of a body that is kept until it is whole.
    mutating func rest(isLong: Bool, at now: WireInstant) {
        restedAt = isLong ? now.advanced(by: TurnShare.pause) : now
    }

    /// Whether something waits whose turn it is.
    func isNext(at now: WireInstant) -> Bool { !late.isEmpty && restedAt <= now }

    /// When it is the turn of what waits; nil: nothing does.
    var next: WireInstant? { late.isEmpty ? nil : restedAt }
}
