internal import Synchronization

/// How many client connections a run may have, over all its loops, so that each of them finds the descriptors that it needs:
/// its own, and those towards its upstream. What goes beyond is refused, and told to people: the first, the 10th, the 100th …
///
/// A client comes with all of them. Those towards its upstream it may lend (``Lending/untilTheyAsk``) as long as it asks for
/// nothing; then it needs them back.
package final class ClientPlaces: Sendable {
    /// What becomes of the descriptors towards the upstream of a client that has not asked for anything.
    package enum Lending: Sendable {
        /// They stay its own.
        case never
        /// Others may have them.
        case untilTheyAsk
    }

    private struct State: Sendable {
        /// Descriptors for clients and for what is opened for them.
        var room: Int
        var descriptors: Int?
        /// Descriptors that clients have, or that are kept for them.
        var taken = 0
        var clients = 0
        /// How many clients there were when one of them last found no place.
        var full = 0
        var refused: UInt64 = 0
        var gaveWay: UInt64 = 0

        mutating func take(_ count: Int) -> Bool {
            guard count <= room - taken else { return false }
            taken += count
            return true
        }
    }

    /// How many descriptors a client comes with.
    package let perClient: Int
    private let lending: Lending
    private let state: Mutex<State>
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - room: descriptors for clients, until ``limit(to:descriptors:)`` is called.
    ///   - perClient: how many of them a client comes with.
    ///   - say: gets a line for people; called on the thread of the loop where it happened.
    package init(
        _ room: Int = .max, perClient: Int = 1, lending: Lending = .never,
        _ say: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.perClient = perClient
        self.lending = lending
        state = Mutex(State(room: room))
        self.say = say
    }

    /// How many descriptors clients may have, and what is opened for them.
    /// - Parameters:
    ///   - descriptors: how many the process may have open.
    ///   - ceiling: descriptors beyond it are for others: files, lookups, libraries.
    ///   - used: descriptors that are open before the first client comes.
    ///   - perClient: descriptors that a client needs: there is room for one client in any case.
    package static func room(descriptors: Int, ceiling: Int, used: Int, perClient: Int) -> Int {
        // A newcomer has its descriptor before it is known what becomes of it; an upstream's name is looked up with one.
        max(perClient, ceiling - used - mostRefusals(descriptors) - 2)
    }

    /// Clients that are being told at one time that there is no place, for so many descriptors.
    private static func mostRefusals(_ descriptors: Int) -> Int { min(32, max(4, descriptors / 32)) }

    /// - Parameter room: descriptors for clients and what is opened for them.
    package func limit(to room: Int, descriptors: Int) {
        state.withLock { state in
            state.room = room
            state.descriptors = descriptors
        }
    }

    /// The same for the run.
    var mostRefusals: Int { ClientPlaces.mostRefusals(state.withLock { $0.descriptors } ?? 1024) }

    /// For a newcomer.
    /// - Returns: what it has for its upstream; nil when there is no place.
    func take() -> Seat.Onward? {
        state.withLock { state in
            guard state.take(perClient) else { return nil }
            state.clients += 1
            return perClient > 1 && lending == .untilTheyAsk ? .kept : .own
        }
    }

    /// What a client has lent, since it needs that now.
    /// - Returns: false when there is none.
    func takeOnward() -> Bool { state.withLock { $0.take(perClient - 1) } }

    /// A client lends what it has for its upstream.
    func giveBackOnward() { state.withLock { $0.taken -= perClient - 1 } }

    /// A client is gone.
    func giveBack(_ onward: Seat.Onward) {
        state.withLock { state in
            state.clients -= 1
            state.taken -= onward == .lent ? 1 : perClient
        }
    }

    /// A client was not let in.
    func noteRefusal() {
        let (count, why) = state.withLock { state in
            state.refused += 1
            state.full = state.clients
            return (state.refused, Self.text(state))
        }
        guard count == 1 || isRound(count) else { return }
        say("\(why): answered 503\(count == 1 ? "" : " (\(count) times)")")
    }

    /// A client had to leave since another one came.
    func noteGivingWay() {
        let (count, why) = state.withLock { state in
            state.gaveWay += 1
            state.full = state.clients
            return (state.gaveWay, Self.text(state))
        }
        guard count == 1 || isRound(count) else { return }
        let clients = count == 1 ? "a client" : "\(count) clients"
        say("\(why): \(clients) that asked for nothing had to make room")
    }

    private static func text(_ state: State) -> String {
        let places = state.full == 1 ? "the only place for a client is" : "all \(state.full) places for clients are"
        guard let descriptors = state.descriptors else { return "\(places) taken" }
        return "\(places) taken (\(descriptors) file descriptors, ulimit -n raises the limit)"
    }

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
