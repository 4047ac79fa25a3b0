internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// What the chains of a session were opened with. Frames may cross the end of a chain, so an operation is known until its id
/// is used again.
///
/// It remembers the 16,384 operations that were opened last, so that a long session costs bounded memory.
struct GraphQLOperations: Hashable, Sendable {
    /// What later messages of the chain need.
    struct Opened: Hashable, Sendable {
        var label: String?
        var hasSingleResult: Bool
        fileprivate var serial: UInt64 = 0

        init(_ operation: GraphQLOperation) {
            label = operation.label
            hasSingleResult = operation.hasSingleResult
        }
    }

    private static let limit = 16_384

    private var opened: [Chain: Opened] = [:]
    /// In the order of opening; those whose id was used again among them.
    private var order: [(chain: Chain, serial: UInt64)] = []
    private var serial: UInt64 = 0

    subscript(chain: Chain) -> Opened? { opened[chain] }

    mutating func open(_ chain: Chain, _ operation: GraphQLOperation) {
        serial &+= 1
        var one = Opened(operation)
        one.serial = serial
        opened[chain] = one
        order.append((chain, serial))
        guard order.count >= GraphQLOperations.limit * 2 else { return }
        order.removeAll { opened[$0.chain]?.serial != $0.serial }
        guard order.count > GraphQLOperations.limit else { return }
        let excess = order.count - GraphQLOperations.limit
        for old in order.prefix(excess) { opened[old.chain] = nil }
        order.removeFirst(excess)
    }

    static func == (a: Self, b: Self) -> Bool { a.opened == b.opened && a.serial == b.serial }
    func hash(into hasher: inout Hasher) { hasher.combine(serial) }
}
