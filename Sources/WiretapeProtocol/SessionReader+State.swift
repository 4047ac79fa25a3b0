internal import WiretapeWire

extension SessionReader {
    /// Where an event stands.
    package struct Place {
        package var event: UInt64
        package var line: Int
        package var time: UInt64
        /// The time of the previous event.
        var previousTime: UInt64 = 0
        package var connection: UInt32
        var isUnframed: Bool
        /// Of a WebSocket message: it was compressed.
        package var isDeflated = false
        /// The byte count of each frame if a WebSocket message had several frames. Else empty.
        package var frameSizes: [Int32] = []
    }

    /// The name of a session to a codec.
    package struct Key: Hashable, Sendable {
        package var codec: String
        package var key: String
    }

    /// What is known of a session before its first message.
    struct Prospect: Sendable {
        package var negotiation: StreamOpening?
        package var redirects: [StreamOpening] = []
        package var ids: ServerIDs?
        package var carrier = Carrier()
        /// The negotiation and the redirects before it, as exchanges: what they are when nothing follows.
        package var asked: [RecordedExchange] = []
        /// What followed was refused.
        package var isRefused = false
    }

    /// The requests that keep a session over HTTP open.
    struct Carrier: Sendable {
        /// Nil before the first.
        package var transport: Transport?
        /// The first of them and its event.
        package var opening: StreamOpening?
        var openingEvent: UInt64 = 0
        /// When it was answered.
        package var opened: UInt64?
        /// The event of the latest.
        package var latest: UInt64 = 0
    }

    /// A negotiation that sent its client on, behind those that had sent it there.
    struct Redirected: Sendable {
        package var codec: String
        package var redirection: Redirection
        package var chain: [RecordedExchange]
        package var time: UInt64
    }

    /// An ordinary exchange, unless one of the names turns out to be a session's.
    struct Plain: Sendable {
        package var exchange: RecordedExchange
        package var names: [Key]
    }

    /// A request with a 2xx response, as only clients of a known protocol send it, that belongs to no session of the tape. Its
    /// messages are not decoded.
    package struct Unplaced: Sendable {
        /// Where the request stands on the tape, from 1.
        package var line: Int
        package var codec: String
        var method: String
        /// Without the query.
        var path: String
        /// Whether replay answers it, as an ordinary request.
        var isPlayed: Bool
        /// Sessions that it belongs to if they turn up.
        var names: [Key]

        /// The same when no session can turn up any more.
        var final: Unplaced {
            var final = self
            final.names = []
            return final
        }

        /// Sentences without the last full stop.
        package var text: String {
            let replayed = isPlayed ? "Replay treats the request as plain HTTP" : "Replay does not answer the request"
            return
                "\(method) \(path) belongs to a \(codec) session that began before the recording, so messages of this request "
                + "are not decoded. \(replayed). To record the session, start Wiretape before the client connects"
        }
    }

    /// A session while it is read.
    struct Building: Sendable {
        package var session: RecordedSession
        package var codec: any FrameCodec
        package var frames = 0
        package var hasHandshake = false
        package var conduct = ClientConduct()
        /// The codec is the one of other sessions on its route.
        var isGuessed = false
        /// Connections that carried it.
        package var seen: Set<UInt32> = []
        /// Of a session over HTTP.
        package var carrier = Carrier()
        var clientEnded = false
        var serverEnded = false
        /// The index of an ending behind which nothing counts unless a later poll succeeds.
        var doubtfulEnding: Int?
        /// Of a session that requests name: the event of the one that carries it now, and its transport.
        var carriedBy: UInt64 = 0
        package var transport: Transport?
    }

    /// Prospects by key; the oldest are forgotten.
    struct Prospects: Sendable {
        private let limit: Int
        private var table: [Key: Prospect] = [:]
        private var order: [Key] = []

        init(limit: Int) { self.limit = limit }

        package var values: Dictionary<Key, Prospect>.Values { table.values }

        var count: Int { table.count }

        /// Setting a key that is new forgets old ones when there are too many.
        package subscript(key: Key) -> Prospect? {
            get { table[key] }
            set {
                guard let newValue else { return table[key] = nil }
                guard table.updateValue(newValue, forKey: key) == nil else { return }
                order.append(key)
                guard order.count > limit * 2 else { return }
                for old in order.prefix(limit) { table[old] = nil }
                order.removeFirst(limit)
            }
        }
    }
}
