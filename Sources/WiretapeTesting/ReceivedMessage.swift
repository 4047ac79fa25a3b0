internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// A message that passed between the client and the replay, decoded. Secrets stand in it as they were said; it is in memory only.
public struct ReceivedMessage: Hashable, Sendable, CustomStringConvertible {
    /// The side that a message goes to.
    public enum Direction: Hashable, Sendable {
        /// From the client under test.
        case toServer
        /// From the tape.
        case toClient

        var wire: WiretapeWire.Direction {
            switch self {
            case .toServer: .toServer
            case .toClient: .toClient
            }
        }
    }

    /// The side that it went to.
    public let direction: Direction
    /// What the protocol calls it: `Invocation`, `subscribe`.
    public let type: String
    /// What it is about: the target of an invocation, an operation, an event; nil where the protocol has no such thing.
    public let label: String?
    /// The channel that it belongs to, where the protocol has channels.
    public let channel: String?
    /// Type and content for people: `Invocation Send("ada", "hi")`.
    public let description: String
    /// How it came: `ws`, `sse`, `lp`, `stream`, `multipart` or `http`.
    public let transport: String
    /// The number of the recorded session that its connection carried, from 1; 0: none.
    public let session: Int
    /// In which attempt of the client it came, from 1, counted as they happened; 0: in none.
    public let attempt: Int
    /// The client's time since the first thing that a client did.
    public let time: Duration
    /// What it says, at JSON Pointer `""`.
    public let content: MessageValue

    init(_ message: Message, transport: String, attempt: Int, session: Int, time: Duration) {
        direction =
            switch message.direction {
            case .toServer: .toServer
            case .toClient: .toClient
            }
        type = message.type
        label = message.label
        channel = message.channel
        description = message.title
        content = MessageValue(message.content)
        self.transport = transport
        self.session = session
        self.attempt = attempt
        self.time = time
    }

    /// The value at a JSON Pointer (RFC 6901) of the content: `message["/arguments/0"]`; nil when there is none.
    public subscript(pointer: String) -> MessageValue? { content[pointer] }
}

/// A part of what a message says. Compares with literals: `message["/arguments/0"] == "ada"`.
public struct MessageValue: Hashable, Sendable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    /// The text, of a text.
    public var string: String? { value.string }
    /// The number, of an integer that fits.
    public var int: Int? { value.int }
    /// The number, of any.
    public var double: Double? { if case .number(let text) = value { Double(text) } else { nil } }
    /// The truth, of one.
    public var bool: Bool? { value.bool }
    /// The items, of an array.
    public var array: [MessageValue]? { value.array?.map(MessageValue.init) }
    /// The names of the members, of an object, in their order.
    public var names: [String]? { value.members?.map(\.name) }
    /// Whether it is `null`.
    public var isNull: Bool { value == .null }
    /// The whole as JSON.
    public var json: String { value.text }

    /// The value at a JSON Pointer (RFC 6901); nil when there is none.
    public subscript(pointer: String) -> MessageValue? { value.value(at: pointer).map(MessageValue.init) }

    /// Equal for values of equal meaning: the order of members and the spelling of numbers do not matter.
    public static func == (a: MessageValue, b: MessageValue) -> Bool {
        a.value.canonicalText == b.value.canonicalText
    }

    /// As `==` has it.
    public func hash(into hasher: inout Hasher) { hasher.combine(value.canonicalText) }
}

extension MessageValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    CustomStringConvertible
{
    /// A text.
    public init(stringLiteral value: String) { self.init(.string(value)) }

    /// An integer.
    public init(integerLiteral value: Int) { self.init(.number(value)) }

    /// A truth.
    public init(booleanLiteral value: Bool) { self.init(.bool(value)) }

    /// The whole as JSON.
    public var description: String { json }
}
