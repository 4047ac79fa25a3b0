internal import WiretapeMessages
internal import WiretapeProtocol

/// The targets of open chains: what a StreamItem or a Completion is called, and which ids are uploads of the client.
///
/// It remembers the 16,384 open chains that were opened last, so that a peer that never answers costs bounded memory.
struct SignalRChains: Hashable, Sendable {
    private struct Opened: Hashable, Sendable {
        var target: String
        var isUpload: Bool
        var serial: UInt64
    }

    private struct Place: Hashable, Sendable {
        var chain: Chain
        var serial: UInt64
    }

    private static let limit = 16_384

    private var opened: [Chain: Opened] = [:]
    /// Chains in the order of opening, closed ones among them.
    private var order: [Place] = []
    private var serial: UInt64 = 0

    func target(of chain: Chain) -> String? { opened[chain]?.target }

    func isUpload(_ chain: Chain) -> Bool { opened[chain]?.isUpload ?? false }

    mutating func open(_ chain: Chain, _ target: String, upload: Bool = false) {
        serial &+= 1
        opened[chain] = Opened(target: target, isUpload: upload, serial: serial)
        order.append(Place(chain: chain, serial: serial))
        guard order.count >= SignalRChains.limit * 2 else { return }
        order.removeAll { opened[$0.chain]?.serial != $0.serial }
        guard order.count > SignalRChains.limit else { return }
        let excess = order.count - SignalRChains.limit
        for old in order.prefix(excess) { opened[old.chain] = nil }
        order.removeFirst(excess)
    }

    /// Forgets the chain and returns its target.
    mutating func close(_ chain: Chain) -> String? { opened.removeValue(forKey: chain)?.target }
}
