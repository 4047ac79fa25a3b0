internal import WiretapeBytes

/// Times by number, of which the earliest is known at once: a tournament, in which every inner place has the earlier of
/// its two children.
struct WakeTree: Sendable {
    /// Places 1 … size − 1 are inner ones, the leaves follow; a power of two.
    private var size = 1
    private var times: [WireInstant?] = [nil, nil]

    /// The earliest of all.
    var first: WireInstant? { times[1] }

    /// Sets the time of `number`; nil: none.
    mutating func set(_ number: Int, to time: WireInstant?) {
        while number >= size { grow() }
        var at = size + number
        guard times[at] != time else { return }
        times[at] = time
        while at > 1 {
            at /= 2
            let earlier = WakeTree.earlier(times[at * 2], times[at * 2 + 1])
            guard times[at] != earlier else { return }
            times[at] = earlier
        }
    }

    /// The numbers whose time has come, ascending.
    func due(at now: WireInstant) -> [Int] {
        var found: [Int] = []
        var open = [1]
        while let at = open.popLast() {
            guard let time = times[at], time <= now else { continue }
            if at >= size {
                found.append(at - size)
            } else {
                open.append(at * 2 + 1)
                open.append(at * 2)
            }
        }
        return found
    }

    private mutating func grow() {
        let leaves = times[size...]
        size *= 2
        times = Array(repeating: nil, count: size) + leaves + Array(repeating: nil, count: size / 2)
        for at in (1..<size).reversed() { times[at] = WakeTree.earlier(times[at * 2], times[at * 2 + 1]) }
    }

    private static func earlier(_ a: WireInstant?, _ b: WireInstant?) -> WireInstant? {
        guard let a else { return b }
        guard let b else { return a }
        return min(a, b)
    }
}
