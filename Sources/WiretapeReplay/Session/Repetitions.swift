internal import WiretapeBytes

/// Steps of a script that a connection hears out of turn: the protocol's handshake, answers to repeated requests, and what the server
/// says to everybody who connects.
struct Repetitions: Sendable {
    private var again: [(step: Int, due: WireInstant)] = []
    /// The greeting, until the protocol's opening is through.
    private(set) var greeting: [Int] = []
    /// What of the greeting an earlier connection has had.
    private(set) var greeted: Set<Int> = []

    var isEmpty: Bool { again.isEmpty }

    /// The one that is due first.
    var first: (step: Int, due: WireInstant)? { again.min { $0.due < $1.due } }

    mutating func add(_ step: Int, due: WireInstant) { again.append((step, due)) }

    /// The step went out.
    mutating func sent(_ step: Int) { again.removeAll { $0.step == step } }

    /// The connection is greeted once its opening is through.
    /// - Parameter greeted: steps that an earlier connection has had.
    mutating func greet(_ steps: [Int], greeted: Set<Int>) {
        greeting = steps
        self.greeted = greeted
    }

    /// The opening is through.
    mutating func takeGreeting() -> [Int] {
        defer { greeting = [] }
        return greeting
    }

    /// The steps have other numbers, or none.
    mutating func renumber(_ number: (Int) -> Int?) {
        again = again.compactMap { again in number(again.step).map { ($0, again.due) } }
    }
}
