internal import WiretapeBytes

/// When the lines of a client came to the server, and on which of its connections (counted from 1).
struct LineArrivals: Sendable {
    private var first: [WireInstant?]
    private var last: [Int]
    private var connections: [Int]

    init(_ count: Int) {
        first = Array(repeating: nil, count: count)
        last = Array(repeating: 0, count: count)
        connections = Array(repeating: 0, count: count)
    }

    mutating func note(_ line: Int, on connection: Int, at now: WireInstant) {
        if first[line] == nil { first[line] = now }
        if last[line] != connection { connections[line] += 1 }
        last[line] = connection
    }

    /// When it came first; nil: it has not.
    func time(of line: Int) -> WireInstant? { first[line] }
    /// The connection on which it came last; 0: on none.
    func connection(of line: Int) -> Int { last[line] }
    /// On how many connections it came.
    func count(of line: Int) -> Int { connections[line] }
}
