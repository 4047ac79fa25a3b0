package import WiretapeWire

/// One protocol: a value per session. A fifth protocol is one folder under `WiretapeCodecs/` and one line in `Codecs.all`.
package protocol FrameCodec: CarrierCodec, LimitedCodec {
    /// `signalr`: the name on the command line and in JSON.
    static var id: String { get }
    /// Whether this exchange or connection speaks the protocol. The highest claim wins, the earlier codec among equals.
    static func claim(_ opening: StreamOpening) -> Confidence
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

    init(_ opening: StreamOpening)

    /// Appends the messages of one payload (a WebSocket message, an event, a body). Bad input gives `.opaque` with a
    /// reason and never traps; nothing is kept for the next payload unless the protocol is a byte stream there.
    mutating func decode(_ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message])

    /// A payload that a tape gives as JSON, with the protocol's own framing around it.
    static func framed(_ json: [UInt8]) -> [UInt8]

    /// A message like `message` with other content, framed; nil when the protocol's messages are JSON texts (then the text
    /// itself is changed) or cannot be written.
    static func encode(_ content: JSONValue, like message: Message) -> [UInt8]?

    /// The order in which a canonical tape writes the members of the protocol's messages; others follow by name.
    static var memberOrder: [String] { get }

    /// Lines of a sparse tape behind its header that explain themselves, for `wiretape new`.
    static var example: [String] { get }

    /// What opens every session and sparse tapes leave out: the handshake. Empty: nothing.
    static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { get }

    /// Appends `message` with live ids, framed for `transport`; returns the opcode for a WebSocket. With an empty map the
    /// bytes mean the same as the recorded ones.
    func write(_ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]) -> Opcode

    /// The `n`th variation of a server-made id: same length, same alphabet; `n` 0 is the id itself.
    static func vary(_ id: String, _ n: Int) -> String

    // MARK: Replay

    /// The transports over which replay can serve the session that this value has seen, in the order in which the
    /// protocol's servers offer them. A session of text only may be served over event streams.
    var transports: [Transport] { get }
    /// Why the session that this value has seen cannot be replayed, as the end of the sentence "session 1 …". Nil: it can.
    var obstacle: String? { get }
    /// The subprotocol that an upgrade is answered with.
    /// - Parameter recorded: that of the tape's WebSocket; nil when it answered none, or when there was no WebSocket.
    static func subprotocol(for request: RequestHead, recorded: String?) -> String?
    /// The answer to a negotiate request, made anew for ids and transports. Nil: the protocol has none.
    /// - Parameters:
    ///   - recorded: the exchange on the tape that it stands for, if there is one.
    ///   - ids: `connectionId` and `connectionToken` to hand out.
    static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer?
    /// The body of an answered negotiation that does not offer those transports. Nil: it offers none of them.
    static func negotiation(_ answer: [UInt8], without transports: Set<Transport>) -> [UInt8]?
    /// The answer when the recorded negotiation sent the client elsewhere: the same, with the replay's own authority (the
    /// request's `Host`). Nil: it did not.
    static func redirect(_ request: RequestHead, recorded: StreamOpening) -> HTTPAnswer?
    /// The answer to a negotiate request that cannot be served, in the protocol's own words.
    static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer?
    /// What a request of an HTTP transport gets, in the protocol's own words and headers; lengths, dates and CORS are
    /// added by others.
    static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer
    /// Over which transport a request of kind `poll` or `stream` carries its session.
    static func transport(_ request: RequestHead) -> Transport
    /// How the answer to a request of kind `stream` makes payloads. Nil: it is no stream.
    static func framing(_ opening: StreamOpening) -> BodyFraming?
    /// The payload of an event.
    static func payload(of event: SSEEvent) -> [UInt8]
    /// The payload that a request of kind `send` carries; empty: none.
    static func payload(of request: StreamOpening) -> [UInt8]
    /// Appends one payload as it goes over a streamed answer: as an event, a part, or bytes with the protocol's framing.
    static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8])
    /// Where in a payload stands what a carrier shows of it: what is damaged there is seen as it is.
    static func content(of payload: [UInt8], on transport: Transport) -> Range<Int>
    /// The last bytes of a streamed answer before its proper end.
    static func closing(_ transport: Transport) -> [UInt8]
    /// What the end of an operation's exchange means: of the server, whose answer is whole, or of a client that has left
    /// before. Empty: the protocol has no exchanges of that kind.
    static var operationEnd: [UInt8] { get }
    /// Over which transports an operation's answer may go to the client that asks so, the preferred one first.
    /// - Parameter recorded: that of the answer on the tape.
    static func carriers(of operation: Message, for request: RequestHead, recorded: Transport) -> [Transport]
    /// Whether sessions over that transport begin with the protocol's handshake. Where they do not, ``preamble`` stands for it.
    static func hasHandshake(on transport: Transport) -> Bool
    /// How the protocol's long polling works; nil: it has none.
    static var polling: Polling? { get }
    /// What the protocol keeps to go on after a lost connection without a new handshake. Asked after the client's handshake
    /// was read; nil: it keeps nothing.
    var memory: (any SessionMemory)? { get }
    /// The same codec for single payloads out of their context: what it knows of the session as a whole (its hub protocol)
    /// and nothing of the messages before.
    func anew() -> Self
    /// Whether a message subscribes to something, or does so again: the point `subscribe` of fault rules.
    static func subscribes(_ message: Message) -> Bool
    /// Whether the protocol has such messages.
    static var hasSubscriptions: Bool { get }
    /// Whether one server of the protocol goes on with a subscription that is asked for again, and another begins it again.
    static var mayBeginSubscriptionsAgain: Bool { get }
    /// From here on ``memory`` tells which messages of the client are repetitions: this value reads each as a new one.
    mutating func leaveRepetitions()
    /// The keepalive that a server sends, and how often it does, in nanoseconds. Nil: none.
    var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? { get }
    /// The same for a connection over that transport.
    func keepalive(on transport: Transport) -> (payload: [UInt8], opcode: Opcode, every: UInt64)?
    /// The server's answer to a keepalive of the client. Nil: it wants none.
    func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)?
    /// What a replay was told that concerns the protocol. The values that write its sessions and those that read its
    /// clients are told.
    mutating func configure(_ settings: CodecSettings)
    /// What an ordinary exchange is to the protocol, when its application makes it for a session (an authorisation). Nil:
    /// nothing.
    static func errand(_ exchange: StreamOpening) -> Errand?
    /// The body of the recorded answer to an errand, for another session than the recorded one.
    static func renewed(
        _ body: [UInt8], of recorded: StreamOpening, for live: StreamOpening, _ settings: CodecSettings
    ) -> [UInt8]
    /// Ids of chains are names that applications know, such as those of channels, and not made up by a peer.
    static var chainsAreNames: Bool { get }
    /// Whether the first of them comes as soon as the conversation is open.
    var beginsWithKeepalive: Bool { get }
    /// What the protocol's server insists on, for a new connection; nil: nothing.
    var rules: (any ConnectionRules)? { get }
    /// Whether a client may end a chain whenever it likes: an end that the tape does not have is no divergence.
    static var allowsCancels: Bool { get }
    /// What servers of the protocol answer to a client's close frame.
    static func closingAnswer(to frame: ClosingHandshake.Frame) -> ClosingHandshake.Frame
    /// The close frame with which servers of the protocol answer the client's farewell.
    static var farewellEnd: ClosingHandshake.Frame { get }
    /// The WebSocket subprotocol that the session seen by this value speaks, for tapes that do not have the server's answer.
    var subprotocol: String? { get }
    /// The protocol's own error to a request that has no counterpart on the tape; empty when the message wants no answer.
    func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)?
    /// Whether a message of the protocol may be called so whatever a tape has: by one of its own types, without regard to
    /// case. True where nobody can list them.
    static func mayBeCalled(_ name: String) -> Bool
}

/// How sure a codec is of an opening.
package enum Confidence: Int, Comparable, Hashable, Sendable {
    case no, possible, likely, certain

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension FrameCodec {
    package static var memberOrder: [String] { [] }
    package static func subscribes(_ message: Message) -> Bool {
        guard message.direction == .toServer else { return false }
        return message.type.lowercased().hasSuffix("subscribe") || message.label?.hasSuffix(":subscribe") == true
    }
    package static var hasSubscriptions: Bool { true }
    package static var mayBeginSubscriptionsAgain: Bool { false }
    package func anew() -> Self { self }
    package static func encode(_ content: JSONValue, like message: Message) -> [UInt8]? { nil }
    package static func redirection(_ exchange: StreamOpening) -> Redirection? { nil }
    package static func negotiation(_ answer: [UInt8], without transports: Set<Transport>) -> [UInt8]? { nil }
    package static func redirect(_ request: RequestHead, recorded: StreamOpening) -> HTTPAnswer? { nil }
    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        HTTPAnswer(status: 404)
    }
    package static func transport(_ request: RequestHead) -> Transport { kind(request) == .stream ? .sse : .lp }
    package static func framing(_ opening: StreamOpening) -> BodyFraming? {
        guard let type = opening.response?.headers.first("Content-Type") else { return nil }
        return type.lowercased().hasPrefix("text/event-stream") ? .events : nil
    }
    package static func payload(of event: SSEEvent) -> [UInt8] { event.data }
    package static func payload(of request: StreamOpening) -> [UInt8] { request.requestBody }
    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {}
    package static func content(of payload: [UInt8], on transport: Transport) -> Range<Int> { payload.indices }
    package static func closing(_ transport: Transport) -> [UInt8] { [] }
    package static func subprotocol(for request: RequestHead, recorded: String?) -> String? { recorded }
    package static var operationEnd: [UInt8] { [] }
    package static func carriers(of operation: Message, for request: RequestHead, recorded: Transport) -> [Transport] {
        []
    }
    package static func hasHandshake(on transport: Transport) -> Bool { true }
    package func keepalive(on transport: Transport) -> (payload: [UInt8], opcode: Opcode, every: UInt64)? { keepalive }
    package static var polling: Polling? { nil }
    package var memory: (any SessionMemory)? { nil }
    package mutating func leaveRepetitions() {}
    package func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)? { nil }
    package mutating func configure(_ settings: CodecSettings) {}
    package static func errand(_ exchange: StreamOpening) -> Errand? { nil }
    package static func renewed(
        _ body: [UInt8], of recorded: StreamOpening, for live: StreamOpening, _ settings: CodecSettings
    ) -> [UInt8] { body }
    package static var chainsAreNames: Bool { false }
    package var beginsWithKeepalive: Bool { false }
    package var rules: (any ConnectionRules)? { nil }
    package static var allowsCancels: Bool { false }
    package static func closingAnswer(to frame: ClosingHandshake.Frame) -> ClosingHandshake.Frame { frame }
    package static var farewellEnd: ClosingHandshake.Frame { .init(code: 1000, reason: "") }
    package var subprotocol: String? { nil }
    package static func mayBeCalled(_ name: String) -> Bool { true }
}
