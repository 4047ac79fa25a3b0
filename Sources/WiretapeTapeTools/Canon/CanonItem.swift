internal import WiretapeProtocol

/// Something that a canonical tape will hold, before connections and exchanges have their numbers.
struct CanonItem {
    enum What {
        /// An event of a carrier; `json` stands for its payload when it is set. The numbers in the event are made up.
        case event(TapeEvent.Kind, on: CanonCarrier, exchange: Int?, json: [UInt8]?)
        /// An event of no connection.
        case note(TapeEvent.Kind)
        /// A line as it was, with this time and the number of its carrier, if it has one.
        case line([UInt8], on: CanonCarrier?)
        case comment([UInt8])
    }

    var time: UInt64
    var what: What
}

/// What carries events on a canonical tape: each is a connection there, whatever the connections were.
struct CanonCarrier: Hashable {
    enum Kind: Hashable {
        /// A WebSocket, an event stream, or an exchange that was cut: it has a connection for itself.
        case own(connection: UInt32, exchange: UInt32)
        /// The ordinary exchanges of a session: negotiation, polls, sends.
        case session(codec: String, key: String)
        /// Ordinary exchanges of no session from one host.
        case host(String, upstream: String)
    }

    var kind: Kind
    /// Connections are numbered anew with every take.
    var take: Int
}

/// A place among the items that may be filled later; those behind it wait.
struct CanonSlot {
    var items: [CanonItem] = []
    var isReady = false
}
