internal import WiretapeMessages
internal import WiretapeProtocol

/// Which live ids of a connection stand for which recorded ones, and the recorded chain of each live one.
struct LiveChains: Sendable {
    private(set) var ids = IDMap()
    private var places: [Chain: Script.ChainPlace] = [:]
    /// Live chains that have come to their end, in order: messages may still cross it, but not many.
    private var ended: [(recorded: Chain, live: Chain, place: Script.ChainPlace)] = []
    private static let endedKept = 4_096

    /// The recorded chain that a live one stands for; nil: it was never heard of.
    func place(of live: Chain) -> Script.ChainPlace? { places[live] }

    /// The live chain of a recorded one.
    func live(_ recorded: Chain) -> Chain { Chain(ids.live(recorded), origin: recorded.origin) }

    /// - Parameter place: nil: the id names nothing that a message continues.
    mutating func bind(_ recorded: Chain, to live: Chain, at place: Script.ChainPlace?) {
        ids.bind(recorded, to: live.id)
        if let place { places[live] = place }
    }

    /// The server opens that chain, by the id that it has.
    mutating func open(_ recorded: Chain, at place: Script.ChainPlace) { places[live(recorded)] = place }

    /// The live chain names nothing on the tape any more.
    mutating func unbind(_ recorded: Chain, from live: Chain) {
        places[live] = nil
        ids.unbind(recorded, from: live.id)
    }

    /// The chain's last message went out. Ids of chains that ended long before are forgotten.
    mutating func end(_ recorded: Chain, at place: Script.ChainPlace) {
        ended.append((recorded, live(recorded), place))
        guard ended.count >= LiveChains.endedKept * 2 else { return }
        for old in ended.prefix(LiveChains.endedKept) {
            if places[old.live] == old.place { places[old.live] = nil }
            ids.unbind(old.recorded, from: old.live.id)
        }
        ended.removeFirst(LiveChains.endedKept)
    }
}
