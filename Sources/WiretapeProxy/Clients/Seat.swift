package import WiretapeBytes

/// Whoever has a seat: a client connection of the relay or of the replay.
package protocol SeatedClient: AnyObject {
    /// Whether it is the client that keeps us waiting: we read it, and it has taken what it was sent.
    var isAwaited: Bool { get }
    /// Its time in `phase` is over.
    func timedOut(_ phase: Seat.Phase, at now: WireInstant)
    /// Another client needs its place, now. It was in `phase`.
    func giveWay(_ phase: Seat.Phase, at now: WireInstant)
}

/// The place of one client connection among those of its loop, and what is awaited from it. It stands in the queue of its
/// phase, which all of one phase enter at its end: they run out in the order in which they stand.
package final class Seat {
    package enum Phase: Int, CaseIterable {
        /// It has not said anything yet.
        case silent
        /// Its TLS handshake is under way, which ends in time by itself.
        case handshake
        /// The head of a request has begun and is not whole.
        case head
        /// The body of a request is on its way.
        case body
        /// Between two requests.
        case idle
        /// It had our last word; its end is awaited.
        case leaving
        /// It was not let in.
        case refused
        /// Nothing is awaited from it: it waits for an answer, or has a stream or a socket.
        case busy
    }

    /// What it takes to reach the client's upstream.
    package enum Onward {
        /// The client has it.
        case own
        /// The client has it and may lend it: it has asked for nothing yet.
        case kept
        /// Another one has it.
        case lent
    }

    private let admission: Admission
    /// Nil before it has sat down, and after it has left.
    /// A ring of references for as long as it sits. Not weak: that makes every other reference to the connection a slow one.
    fileprivate(set) var client: (any SeatedClient)?
    fileprivate(set) var phase = Phase.busy
    /// When the phase began, or its last piece came.
    fileprivate(set) var since = WireInstant.zero
    /// Whether it counts among the places of the run.
    private(set) var hasPlace: Bool
    package var onward: Onward
    fileprivate var next: Seat?
    /// A queue is a ring of references for as long as a seat stands in it; ``SeatQueue/remove(_:)`` breaks it.
    fileprivate var previous: Seat?

    /// - Parameter onward: nil for one that has no place.
    package init(_ admission: Admission, _ onward: Onward?) {
        self.admission = admission
        hasPlace = onward != nil
        self.onward = onward ?? .own
    }

    /// The client's upstream is to be reached.
    /// - Returns: false when nothing is left for it.
    package func findOnward() -> Bool { onward == .own || admission.findOnward(for: self) }

    /// From here on its time runs.
    package func sit(_ client: any SeatedClient, _ phase: Phase, at now: WireInstant) {
        self.client = client
        move(to: phase, at: now)
    }

    @inline(__always)
    package func move(to phase: Phase, at now: WireInstant) {
        if phase != self.phase { admission.move(self, to: phase, at: now) }
    }

    /// A piece of what is awaited came, or we have begun to read again.
    @inline(__always)
    package func restart(_ phase: Phase, at now: WireInstant) {
        if phase == self.phase, phase != .busy { admission.move(self, to: phase, at: now) }
    }

    /// The connection is gone.
    package func leave() {
        admission.move(self, to: .busy, at: since)
        giveUpPlace()
        client = nil
    }

    package func giveUpPlace() {
        guard hasPlace else { return }
        hasPlace = false
        admission.places.giveBack(onward)
    }
}

/// The seats of one phase, the one that has been in it for longest first.
package struct SeatQueue {
    private(set) var first: Seat?
    private var last: Seat?
    /// The first one that may lend.
    private(set) var firstThatKeeps: Seat?
    private(set) var count = 0

    package mutating func append(_ seat: Seat, _ phase: Seat.Phase, at now: WireInstant) {
        seat.phase = phase
        seat.since = now
        seat.previous = last
        last?.next = seat
        last = seat
        if first == nil { first = seat }
        if firstThatKeeps == nil, seat.onward == .kept { firstThatKeeps = seat }
        count += 1
    }

    /// `seat` is the first that may lend, and does so.
    package mutating func lend(_ seat: Seat) {
        seat.onward = .lent
        firstThatKeeps = SeatQueue.thatKeeps(behind: seat)
    }

    /// Those that have lent stand before the others, or were there before: each is passed over once.
    private static func thatKeeps(behind seat: Seat) -> Seat? {
        var next = seat.next
        while let seat = next, seat.onward != .kept { next = seat.next }
        return next
    }

    /// `seat` stands in this queue.
    package mutating func remove(_ seat: Seat) {
        if firstThatKeeps === seat { firstThatKeeps = SeatQueue.thatKeeps(behind: seat) }
        let (before, after) = (seat.previous, seat.next)
        seat.next = nil
        seat.previous = nil
        if let before { before.next = after } else { first = after }
        if let after { after.previous = before } else { last = before }
        seat.phase = .busy
        count -= 1
    }
}
