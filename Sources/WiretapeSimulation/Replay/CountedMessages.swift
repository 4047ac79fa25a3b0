/// What the server said since the protocol's own state began, where the protocol counts its messages (SignalR's stateful
/// reconnect): it may say all of it again, from a number on that it names.
struct CountedMessages: Sendable {
    private var said: [(line: Int?, bytes: [UInt8])] = []
    /// The index of the one that is said next.
    private var next = 0

    /// One that was said before, and its number, from 1.
    struct Earlier {
        var number: Int
        var line: Int?
        var bytes: [UInt8]
    }

    var count: Int { said.count }

    mutating func forget() { self = CountedMessages() }

    /// - Returns: what the next message has to be; nil: it is a new one, and ``add(_:line:)`` is to be told of it.
    mutating func takeNext() -> Earlier? {
        guard next < said.count else { return nil }
        defer { next += 1 }
        return Earlier(number: next + 1, line: said[next].line, bytes: said[next].bytes)
    }

    mutating func add(_ bytes: [UInt8], line: Int?) {
        said.append((line, bytes))
        next = said.count
    }

    /// The server goes on from the message of that number.
    /// - Returns: whether it can.
    mutating func goBack(to number: Int) -> Bool {
        next = min(max(0, number - 1), said.count)
        return number >= 1 && number <= said.count + 1
    }
}
