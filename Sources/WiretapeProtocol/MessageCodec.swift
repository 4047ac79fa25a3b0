package import WiretapeMessages
package import WiretapeWire

/// What a protocol's messages are: whose they are, how they are read and written. All that recording, looking at tapes and
/// rules on live traffic need.
package protocol MessageCodec: Sendable {
    /// `signalr`: the name on the command line and in JSON.
    static var id: String { get }
    /// Whether this exchange or connection speaks the protocol. The highest claim wins, the earlier codec among equals.
    static func claim(_ opening: StreamOpening) -> Confidence
    init(_ opening: StreamOpening)
    /// Appends the messages of one payload (a WebSocket message, an event, a body). Bad input gives `.opaque` with a
    /// reason and never traps; nothing is kept for the next payload unless the protocol is a byte stream there.
    mutating func decode(_ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message])
    /// A payload that a tape gives as JSON, with the protocol's own framing around it.
    static func framed(_ json: [UInt8]) -> [UInt8]
    /// A message like `message` with other content, framed; nil when the protocol's messages are JSON texts (then the text
    /// itself is changed) or cannot be written.
    static func encode(_ content: JSONValue, like message: Message) -> [UInt8]?
    /// Encodes a message with this content as the session does. Nil if the session's messages are JSON.
    func encoded(_ content: JSONValue) -> (payload: [UInt8], opcode: Opcode)?
    /// The order in which a canonical tape writes the members of the protocol's messages; others follow by name.
    static var memberOrder: [String] { get }
    /// Lines of a sparse tape behind its header that explain themselves, for `wiretape new`.
    static var example: [String] { get }
    /// Appends `message` with live ids, framed for `transport`; returns the opcode for a WebSocket. With an empty map the
    /// bytes mean the same as the recorded ones.
    func write(_ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]) -> Opcode
    /// The `n`th variation of a server-made id: same length, same alphabet; `n` 0 is the id itself.
    static func vary(_ id: String, _ n: Int) -> String
    /// The same codec for single payloads out of their context: what it knows of the session as a whole (its hub protocol)
    /// and nothing of the messages before.
    func withoutHistory() -> Self
    /// Whether a message subscribes to something, or does so again: the point `subscribe` of fault rules.
    static func subscribes(_ message: Message) -> Bool
    /// Whether a client has to send the request again after a reconnect because it goes on: a subscription or a stream, in
    /// contrast to a call, which one answer ends. Nil where the request does not tell.
    static func isSubscription(_ message: Message) -> Bool?
    /// Whether the protocol has such messages.
    static var hasSubscriptions: Bool { get }
    /// Whether a client may reconnect after the server's close message.
    static func allowsReconnect(_ closeMessage: Message) -> Bool
    /// Whether one server of the protocol goes on with a subscription that is asked for again, and another begins it again.
    static var mayBeginSubscriptionsAgain: Bool { get }
    /// Whether messages of the server name the request that they answer. If not, replay cannot answer a message that a client sends
    /// again after a reconnect.
    static var hasAnswers: Bool { get }
    /// What a replay was told that concerns the protocol. The values that write its sessions and those that read its
    /// clients are told.
    mutating func configure(_ settings: CodecSettings)
    /// Ids of chains are names that applications know, such as those of channels, and not made up by a peer.
    static var chainsAreNames: Bool { get }
    /// Whether a message of the protocol may be called so whatever a tape has: by one of its own types, without regard to
    /// case. True where nobody can list them.
    static func mayBeCalled(_ name: String) -> Bool
    /// Whether messages that shared a frame on the tape share one at replay.
    static var sharesFrames: Bool { get }
    /// Whether ``FrameCodec/encode(_:like:)`` is to write texts, too: those of the protocol are more than their JSON.
    static var encodesTexts: Bool { get }
}

extension MessageCodec {
    package static func framed(_ json: [UInt8]) -> [UInt8] { json }
    package static func vary(_ id: String, _ n: Int) -> String { id }
    package static var memberOrder: [String] { [] }
    package static func subscribes(_ message: Message) -> Bool {
        guard message.direction == .toServer else { return false }
        return message.type.lowercased().hasSuffix("subscribe") || message.label?.hasSuffix(":subscribe") == true
    }
    package static func isSubscription(_ message: Message) -> Bool? { subscribes(message) }
    package static func allowsReconnect(_ closeMessage: Message) -> Bool { false }
    package static var hasSubscriptions: Bool { true }
    package static var mayBeginSubscriptionsAgain: Bool { false }
    package static var hasAnswers: Bool { true }
    package func withoutHistory() -> Self { self }
    package static func encode(_ content: JSONValue, like message: Message) -> [UInt8]? { nil }
    package func encoded(_ content: JSONValue) -> (payload: [UInt8], opcode: Opcode)? { nil }
    package mutating func configure(_ settings: CodecSettings) {}
    package static var chainsAreNames: Bool { false }
    package static func mayBeCalled(_ name: String) -> Bool { true }
    package static var sharesFrames: Bool { true }
    package static var encodesTexts: Bool { false }
}

extension MessageCodec {
    /// Whether the server's message ends the connection and forbids the client to reconnect.
    package static func endsForGood(_ message: Message) -> Bool {
        message.role == .close && message.direction == .toClient && !allowsReconnect(message)
    }

    /// Whether a payload to the client contains such a message.
    package func endsForGood(_ payload: Span<UInt8>, _ opcode: Opcode) -> Bool {
        var codec = withoutHistory()
        var messages: [Message] = []
        codec.decode(payload, opcode, .toClient, into: &messages)
        return messages.contains(where: Self.endsForGood)
    }
}

/// How sure a codec is of an opening.
package enum Confidence: Int, Comparable, Hashable, Sendable {
    case no, possible, likely, certain

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
