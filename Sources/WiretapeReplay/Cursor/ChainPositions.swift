/// How far the chains of a script are, so that nothing is looked for from their beginning each time. All of it may be forgotten: it is
/// found again, only more slowly, but for which chains are open.
struct ChainPositions {
    /// Into the server's steps of a group: everything before is done or given up. Of the groups that have more than one.
    private var heads: [Int: Int] = [:]
    /// Into the lists of equal client messages, by their first step: everything before is matched.
    private var equals: [Int: Int] = [:]
    /// Groups with a matched request and an unsent message of the server.
    private(set) var open: [Int] = []

    mutating func open(_ group: Int) { open.append(group) }

    mutating func openOnce(_ group: Int) { if !open.contains(group) { open.append(group) } }

    mutating func close(_ group: Int) {
        open.removeAll { $0 == group }
        heads[group] = nil
    }

    /// No chain is open any more.
    mutating func closeAll() {
        open = []
        equals = [:]
    }

    /// Steps of the group are waited for again.
    mutating func forgetHead(of group: Int) { heads[group] = nil }
    mutating func forgetHeads() { heads = [:] }

    /// Client messages are waited for again.
    mutating func forgetEquals() { equals = [:] }

    func firstUnmatched(ofEqualsOf step: Int) -> Int { equals[step] ?? 0 }
    mutating func setFirstUnmatched(_ at: Int, ofEqualsOf step: Int) { equals[step] = at }

    /// What a visit found.
    enum Visit {
        /// Everything of the chain is out: it is open no more.
        case through
        /// Something is left, from that place on; nil: it is not worth to be kept.
        case unsent(Int?)
    }

    /// Looks at every open chain.
    /// - Parameter visit: is given the group, and the place before which all of it is out.
    mutating func visitOpen(_ visit: (_ group: Int, _ head: Int?) -> Visit) {
        var left = 0
        for i in open.indices {
            let group = open[i]
            switch visit(group, heads[group]) {
            case .through: heads[group] = nil
            case .unsent(let head):
                if let head { heads[group] = head }
                open[left] = group
                left += 1
            }
        }
        open.removeLast(open.count - left)
    }
}
