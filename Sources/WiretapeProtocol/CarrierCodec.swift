package import WiretapeWire

/// What a codec says about requests that carry a session, beside ``FrameCodec``'s own members: all of it has defaults.
package protocol CarrierCodec: Sendable {
    /// Whether every request names its session by an id, from the first on and over whatever transport (Atmosphere's
    /// tracking id). There is no negotiation then: a poll, stream or upgrade opens a session by itself, also one with an id
    /// that the server has never heard of; a later one goes on with it, and takes the place of one that is open. The
    /// protocol's handshake names the id, so that replay makes it (``greeting(_:id:)``) and scripts do not have it.
    static var hasTrackingIDs: Bool { get }
    /// Whether the request is one of those, where the protocol has others, too (Pusher's WebSockets).
    static func isTracked(_ request: RequestHead) -> Bool
    /// Whether scripts have the protocol's handshake; else replay makes it.
    static var scriptsHandshake: Bool { get }
    /// Another request carries the session from here on: what it asks for holds for the payloads that follow.
    mutating func carried(by opening: StreamOpening)
    /// The id of the session as far as its messages have told it.
    var sessionID: String? { get }
    /// The WebSocket subprotocols besides the recorded one in which the session that this value has seen can be served:
    /// dialects of the same protocol, the preferred one first.
    var otherSubprotocols: [String] { get }
    /// What the client that this value writes for speaks, when that is another dialect of the protocol than the recorded
    /// one: a name for people.
    var translation: String? { get }
    /// Whether that dialect has the message; one that it has not is left out.
    func has(_ message: Message) -> Bool
    /// The close frame that means the same in that dialect.
    func translated(_ close: RuleBreach) -> RuleBreach
    /// Whether the protocol's server ends the connection of a client that has said its farewell, also where the tape shows no
    /// end of it.
    var endsAtFarewell: Bool { get }
    /// The same session for a live client that opens a connection so: what it writes, that client wants.
    func serving(_ opening: StreamOpening) -> Self
    /// What the server says first on a connection that this request opens, payload by payload.
    func greeting(_ request: RequestHead, id: String) -> [(payload: [UInt8], opcode: Opcode)]
    /// What a request of this session gets; by default what any request would.
    func answer(_ what: CarrierAnswer, to request: RequestHead, in place: CarrierPlace) -> HTTPAnswer
    /// How many of the last messages the request says that its client has not got.
    func missed(_ request: RequestHead, in place: CarrierPlace) -> Int
    /// Appends one payload of an operation's multipart answer: a part, or the end of the body.
    static func part(_ payload: Span<UInt8>, of answer: inout MultipartAnswer, into out: inout [UInt8])
    /// Whether messages that shared a frame on the tape share one at replay.
    static var sharesFrames: Bool { get }
    /// Whether all payloads that are due may share the answer to one poll.
    var joinsPayloads: Bool { get }
    /// Whether the head of an answer tells that the exchange is an operation of the protocol, and no request does.
    static var isToldByAnswer: Bool { get }
    /// Whether the answer to that request may tell so.
    static func mayBeTold(_ request: RequestHead) -> Bool
    /// The id of the last message that the client of an operation says it has. Nil: it says nothing of that.
    static func lastID(_ request: RequestHead) -> String?
    /// The id by which a client would name that message later; nil: it has none.
    static func id(of message: Message) -> String?
    /// Whether ``FrameCodec/encode(_:like:)`` is to write texts, too: those of the protocol are more than their JSON.
    static var encodesTexts: Bool { get }
}

/// Where a session stands when one of its requests is answered.
package struct CarrierPlace: Hashable, Sendable {
    /// The id or token by which the client names it.
    package var id: String
    /// Messages that were given to the client, those of this answer among them.
    package var sent: Int

    package init(id: String, sent: Int = 0) {
        self.id = id
        self.sent = sent
    }
}

extension FrameCodec {
    package static var hasTrackingIDs: Bool { false }
    package static func isTracked(_ request: RequestHead) -> Bool { hasTrackingIDs }
    package static var scriptsHandshake: Bool { !hasTrackingIDs }
    package mutating func carried(by opening: StreamOpening) {}
    package var sessionID: String? { nil }
    package var endsAtFarewell: Bool { true }
    package var otherSubprotocols: [String] { [] }
    package var translation: String? { nil }
    package func has(_ message: Message) -> Bool { true }
    package func translated(_ close: RuleBreach) -> RuleBreach { close }
    package func serving(_ opening: StreamOpening) -> Self { self }
    package func greeting(_ request: RequestHead, id: String) -> [(payload: [UInt8], opcode: Opcode)] { [] }
    package func answer(_ what: CarrierAnswer, to request: RequestHead, in place: CarrierPlace) -> HTTPAnswer {
        Self.answer(what, to: request)
    }
    package func missed(_ request: RequestHead, in place: CarrierPlace) -> Int { 0 }
    package static func part(_ payload: Span<UInt8>, of answer: inout MultipartAnswer, into out: inout [UInt8]) {
        answer.part(payload, isLast: false, into: &out)
    }
    package static var sharesFrames: Bool { true }
    package var joinsPayloads: Bool { true }
    package static var isToldByAnswer: Bool { false }
    package static func mayBeTold(_ request: RequestHead) -> Bool { false }
    package static func lastID(_ request: RequestHead) -> String? { nil }
    package static func id(of message: Message) -> String? { nil }
    package static var encodesTexts: Bool { false }
}
