internal import WiretapeCore

/// The targets of open chains: what a StreamItem or a Completion is called, and which ids are uploads of the client.
///
/// It remembers the 65,536 chains that were opened last, so that a peer that never answers costs bounded memory.
struct SignalRChains: Hashable, Sendable {
    private struct Opened: Hashable, Sendable {
        var target: String
        var isUpload: Bool
        var serial: UInt64
    }

    private static let limit = 65_536

    private var opened: [Chain: Opened] = [:]
    /// Chains in the order of opening, closed ones among them, from the serial `first` on.
    private var order: [Chain] = []
    private var first: UInt64 = 0

    func target(of chain: Chain) -> String? { opened[chain]?.target }

    func isUpload(_ chain: Chain) -> Bool { opened[chain]?.isUpload ?? false }

    mutating func open(_ chain: Chain, _ target: String, upload: Bool = false) {
        opened[chain] = Opened(target: target, isUpload: upload, serial: first &+ UInt64(order.count))
        order.append(chain)
        guard order.count >= SignalRChains.limit * 2 else { return }
        for (i, old) in order.prefix(SignalRChains.limit).enumerated()
        where opened[old]?.serial == first &+ UInt64(i) {
            opened[old] = nil
        }
        order.removeFirst(SignalRChains.limit)
        first &+= UInt64(SignalRChains.limit)
    }

    /// Forgets the chain and returns its target.
    mutating func close(_ chain: Chain) -> String? { opened.removeValue(forKey: chain)?.target }
}
