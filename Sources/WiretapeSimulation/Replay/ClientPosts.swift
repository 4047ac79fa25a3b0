internal import WiretapeBytes

/// What a model client says over HTTP beside the stream that it hears: one POST after the other, on one slot. What gathers while
/// one is under way goes in the next.
struct ClientPosts {
    /// Carries them; nil before the first.
    private(set) var slot: Int?
    /// A message was refused: the event stream tells that it is over, unless it has not by then.
    private(set) var refusedUntil: WireInstant?
    private var isWaiting = false
    private var gathered: [(bytes: [UInt8], sayings: [Saying])] = []

    /// One POST.
    struct Post {
        var slot: Int
        var body: [UInt8]
        var sayings: [Saying]
    }

    /// Whether everything is said and answered.
    var isIdle: Bool { !isWaiting && gathered.isEmpty }

    mutating func gather(_ bytes: [UInt8], _ sayings: [Saying]) { gathered.append((bytes, sayings)) }

    /// The next POST: everything that has gathered; nil while one is under way.
    mutating func next(_ newSlot: () -> Int) -> Post? {
        guard !isWaiting, !gathered.isEmpty else { return nil }
        let slot = self.slot ?? newSlot()
        self.slot = slot
        isWaiting = true
        defer { gathered = [] }
        return Post(slot: slot, body: gathered.flatMap(\.bytes), sayings: gathered.flatMap(\.sayings))
    }

    mutating func answered() { isWaiting = false }

    /// The server ended the slot instead of answering.
    mutating func ended() {
        slot = nil
        isWaiting = false
    }

    /// Nothing more is posted: the event stream has until then to end.
    mutating func refused(until limit: WireInstant) {
        isWaiting = true
        refusedUntil = limit
    }

    /// Another slot carries the last request.
    /// - Returns: the one before it, which is to be ended.
    mutating func turn(to next: Int) -> Int? {
        defer { slot = next }
        return slot
    }
}
