package import WiretapeMessages
package import WiretapeWire

/// What a server of the protocol does beside answering: its handshake, keepalives, refusals, what it remembers of lost
/// connections and how it closes. Replay plays that part.
package protocol ServerConduct: LimitedCodec {
    /// What opens every session and sparse tapes leave out: the handshake. Empty: nothing.
    static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { get }
    /// The transports over which replay can serve the session that this value has seen, in the order in which the
    /// protocol's servers offer them. A session of text only may be served over event streams.
    var transports: [Transport] { get }
    /// Why the session that this value has seen cannot be replayed, as the end of the sentence "session 1 …". Nil: it can.
    var obstacle: String? { get }
    /// The subprotocol that an upgrade is answered with.
    /// - Parameter recorded: that of the tape's WebSocket; nil when it answered none, or when there was no WebSocket.
    static func subprotocol(for request: RequestHead, recorded: String?) -> String?
    /// Whether sessions over that transport begin with the protocol's handshake. Where they do not, ``preamble`` stands for it.
    static func hasHandshake(on transport: Transport) -> Bool
    /// What the protocol keeps to go on after a lost connection without a new handshake. Asked after the client's handshake
    /// was read; nil: it keeps nothing.
    var memory: (any SessionMemory)? { get }
    /// From here on ``memory`` tells which messages of the client are repetitions: this value reads each as a new one.
    mutating func leaveRepetitions()
    /// The keepalive that a server sends, and how often it does, in nanoseconds. Nil: none.
    var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? { get }
    /// The same for a connection over that transport.
    func keepalive(on transport: Transport) -> (payload: [UInt8], opcode: Opcode, every: UInt64)?
    /// The server's answer to a keepalive of the client. Nil: it wants none.
    func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)?
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
    /// The reply as the server would send it after `later`, the messages that follow it in its chain. Nil if the reply describes no state, or if
    /// `later` does not change that state.
    static func updated(_ reply: Message, after later: [Message]) -> Message?
    /// The index in `later` of the message that a server retains and sends again after it repeats the reply. `later` has the messages that follow
    /// the reply in its chain. Nil if the server sends none.
    static func retainedIndex(after reply: Message, in later: [Message]) -> Int?
    /// The protocol's own error to a request that has no counterpart on the tape; empty when the message wants no answer.
    func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)?
    /// Whether scripts have the protocol's handshake; else replay makes it.
    static var scriptsHandshake: Bool { get }
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
}

extension ServerConduct {
    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { [] }
    package var obstacle: String? { nil }
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? { nil }
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? { nil }
    package static func updated(_ reply: Message, after later: [Message]) -> Message? { nil }
    package static func retainedIndex(after reply: Message, in later: [Message]) -> Int? { nil }
    package static func subprotocol(for request: RequestHead, recorded: String?) -> String? { recorded }
    package static func hasHandshake(on transport: Transport) -> Bool { true }
    package func keepalive(on transport: Transport) -> (payload: [UInt8], opcode: Opcode, every: UInt64)? { keepalive }
    package var memory: (any SessionMemory)? { nil }
    package mutating func leaveRepetitions() {}
    package func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)? { nil }
    package var beginsWithKeepalive: Bool { false }
    package var rules: (any ConnectionRules)? { nil }
    package static var allowsCancels: Bool { false }
    package static func closingAnswer(to frame: ClosingHandshake.Frame) -> ClosingHandshake.Frame { frame }
    package static var farewellEnd: ClosingHandshake.Frame { .init(code: 1000, reason: "") }
    package var subprotocol: String? { nil }
    package var endsAtFarewell: Bool { true }
    package var otherSubprotocols: [String] { [] }
    package var translation: String? { nil }
    package func has(_ message: Message) -> Bool { true }
    package func translated(_ close: RuleBreach) -> RuleBreach { close }
    package func serving(_ opening: StreamOpening) -> Self { self }
    package func greeting(_ request: RequestHead, id: String) -> [(payload: [UInt8], opcode: Opcode)] { [] }
}
