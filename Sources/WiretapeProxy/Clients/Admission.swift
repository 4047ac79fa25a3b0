internal import WiretapeBytes
package import WiretapeRuntime

/// Who is let in on one loop, and for how long it may keep us waiting. All client connections of the loop have a seat here;
/// those that something is awaited from stand in one queue for each phase, and one timer looks at the first of each. A
/// message that passes, a frame, a byte of a head: none of them touches a timer.
package final class Admission {
    let loop: any Loop
    let limits: ClientLimits
    let places: ClientPlaces
    private var queues = [SeatQueue](repeating: SeatQueue(), count: Seat.Phase.busy.rawValue)
    private var timer: (any LoopTimer)?
    /// When the timer fires; nil while it is not armed.
    private var armedFor: WireInstant?
    /// The timer fired late and was armed again, so that what came meanwhile is read first.
    private var hasWaited = false

    /// A client that came just now may have said what is not read yet: it does not give way.
    private static let shortest: UInt64 = 200_000_000
    /// A timer that fires so late says that the loop stood still.
    private static let late: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - limits: in the loop's time.
    ///   - places: of the run.
    package init(_ loop: any Loop, limits: ClientLimits = ClientLimits(), places: ClientPlaces = ClientPlaces()) {
        self.loop = loop
        self.limits = limits
        self.places = places
        // Lifetime: whoever made it keeps it until its clients are gone, and closes it then.
        timer = loop.timer { [unowned self] in fired() }
    }

    /// Lets go of the timer and of all seats: nobody is limited any more.
    package func close() {
        timer?.close()
        timer = nil
        for index in queues.indices {
            while let seat = queues[index].first { queues[index].remove(seat) }
        }
    }

    // MARK: Who is let in

    /// A seat for a client that has just connected; nil when there is none and nobody gives way.
    func admit() -> Seat? {
        var hasMadeRoom = false
        while true {
            if let onward = places.take() {
                if hasMadeRoom { places.noteGivingWay() }
                return Seat(self, onward)
            }
            if borrow(at: loop.now) { continue }
            guard makeRoom(at: loop.now) else { return nil }
            hasMadeRoom = true
        }
    }

    /// A client asks for something, and its upstream has to be reached.
    /// - Returns: false when it has lent what that takes and nobody gives way: it has to be told so, and to leave.
    func findOnward(for seat: Seat) -> Bool {
        let now = loop.now
        // Whoever asks does not give way.
        seat.move(to: .busy, at: now)
        var hasMadeRoom = false
        while seat.onward == .lent {
            if places.takeOnward() {
                seat.onward = .own
                if hasMadeRoom { places.noteGivingWay() }
            } else if !borrow(at: now) {
                guard makeRoom(at: now) else {
                    places.noteRefusal()
                    return false
                }
                hasMadeRoom = true
            }
        }
        seat.onward = .own
        return true
    }

    /// Whoever has asked for nothing for longest lends what it has for its upstream.
    private func borrow(at now: WireInstant) -> Bool {
        let phases = [Seat.Phase.silent, .handshake, .head, .idle]
        let candidates = phases.compactMap { queues[$0.rawValue].firstThatKeeps }.filter {
            now.since($0.since) >= Admission.shortest
        }
        guard let oldest = candidates.min(by: { $0.since < $1.since }) else { return false }
        queues[oldest.phase.rawValue].lend(oldest)
        places.giveBackOnward()
        return true
    }

    /// Tells a client that there is no place for it, in `words`.
    func refuse(_ stream: any ByteStream, _ words: [UInt8] = OwnAnswer.noPlace) -> any StreamHandler {
        places.noteRefusal()
        let queue = Seat.Phase.refused.rawValue
        if queues[queue].count >= places.mostRefusals, let oldest = queues[queue].first {
            queues[queue].remove(oldest)
            oldest.client?.giveWay(.refused, at: loop.now)
        }
        return RefusedClient(stream, words, Seat(self, nil), at: loop.now)
    }

    /// Whoever has not said a whole head for longest leaves; if there is none, whoever has been idle for longest.
    private func makeRoom(at now: WireInstant) -> Bool {
        for phases in [[Seat.Phase.silent, .handshake, .head], [.idle]] {
            let candidates = phases.compactMap { queues[$0.rawValue].first }.filter {
                now.since($0.since) >= Admission.shortest && $0.client?.isAwaited == true
            }
            guard let oldest = candidates.min(by: { $0.since < $1.since }), let client = oldest.client else { continue }
            let phase = oldest.phase
            queues[phase.rawValue].remove(oldest)
            oldest.giveUpPlace()
            client.giveWay(phase, at: now)
            return true
        }
        return false
    }

    // MARK: Time

    func move(_ seat: Seat, to phase: Seat.Phase, at now: WireInstant) {
        if seat.phase != .busy { queues[seat.phase.rawValue].remove(seat) }
        guard phase != .busy, timer != nil else { return }
        queues[phase.rawValue].append(seat, phase, at: now)
        guard let limit = limits.limit(of: phase) else { return }
        let end = now.advanced(by: limit)
        if armedFor.map({ end < $0 }) ?? true { arm(at: end) }
    }

    private func arm(at instant: WireInstant) {
        armedFor = instant
        timer?.arm(at: instant)
    }

    private func fired() {
        let now = loop.now
        let isLate = armedFor.map { now.since($0) > Admission.late } ?? false
        armedFor = nil
        if isLate, !hasWaited {
            hasWaited = true
            return arm(at: now.advanced(by: Admission.shortest))
        }
        hasWaited = false
        for phase in Seat.Phase.allCases {
            if let limit = limits.limit(of: phase) { end(phase, after: limit, at: now) }
        }
        armForNext(at: now)
    }

    private func end(_ phase: Seat.Phase, after limit: UInt64, at now: WireInstant) {
        while let seat = queues[phase.rawValue].first, seat.since.advanced(by: limit) <= now {
            guard let client = seat.client, client.isAwaited || phase == .refused || phase == .leaving else {
                move(seat, to: phase, at: now)
                continue
            }
            queues[phase.rawValue].remove(seat)
            client.timedOut(phase, at: now)
        }
    }

    /// Not for each of those that run out one after the other.
    private func armForNext(at now: WireInstant) {
        var next: WireInstant?
        for phase in Seat.Phase.allCases {
            guard let limit = limits.limit(of: phase), let first = queues[phase.rawValue].first else { continue }
            let end = max(first.since.advanced(by: limit), now.advanced(by: min(limit / 16, 1_000_000_000)))
            next = min(next ?? end, end)
        }
        if let next, armedFor.map({ next < $0 }) ?? true { arm(at: next) }
    }
}
