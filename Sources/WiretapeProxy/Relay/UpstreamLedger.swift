internal import Synchronization

/// What the upstreams of a run came to, over all its loops: whether one of them has answered anything, and why the others
/// did not. Each reason is said when it comes for the first time, and then at the 10th, the 100th, the 1000th.
package final class UpstreamLedger: Sendable {
    private struct State: Sendable {
        var hasAnswered = false
        /// In the order of the first of each, at most ``UpstreamLedger/most``.
        var troubles: [(why: String, count: UInt64)] = []
        var others: UInt64 = 0
    }

    private let state = Mutex(State())
    private let say: @Sendable (String) -> Void

    /// Reasons that are told apart.
    private static let most = 16

    /// - Parameter say: gets a line for people; called on the thread of the loop where it happened.
    package init(_ say: @escaping @Sendable (String) -> Void = { _ in }) { self.say = say }

    /// An upstream has answered a request, or has said something in a protocol that is not HTTP.
    func answered() { state.withLock { $0.hasAnswered = true } }

    /// A request that was not let in, and why.
    func refused(_ why: String) { failed(why) }

    /// A request that an upstream did not answer, and why.
    func failed(_ why: String) {
        let count = state.withLock { state in
            if let n = state.troubles.firstIndex(where: { $0.why == why }) {
                state.troubles[n].count += 1
                return state.troubles[n].count
            }
            guard state.troubles.count < UpstreamLedger.most else {
                state.others += 1
                return state.others
            }
            state.troubles.append((why, 1))
            return 1
        }
        if count == 1 { say(why) } else if isRound(count) { say("\(why) (\(count) times)") }
    }

    package var hasAnswered: Bool { state.withLock { $0.hasAnswered } }

    /// `cannot reach http://127.0.0.1:9 (connection refused), 3 times`; nil when nothing went wrong.
    package var summary: String? {
        state.withLock { state in
            guard let first = state.troubles.first else { return nil }
            let times = first.count == 1 ? "" : ", \(first.count) times"
            let more = state.troubles.dropFirst().reduce(state.others) { $0 + $1.count }
            return first.why + times + (more == 0 ? "" : ", and \(more) other failures")
        }
    }
}
