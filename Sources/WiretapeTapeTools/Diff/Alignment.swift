/// Pairs two sequences of keys: the n-th of equal keys here with the n-th there; of these pairs as many as possible keep
/// their order, the others have moved. Takes n log n.
struct Alignment<Key: Hashable> {
    /// Positions of pairs in order, in both sequences.
    private(set) var kept: [(first: Int, second: Int)] = []
    private(set) var moved: [(first: Int, second: Int)] = []
    private(set) var onlyFirst: [Int] = []
    private(set) var onlySecond: [Int] = []

    init(_ first: [Key], _ second: [Key]) {
        var places: [Key: [Int]] = [:]
        for (i, key) in second.enumerated() { places[key, default: []].append(i) }
        var used: [Key: Int] = [:]
        var pairs: [(first: Int, second: Int)] = []
        var taken = [Bool](repeating: false, count: second.count)
        for (i, key) in first.enumerated() {
            let n = used[key, default: 0]
            guard let list = places[key], n < list.count else {
                onlyFirst.append(i)
                continue
            }
            used[key] = n + 1
            taken[list[n]] = true
            pairs.append((i, list[n]))
        }
        onlySecond = second.indices.filter { !taken[$0] }
        split(pairs)
    }

    /// The longest run of pairs with rising places in the second sequence is kept.
    private mutating func split(_ pairs: [(first: Int, second: Int)]) {
        // ends[k]: the pair at which the best run of length k + 1 ends.
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: pairs.count)
        for i in pairs.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].second < pairs[i].second { low = middle + 1 } else { high = middle }
            }
            before[i] = low > 0 ? ends[low - 1] : -1
            if low == ends.count { ends.append(i) } else { ends[low] = i }
        }
        var isKept = [Bool](repeating: false, count: pairs.count)
        var at = ends.last ?? -1
        while at >= 0 {
            isKept[at] = true
            at = before[at]
        }
        for (i, pair) in pairs.enumerated() {
            if isKept[i] { kept.append(pair) } else { moved.append(pair) }
        }
    }
}
