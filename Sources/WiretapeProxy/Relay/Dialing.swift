internal import WiretapeBytes
package import WiretapeRuntime

/// Reaches an upstream for one connection. Its addresses are tried in turn, those of the two families by turns, the next one as soon
/// as one has failed, or when 250 ms have passed without an answer (RFC 8305); the first that is connected is taken, and the
/// others are let go. The machine is over when it has told its outcome, or was cancelled.
package final class Dialing {
    package enum Outcome {
        /// Its handler is still to be set.
        case connected(any ByteStream)
        /// What came of each address, or of the search for them.
        case failed([String])
        /// There is no descriptor for it.
        case noPlace
    }

    /// How long an address is waited for before the next one is tried, too (RFC 8305 8).
    static let attemptDelay: UInt64 = 250_000_000

    /// Among those of its dialer.
    let number: Int
    private let dialer: UpstreamDialer
    private let isTunnel: Bool
    private var done: ((Outcome) -> Void)?
    private var left: ArraySlice<Address> = []
    private var attempts: [DialAttempt] = []
    private var failures: [String] = []
    /// When the next address is tried though the last has not answered.
    private var nextStart: WireInstant?
    /// When it is told that there is no place for it.
    private var refusedAt: WireInstant?

    init(_ dialer: UpstreamDialer, _ number: Int, isTunnel: Bool, _ done: @escaping (Outcome) -> Void) {
        self.dialer = dialer
        self.number = number
        self.isTunnel = isTunnel
        self.done = done
    }

    /// - Parameter hasPlace: there is a descriptor for it.
    func begin(hasPlace: Bool) {
        guard hasPlace else {
            refusedAt = dialer.now
            return dialer.look(self)
        }
        dialer.find { [self] result in
            guard done != nil else { return }
            switch result {
            case .success(let addresses):
                left = Self.alternating(addresses)[...]
                startNext()
            case .failure(let error):
                failures.append(error.reason)
                giveUp()
            }
        }
    }

    /// Nobody waits for it any more.
    package func cancel() {
        done = nil
        dialer.forget(self)
        for attempt in attempts { attempt.leave() }
        attempts = []
        left = []
    }

    /// The first address first, then one of the other family, and so on; within a family the order stays.
    static func alternating(_ addresses: [Address]) -> [Address] {
        let isFirstIPv6 = addresses.first?.host.contains(":") ?? false
        let same = addresses.filter { $0.host.contains(":") == isFirstIPv6 }
        let other = addresses.filter { $0.host.contains(":") != isFirstIPv6 }
        var mixed: [Address] = []
        for i in 0..<max(same.count, other.count) {
            if i < same.count { mixed.append(same[i]) }
            if i < other.count { mixed.append(other[i]) }
        }
        return mixed
    }

    private func startNext() {
        guard let address = left.popFirst() else {
            nextStart = nil
            if attempts.isEmpty { giveUp() }
            return
        }
        let now = dialer.now
        let attempt = DialAttempt(self, address, until: now.advanced(by: dialer.timeout))
        attempts.append(attempt)
        nextStart = left.isEmpty ? nil : now.advanced(by: Self.attemptDelay)
        attempt.stream = dialer.open(address, attempt, isTunnel: isTunnel)
        dialer.look(self)
    }

    /// What time brings next.
    var due: WireInstant? {
        if let refusedAt { return refusedAt }
        let ends = attempts.map(\.until).min()
        guard let nextStart else { return ends }
        return ends.map { min($0, nextStart) } ?? nextStart
    }

    /// ``due`` has come.
    func wake(at now: WireInstant) {
        if refusedAt != nil, let done {
            cancel()
            return done(.noPlace)
        }
        for attempt in attempts where attempt.until <= now {
            failed(attempt, "no answer within \(DurationText.spoken(dialer.timeout))")
        }
        if let nextStart, nextStart <= now, done != nil { startNext() }
    }

    // MARK: What attempts tell

    fileprivate func connected(_ attempt: DialAttempt) {
        guard let done, let stream = attempt.stream else { return }
        attempts.removeAll { $0 === attempt }
        dialer.prefer(attempt.address)
        attempt.release()
        cancel()
        done(.connected(stream))
    }

    fileprivate func failed(_ attempt: DialAttempt, _ why: String) {
        attempts.removeAll { $0 === attempt }
        attempt.leave()
        failures.append("\(attempt.address): \(why)")
        if done != nil { startNext() }
    }

    private func giveUp() {
        guard let done else { return }
        dialer.forget()
        let tried = failures.isEmpty ? ["no address"] : failures
        cancel()
        done(.failed(tried))
    }
}

/// One address that is tried. It hears of its stream until somebody takes that over.
final class DialAttempt: StreamHandler {
    let address: Address
    let until: WireInstant
    var stream: (any ByteStream)?
    /// Nil once nobody wants to know.
    private var dialing: Dialing?

    init(_ dialing: Dialing, _ address: Address, until: WireInstant) {
        self.dialing = dialing
        self.address = address
        self.until = until
    }

    /// It is not wanted any more.
    func leave() {
        dialing = nil
        stream?.reset()
        stream = nil
    }

    /// The stream is somebody else's.
    func release() {
        dialing = nil
        stream = nil
    }

    func connected() { dialing?.connected(self) }
    func received(_ bytes: Span<UInt8>) {}
    func receivedEnd() {}
    func drained() {}

    func ended(_ how: StreamEnd) {
        stream = nil
        switch how {
        case .failed(let why): dialing?.failed(self, why)
        case .reset: dialing?.failed(self, "connection reset")
        case .closed, .aborted: dialing?.failed(self, "connection closed")
        }
    }
}
