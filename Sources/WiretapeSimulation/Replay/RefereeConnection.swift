internal import WiretapeBytes

/// The client's connection as a ``Referee`` sees it: its number, what was asked on it, and how it began and ended.
struct RefereeConnection: Sendable {
    /// Counts the client's connections to the session, from 1.
    private(set) var generation = 0
    /// The connection on which the protocol's own state began.
    private(set) var epoch = 0
    /// When the first one opened.
    private(set) var openedAt = WireInstant.zero
    /// When the client ended the one that it had last.
    private(set) var leftAt: WireInstant?
    /// The live ids of this one, and the lines that they stand for.
    private var openers: [String: Int] = [:]
    /// Since when it should have been greeted; nil: it has been, or need not be.
    private var greetedSince: WireInstant?

    mutating func opened(at now: WireInstant) {
        if generation == 0 { openedAt = now }
        leftAt = nil
    }

    mutating func left(at now: WireInstant) {
        if leftAt == nil { leftAt = now }
    }

    /// The client says something on a connection.
    /// - Returns: whether the protocol's own state begins with it.
    mutating func heard(_ saying: Saying) -> Bool {
        guard saying.generation > generation else { return false }
        generation = saying.generation
        greetedSince = nil
        guard !saying.isResumed else { return false }
        epoch = generation
        openers = [:]
        return true
    }

    mutating func bind(_ id: String, to line: Int) { openers[id] = line }
    /// The line that asked under that id; nil: none did, on this connection.
    func opener(_ id: String) -> Int? { openers[id] }

    /// The handshake of the server leaves: on a connection that comes back and begins anew, the greeting has to follow.
    mutating func shook(at now: WireInstant) {
        if generation > 1, epoch == generation { greetedSince = now }
    }

    /// Whether the greeting has been due since before that time.
    func owesGreeting(before now: WireInstant) -> Bool { greetedSince.map { $0 < now } ?? false }

    /// - Returns: whether the greeting was still to be looked at; it is not any more.
    mutating func takeGreeting() -> Bool {
        defer { greetedSince = nil }
        return greetedSince != nil
    }
}
