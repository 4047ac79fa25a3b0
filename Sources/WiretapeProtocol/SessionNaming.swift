package import WiretapeMessages
package import WiretapeWire

/// What requests name: the session that they belong to, the route under which it was asked for, and the negotiation that
/// hands out ids.
package protocol SessionNaming: Sendable {
    /// The session that the exchange belongs to, when its opening tells.
    static func sessionKey(_ opening: StreamOpening) -> String?
    /// The ids that the server made for that session: answered by a negotiation, or named by a later request.
    static func serverIDs(_ opening: StreamOpening) -> ServerIDs?
    /// Where an answered negotiation sends the client on. Nil: nowhere.
    static func redirection(_ exchange: StreamOpening) -> Redirection?
    /// What the request is to the protocol.
    static func kind(_ request: RequestHead) -> ExchangeKind
    /// The path without what the protocol itself adds to it (SignalR: `/chat/negotiate` is of route `/chat`).
    static func route(_ request: RequestHead) -> String
    /// Query items that never take part in routing.
    static var volatileQuery: Set<String> { get }
    /// The answer to a negotiate request, made anew for ids and transports. Nil: the protocol has none.
    /// - Parameters:
    ///   - recorded: the exchange on the tape that it stands for, if there is one.
    ///   - ids: `connectionId` and `connectionToken` to hand out.
    static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer?
    /// The body of an answered negotiation that does not offer those transports. Nil: it offers none of them.
    static func negotiation(_ answer: [UInt8], without transports: Set<Transport>) -> [UInt8]?
    /// The answer when the recorded negotiation sent the client elsewhere: the same. Nil: it did not.
    static func redirect(_ request: RequestHead, recorded: StreamOpening) -> HTTPAnswer?
    /// Whether the answer to that request may send the client to another server.
    static func mayLeadAway(_ request: RequestHead) -> Bool
    /// The body of such an answer with the addresses of servers as `led` has them. Nil: it has none, or they stay.
    static func leading(_ body: [UInt8], _ led: (String) -> String?) -> [UInt8]?
    /// The answer to a negotiate request that cannot be served, in the protocol's own words.
    static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer?
    /// What an ordinary exchange is to the protocol, when its application makes it for a session (an authorisation). Nil:
    /// nothing.
    static func sideRequest(_ exchange: StreamOpening) -> SideRequest?
    /// The body of the recorded answer to a side request, for another session than the recorded one.
    static func renewed(
        _ body: [UInt8], of recorded: StreamOpening, for live: StreamOpening, _ settings: CodecSettings
    ) -> [UInt8]
    /// Whether every request names its session by an id, from the first on and over whatever transport (Atmosphere's
    /// tracking id). There is no negotiation then: a poll, stream or upgrade opens a session by itself, also one with an id
    /// that the server has never heard of; a later one goes on with it, and takes the place of one that is open. The
    /// protocol's handshake names the id, so that replay makes it (``greeting(_:id:)``) and scripts do not have it.
    static var hasTrackingIDs: Bool { get }
    /// Whether the request is one of those, where the protocol has others, too (Pusher's WebSockets).
    static func isTracked(_ request: RequestHead) -> Bool
    /// Another request carries the session from here on: what it asks for holds for the payloads that follow.
    mutating func carried(by opening: StreamOpening)
    /// The id of the session as far as its messages have told it.
    var sessionID: String? { get }
    /// Whether the head of an answer tells that the exchange is an operation of the protocol, and no request does.
    static var isToldByAnswer: Bool { get }
    /// Whether the answer to that request may tell so.
    static func mayBeTold(_ request: RequestHead) -> Bool
}

extension SessionNaming {
    package static func sessionKey(_ opening: StreamOpening) -> String? { nil }
    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? { nil }
    package static func route(_ request: RequestHead) -> String { request.path }
    package static var volatileQuery: Set<String> { [] }
    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { nil }
    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? { nil }
    package static func redirection(_ exchange: StreamOpening) -> Redirection? { nil }
    package static func negotiation(_ answer: [UInt8], without transports: Set<Transport>) -> [UInt8]? { nil }
    package static func redirect(_ request: RequestHead, recorded: StreamOpening) -> HTTPAnswer? { nil }
    package static func mayLeadAway(_ request: RequestHead) -> Bool { false }
    package static func leading(_ body: [UInt8], _ led: (String) -> String?) -> [UInt8]? { nil }
    package static func sideRequest(_ exchange: StreamOpening) -> SideRequest? { nil }
    package static func renewed(
        _ body: [UInt8], of recorded: StreamOpening, for live: StreamOpening, _ settings: CodecSettings
    ) -> [UInt8] { body }
    package static var hasTrackingIDs: Bool { false }
    package static func isTracked(_ request: RequestHead) -> Bool { hasTrackingIDs }
    package mutating func carried(by opening: StreamOpening) {}
    package var sessionID: String? { nil }
    package static var isToldByAnswer: Bool { false }
    package static func mayBeTold(_ request: RequestHead) -> Bool { false }
}

/// Where the answer to a negotiation sends the client instead of giving it a session.
package struct Redirection: Hashable, Sendable {
    /// Path and query of the URL to negotiate with next.
    package var target: String
    /// What the client has to show there in place of its own credential.
    package var credential: String?

    package init(target: String, credential: String? = nil) {
        self.target = target
        self.credential = credential
    }
}

/// An ordinary exchange that an application makes for a session, such as the authorisation of a channel. It may be made as
/// often as a client likes, for instance after each reconnect.
package struct SideRequest: Hashable, Sendable {
    /// What is asked: compared in place of query and body.
    package var meaning: JSONValue
    /// The server's id of the session that it is made for.
    package var session: String
    /// The path, where clients of the protocol's dialects ask at paths of their own: one for all of them. Nil: as asked.
    package var path: String?

    package init(meaning: JSONValue, session: String, path: String? = nil) {
        self.meaning = meaning
        self.session = session
        self.path = path
    }
}

/// The ids that a server made for a session.
package struct ServerIDs: Hashable, Sendable {
    /// Public.
    package var connectionID: String
    /// The secret that later requests carry.
    package var token: String

    package init(connectionID: String, token: String) {
        self.connectionID = connectionID
        self.token = token
    }
}
