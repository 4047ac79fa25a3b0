internal import WiretapeBytes

/// The bytes that the connections of one loop may hold together, and what each of them holds: bodies and messages that are not
/// whole yet, bytes that wait for their time or for a peer that does not read.
///
/// Each connection has a ``MemoryHold`` and says there what it holds after each change. Above the total the one that holds most
/// is refused, whoever asked for more; of equal ones the youngest. So a client with little is served whatever the others
/// do. Of `--memory` half is for what connections hold, the other half for the copies and trees of the one message that is
/// being handled.
package final class MemoryBudget {
    /// The default of `--memory`.
    package static let standard = 256 << 20
    /// What clients and tapes are told.
    package static let reason = "no memory is left for it (--memory)"

    /// Most bytes that are held.
    package let limit: Int
    package private(set) var used = 0
    /// Connections that were refused.
    package private(set) var refused = 0
    /// A line for people, at the first refusal.
    package var log: (String) -> Void = { _ in }
    /// Those that hold something.
    private var holders: [Int: MemoryHold] = [:]
    private var next = 0

    /// - Parameter memory: the whole of `--memory`.
    package init(memory: Int = MemoryBudget.standard) {
        limit = max(1, memory / 2)
    }

    /// What one connection may hold of a message or a body, whatever the others hold.
    package var share: Int { limit / max(1, holders.count) }

    /// Bytes that wait to be written above which a connection's sources are not read any more, when it is `most` otherwise.
    package func queueLimit(_ most: Int) -> Int { min(most, max(64 << 10, share)) }

    /// - Parameter refuse: the owner has to let go of what it holds. It says so with ``MemoryHold/set(_:)``, at once or later.
    package func hold(_ refuse: @escaping () -> Void) -> MemoryHold {
        next += 1
        return MemoryHold(self, next, refuse)
    }

    /// What is to be said at the end of a run; nil: nothing, or the first refusal has said it.
    package var summary: String? {
        refused > 1 ? "\(refused) connections were refused because no memory was left for them (--memory)" : nil
    }

    fileprivate func change(_ hold: MemoryHold, to count: Int) {
        let grows = count > hold.count
        used += count - hold.count
        if count > 0, hold.count == 0 { holders[hold.number] = hold }
        if count == 0 { holders[hold.number] = nil }
        hold.count = count
        guard grows else { return }
        while used > limit, let largest = largest() {
            largest.isRefused = true
            refused += 1
            if refused == 1 {
                log(
                    "a client was refused: what the clients have sent and not finished takes \(ByteSize.text(limit)), half of "
                        + "--memory; a larger one lets them hold more")
            }
            let before = largest.count
            largest.refuse()
            // It lets go of the rest with its stream.
            if largest.count >= before { change(largest, to: 0) }
        }
    }

    private func largest() -> MemoryHold? {
        holders.values.filter { !$0.isRefused }.max { ($0.count, $0.number) < ($1.count, $1.number) }
    }
}

/// What one connection holds of a ``MemoryBudget``.
package final class MemoryHold {
    fileprivate let number: Int
    package fileprivate(set) var count = 0
    /// It was told to let go.
    package fileprivate(set) var isRefused = false
    fileprivate let refuse: () -> Void
    private let budget: MemoryBudget

    fileprivate init(_ budget: MemoryBudget, _ number: Int, _ refuse: @escaping () -> Void) {
        self.budget = budget
        self.number = number
        self.refuse = refuse
    }

    /// The connection holds so many bytes now. It, or another one, may be refused within the call.
    package func set(_ count: Int) {
        if count != self.count { budget.change(self, to: count) }
    }

    /// Most bytes that it may hold after its next step: what is free, and its share at least.
    package var room: Int { max(count + budget.limit - budget.used, budget.share) }
}
