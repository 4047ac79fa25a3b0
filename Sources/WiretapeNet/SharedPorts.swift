internal import WiretapeRuntime
internal import WiretapeSystem

/// The addresses on which this process listens with SO_REUSEPORT: the second loop on one must not take the first for a
/// stranger. Shared by all threads.
enum SharedPorts {
    private static let counts = Gate<[Address: Int]>([:])

    static func contains(_ address: Address) -> Bool { counts.withLock { $0[address] != nil } }

    static func add(_ address: Address) { counts.withLock { $0[address, default: 0] += 1 } }

    static func remove(_ address: Address) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count > 1 ? count - 1 : nil
        }
    }
}
