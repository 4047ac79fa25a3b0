internal import WiretapeBytes
internal import WiretapeWire

/// The connection that carries a model client's session: what comes on it, and when it was used last.
struct ClientConnection {
    /// The slot on which the server is heard; nil: there is no connection.
    private(set) var slot: Int?
    /// Messages heard and said on it.
    private(set) var messages = 0
    private(set) var lastHeard = WireInstant.zero
    private(set) var lastSaid = WireInstant.zero
    /// When it last brought or took something of the session.
    private(set) var lastNews = WireInstant.zero
    private var events = SSEReader()

    mutating func turn(to next: Int) { slot = next }

    /// The transport is there.
    mutating func opened(at now: WireInstant) {
        lastHeard = now
        lastSaid = now
    }

    /// The session goes on, or begins.
    mutating func isNews(at now: WireInstant) { lastNews = now }
    mutating func heard(at now: WireInstant) { lastHeard = now }

    mutating func said(isNews: Bool, at now: WireInstant) {
        lastSaid = now
        if isNews { lastNews = now }
    }

    mutating func count() { messages += 1 }

    /// The data of the next event of a stream; nil when more bytes are needed.
    mutating func nextEvent(of bytes: [UInt8], from at: inout Int) -> [UInt8]? {
        while true {
            switch events.feed(bytes.span, from: at) {
            case .more: return nil
            case .event(let event, let next):
                at = next
                return event.data
            case .comment(_, let next), .retry(_, let next), .tooLong(let next): at = next
            }
        }
    }
}
