internal import Synchronization

/// How many client connections a run may have, over all its loops, so that each of them finds the descriptors that it needs:
/// its own, and one towards its upstream. What goes beyond is refused, and told to people: the first, the 10th, the 100th …
package final class ClientPlaces: Sendable {
    private struct State: Sendable {
        var count: Int
        var descriptors: Int?
        var taken = 0
        var refused: UInt64 = 0
        var gaveWay: UInt64 = 0
    }

    private let state: Mutex<State>
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - count: until ``limit(to:descriptors:)`` is called.
    ///   - say: gets a line for people; called on the thread of the loop where it happened.
    package init(_ count: Int = .max, _ say: @escaping @Sendable (String) -> Void = { _ in }) {
        state = Mutex(State(count: count))
        self.say = say
    }

    /// How many clients fit.
    /// - Parameters:
    ///   - descriptors: how many the process may have open.
    ///   - ceiling: descriptors beyond it are for others: files, lookups, libraries.
    ///   - used: descriptors that are open before the first client comes.
    ///   - perClient: descriptors that a client needs.
    package static func count(descriptors: Int, ceiling: Int, used: Int, perClient: Int) -> Int {
        // A newcomer has its descriptor before it is known what becomes of it; an upstream's name is looked up with one.
        max(1, (ceiling - used - mostRefusals(descriptors) - 2) / perClient)
    }

    /// Clients that are being told at one time that there is no place, for so many descriptors.
    private static func mostRefusals(_ descriptors: Int) -> Int { min(32, max(4, descriptors / 32)) }

    package func limit(to count: Int, descriptors: Int) {
        state.withLock { state in
            state.count = count
            state.descriptors = descriptors
        }
    }

    /// The same for the run.
    var mostRefusals: Int { ClientPlaces.mostRefusals(state.withLock { $0.descriptors } ?? 1024) }

    /// - Returns: false when all are taken.
    func take() -> Bool {
        state.withLock { state in
            guard state.taken < state.count else { return false }
            state.taken += 1
            return true
        }
    }

    func giveBack() { state.withLock { $0.taken -= 1 } }

    /// A client was not let in.
    func noteRefusal() {
        let (count, why) = state.withLock { state in
            state.refused += 1
            return (state.refused, Self.text(state))
        }
        guard count == 1 || isRound(count) else { return }
        say("\(why): answered 503\(count == 1 ? "" : " (\(count) times)")")
    }

    /// A client had to leave since another one came.
    func noteGivingWay() {
        let (count, why) = state.withLock { state in
            state.gaveWay += 1
            return (state.gaveWay, Self.text(state))
        }
        guard count == 1 || isRound(count) else { return }
        let clients = count == 1 ? "a client" : "\(count) clients"
        say("\(why): \(clients) that asked for nothing had to make room")
    }

    private static func text(_ state: State) -> String {
        let places = state.count == 1 ? "the only place for a client is" : "all \(state.count) places for clients are"
        guard let descriptors = state.descriptors else { return "\(places) taken" }
        return "\(places) taken (\(descriptors) file descriptors, ulimit -n raises the limit)"
    }

    /// Clients that were not let in.
    package var refused: UInt64 { state.withLock { $0.refused } }

    /// What the run's verdict says of them; nil when all were let in.
    package var summary: String? {
        state.withLock { state in
            guard state.refused > 0 else { return nil }
            return "\(state.refused) \(state.refused == 1 ? "connection was" : "connections were") answered 503: "
                + Self.text(state)
        }
    }
}

/// 10, 100, 1000 …: how often something is told that happens again and again.
func isRound(_ count: UInt64) -> Bool {
    var rest = count
    while rest >= 10, rest % 10 == 0 { rest /= 10 }
    return rest == 1
}
