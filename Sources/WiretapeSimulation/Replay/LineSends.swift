internal import WiretapeBytes

/// What the server sent of its lines, on which of the client's connections (counted from 1), and what of it counts: not what the
/// kernel never took before the connection was gone.
struct LineSends: Sendable {
    private var last: [WireInstant?]
    private var connections: [Int]
    private var sent: [Int]
    private var lost: [Int]
    /// Lines whose last send the kernel has taken, and those that it has not before the connection was gone: a protocol that
    /// counts its messages may make these good.
    private var taken: Set<Int> = []
    private var remembered: Set<Int> = []

    init(_ count: Int) {
        last = Array(repeating: nil, count: count)
        connections = Array(repeating: 0, count: count)
        sent = Array(repeating: 0, count: count)
        lost = Array(repeating: 0, count: count)
    }

    /// The line is handed to the connection.
    mutating func note(_ line: Int, on connection: Int, at now: WireInstant) {
        sent[line] += 1
        last[line] = now
        connections[line] = connection
    }

    /// When it was handed over last; nil: never.
    func time(of line: Int) -> WireInstant? { last[line] }
    /// The connection to which it was handed last; 0: to none.
    func connection(of line: Int) -> Int { connections[line] }
    /// How often it was handed over, and how often that counts.
    func count(of line: Int) -> Int { sent[line] }
    func effective(_ line: Int) -> Int { sent[line] - lost[line] }

    /// The kernel never took it, and nothing makes that good.
    mutating func lose(_ line: Int) { lost[line] += 1 }

    // MARK: Where the protocol counts its messages

    /// A send of the line that the kernel may take or not.
    mutating func begin(_ line: Int) { taken.remove(line) }

    mutating func take(_ lines: [Int]) {
        taken.formUnion(lines)
        remembered.subtract(lines)
    }

    /// The kernel never took it: the protocol may bring it again.
    mutating func remember(_ line: Int) {
        if !taken.contains(line) { remembered.insert(line) }
    }

    /// The protocol's own state begins anew: what it has not brought again is lost.
    mutating func forget() {
        for line in remembered { lose(line) }
        remembered = []
    }
}
