/// One event of a stream of server-sent events.
package struct SSEEvent: Hashable, Sendable {
    /// `message` when the stream names none.
    package var type: String
    /// The data lines joined with LF. UTF-8 as received, valid or not.
    package var data: [UInt8]
    /// The last event id at this point: it lasts until the stream sets another.
    package var id: String

    package init(type: String = "message", data: [UInt8], id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// What ``SSEReader/feed(_:from:)`` found. `next` is where the following call starts.
package enum SSEOutcome: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    case event(SSEEvent, next: Int)
    /// A line that begins with a colon, without it.
    case comment([UInt8], next: Int)
    /// The time to wait before a reconnect, in milliseconds.
    case retry(UInt64, next: Int)
    /// An event or line exceeded the limit; everything up to the next empty line is dropped.
    case tooLong(next: Int)
}
