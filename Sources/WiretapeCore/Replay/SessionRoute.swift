/// What requests for a recorded session look like, worked out once.
struct SessionRoute: Sendable {
    /// Of the session among those of the tape.
    var index: Int
    var codec: String
    var subprotocol: String?
    /// Stable query items of its upgrade and of its negotiation.
    var upgrade: [String]
    var negotiate: [String]

    init(_ session: RecordedSession, index: Int) {
        self.index = index
        codec = session.codec.id
        subprotocol = session.opening.response?.headers.first("Sec-WebSocket-Protocol")
        upgrade = SessionRoute.stableQuery(session.opening.request, session.codec)
        negotiate = session.negotiate.map { SessionRoute.stableQuery($0.request, session.codec) } ?? upgrade
    }

    /// The query items that the codec does not call volatile, sorted.
    static func stableQuery(_ head: RequestHead, _ codec: CodecEntry) -> [String] {
        head.query.filter { item in !codec.type.volatileQuery.contains { equalIgnoringCase($0, item.name) } }
            .map { "\($0.name)=\($0.value)" }.sorted()
    }
}
