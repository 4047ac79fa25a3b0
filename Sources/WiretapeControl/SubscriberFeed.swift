internal import WiretapeBytes
internal import WiretapeRuntime

/// Tells subscribers what they have not been told: some of them, then the loop has its turn. Of its time three quarters at least are the
/// runs'. Who does not read is not looked at, or not often: those cost next to nothing.
final class SubscriberFeed {
    /// Bytes that subscribers are told before the loop has its turn.
    private static let share = 128 << 10
    private static let slowTime: UInt64 = 50_000_000
    private static let slowAtOnce = 32

    /// Events that were kept no more when their subscriber could take them.
    private(set) var dropped: UInt64 = 0
    private let loop: any Loop
    /// Tells one of them; nil: it is none any more.
    private let tell: (Int) -> ControlConnection.Fed?
    /// Connections whose subscribers can take more.
    private var ready: Set<Int> = []
    /// Those that have not taken what they were told, the first to be looked at first.
    private var slow: [Int] = []
    private var last = 0
    private var hasMore = false
    private var isArmed = false
    private var timer: (any LoopTimer)?
    private var slowTimer: (any LoopTimer)?

    init(_ loop: any Loop, _ tell: @escaping (Int) -> ControlConnection.Fed?) {
        self.loop = loop
        self.tell = tell
        // Lifetime: whoever made it closes it before it goes.
        timer = loop.timer { [unowned self] in fired() }
        // Lifetime: as above.
        slowTimer = loop.timer { [unowned self] in lookAtSlow() }
    }

    /// Its subscriber can take more.
    func isReady(_ id: Int) {
        ready.insert(id)
        ring()
    }

    func remove(_ id: Int) { ready.remove(id) }

    /// There may be something to tell.
    func ring() {
        guard !ready.isEmpty, !isArmed, let timer else { return }
        isArmed = true
        timer.arm(at: loop.now)
    }

    /// Tells all that can be told now.
    func tellAll() { tell(most: .max) }

    func close() {
        timer?.close()
        slowTimer?.close()
        (timer, slowTimer) = (nil, nil)
    }

    private func fired() {
        let began = loop.now
        isArmed = false
        tell(most: Self.share)
        guard hasMore, !ready.isEmpty else { return }
        isArmed = true
        timer?.arm(at: loop.now.advanced(by: 3 * loop.now.since(began)))
    }

    private func tell(most: Int) {
        let ids = ready.sorted()
        let start = ids.firstIndex { $0 > last } ?? 0
        var said = 0
        hasMore = false
        for id in ids[start...] + ids[..<start] {
            guard said < most else {
                hasMore = true
                return
            }
            last = id
            guard let fed = tell(id) else {
                ready.remove(id)
                continue
            }
            dropped += fed.lost
            said += fed.bytes
            switch fed.state {
            case .all: break
            case .some: hasMore = true
            case .full: ready.remove(id)
            case .slow:
                ready.remove(id)
                if slow.isEmpty { slowTimer?.arm(at: loop.now.advanced(by: Self.slowTime)) }
                slow.append(id)
            }
        }
    }

    /// Looks whether those who had not taken what they were told have done so.
    private func lookAtSlow() {
        let some = slow.prefix(Self.slowAtOnce)
        slow.removeFirst(some.count)
        ready.formUnion(some)
        if !slow.isEmpty { slowTimer?.arm(at: loop.now.advanced(by: Self.slowTime)) }
        ring()
    }
}
