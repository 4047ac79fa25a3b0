internal import Synchronization

/// Numbers connections 1, 2, … as they are accepted, over all loops of a run.
package final class ConnectionNumbers: Sendable {
    private let last = Atomic<UInt32>(0)

    package init() {}

    package func next() -> UInt32 { last.wrappingAdd(1, ordering: .relaxed).newValue }

    /// How many were accepted.
    package var count: UInt32 { last.load(ordering: .relaxed) }
}
