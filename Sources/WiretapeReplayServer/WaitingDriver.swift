package import WiretapeBytes
package import WiretapeReplay
package import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// Stands for the real driver while the tape is still being read: keeps what clients say and answers nothing. With
/// ``ReplayService/begin(_:)`` the real one hears all of it in order.
///
/// Its clients can only have asked something, or gone: nothing else is said before the first answer.
package struct WaitingDriver: ReplayDriver {
    enum Input {
        case opened(ConnectionID, Address?, name: String?, upstream: String?, WireInstant)
        case request(ConnectionID, RequestHead, [UInt8], WireInstant)
        case closed(ConnectionID, ClientEnd, WireInstant)
    }

    private(set) var inputs: [Input] = []
    private var visitors = Visitors()
    private let seed: UInt64
    private let tapeName: String
    private let allowsUnplayed: Bool

    /// - Parameters:
    ///   - seed: what a report says that is asked for before the tape was read.
    ///   - allowsUnplayed: whether such a run may pass.
    package init(seed: UInt64, tapeName: String, allowsUnplayed: Bool) {
        self.seed = seed
        self.tapeName = tapeName
        self.allowsUnplayed = allowsUnplayed
    }

    package mutating func opened(
        _ c: ConnectionID, from: Address?, name: String?, upstream: String?, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        visitors.opened(c)
        inputs.append(.opened(c, from, name: name, upstream: upstream, now))
    }

    package mutating func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction]
    ) {
        visitors.asked(c, head)
        inputs.append(.request(c, head, body, now))
    }

    package mutating func clientClosed(
        _ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        // After an RST nobody waits for its answer, and what it sent is counted no more. After a FIN the client may still read.
        if how != .fin { forgetBodies(of: c, over: 64 << 10) }
        inputs.append(.closed(c, how, now))
    }

    /// The client is gone or was answered: what it asked is not to be kept.
    mutating func forgetBodies(of client: ConnectionID, over size: Int = 0) {
        for i in inputs.indices {
            if case .request(client, let head, let body, let time) = inputs[i], body.count > size {
                inputs[i] = .request(client, head, [], time)
            }
        }
    }

    package mutating func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {}
    package mutating func controlFrame(_ c: ConnectionID, isPing: Bool, at now: WireInstant) {}
    package mutating func clientLeftSilently(_ c: ConnectionID, _ how: ClientEnd, at now: WireInstant) {}
    package mutating func handedOver(
        _ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {}
    package mutating func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {}
    package mutating func step(
        _ count: Int, session: Int?, at now: WireInstant, into out: inout [ReplayAction]
    ) {}
    package mutating func wake(at now: WireInstant, into out: inout [ReplayAction]) {}
    package var nextWake: WireInstant? { nil }
    package var shouldEnd: Bool { false }

    package mutating func finish(at now: WireInstant, clientsAreGone: Bool) -> ReplayReport {
        var report = ReplayReport.empty(seed: seed)
        if !allowsUnplayed {
            report.nobody = ReplayReport.nobody(
                at: tapeName, "the run ended before the tape was read; \(visitors.text)")
        }
        return report
    }

    /// Tells `driver` what has come.
    func tell(_ driver: inout any ReplayDriver, into out: inout [ReplayAction]) {
        for input in inputs {
            switch input {
            case .opened(let c, let from, let name, let upstream, let now):
                driver.opened(c, from: from, name: name, upstream: upstream, at: now, into: &out)
            case .request(let c, let head, let body, let now): driver.request(c, head, body: body, at: now, into: &out)
            case .closed(let c, let how, let now): driver.clientClosed(c, how, at: now, into: &out)
            }
        }
    }
}
