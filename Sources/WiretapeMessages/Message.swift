internal import WiretapeBytes
package import WiretapeWire

/// A decoded message of a session.
package struct Message: Hashable, Sendable {
    package var direction: Direction
    package var role: Role
    /// The protocol's name of its type: `Invocation`, `Completion`, `next` …
    package var type: String
    /// What matching takes for the type: dialects of a protocol may have different names for the same message.
    package var kind: String
    /// Target, event, operation or channel: what rules name. Nil when the type has none.
    package var label: String?
    package var chain: Chain?
    /// Further chains that this message opens (upload streams of a SignalR invocation).
    package var opens: [Chain]
    /// What is compared: everything that matters and nothing that legally varies (ids, order of members, tokens).
    /// Two messages match when the canonical texts are equal and their roles and kinds are.
    package var meaning: JSONValue
    /// The message as data, for JSON pointers of rules and for `fields` of `inspect`.
    package var content: JSONValue
    /// The source of ``summary``. Most messages are never displayed, so the summary is computed on request.
    package var shown: Shown
    /// The message as it was on the wire, with its own framing (SignalR: with the record separator).
    package var bytes: [UInt8]
    /// The kind of the WebSocket message that carried it.
    package var opcode: Opcode
    /// The channel that the message is about, where the protocol has channels and ``label`` is something else.
    package var channel: String?
    /// Whether the point `message` of rules means it.
    package var standing = Standing.message

    /// One line for people, without the type: `Send("ada", "hi")`. It is computed on each access.
    package var summary: String {
        get { shown.line }
        set { shown = .line(newValue) }
    }

    /// The source of a summary. Two different sources can have the same summary.
    package enum Shown: Hashable, Sendable {
        /// A finished summary: at most ``Summary/limit`` printable characters.
        case line(String)
        /// Text of any length.
        case text(String)
        /// The text of a value.
        case value(JSONValue)
        /// A name and its arguments.
        case call(String, [JSONValue])

        package var line: String {
            switch self {
            case .line(let line): line
            case .text(let text): Summary.line(text)
            case .value(let value): Summary.line(value.beginning(Summary.limit * 16))
            case .call(let name, let arguments): Summary.call(name, arguments)
            }
        }
    }

    package enum Standing: Hashable, Sendable {
        case message
        /// Only when the rule names its direction.
        case directed
        /// Never: it says nothing to the application.
        case aside
    }

}

extension Message {
    package init(
        direction: Direction, role: Role, type: String, label: String? = nil, chain: Chain? = nil, opens: [Chain] = [],
        meaning: JSONValue = .null, content: JSONValue = .null, summary: String, bytes: [UInt8],
        opcode: Opcode = .text, channel: String? = nil
    ) {
        self.init(
            direction: direction, role: role, type: type, label: label, chain: chain, opens: opens, meaning: meaning,
            content: content, shown: .line(summary), bytes: bytes, opcode: opcode, channel: channel)
    }

    package init(
        direction: Direction, role: Role, type: String, label: String? = nil, chain: Chain? = nil, opens: [Chain] = [],
        meaning: JSONValue = .null, content: JSONValue = .null, shown: Shown, bytes: [UInt8],
        opcode: Opcode = .text, channel: String? = nil
    ) {
        self.init(
            direction: direction, role: role, type: type, kind: type, label: label, chain: chain, opens: opens,
            meaning: meaning, content: content, shown: shown, bytes: bytes, opcode: opcode, channel: channel)
    }

    /// Type and summary for people, the type once: `Invocation Send("ada", "hi")`, `Completion 7 -> 42`.
    package var title: String { Message.title(type, summary) }

    /// ``title`` of a message of that type and summary.
    package static func title(_ type: String, _ summary: String) -> String {
        summary.isEmpty ? type : summary.hasPrefix(type) ? summary : "\(type) \(summary)"
    }

    /// Equal for messages of equal meaning.
    package var matchKey: String { "\(role.rawValue) \(kind) \(meaning.canonicalText)" }

    /// Equal for messages of equal meaning, and hardly ever for others: the hash of what ``matchKey`` is made of.
    package var matchHash: UInt64 {
        var hash = StableHash()
        hash.combine(role.rawValue)
        hash.combine(kind)
        meaning.combineCanonical(into: &hash)
        return hash.value
    }

    /// Without chain or label: bytes that could not be decoded. Its meaning is the bytes themselves.
    package static func opaque(
        _ bytes: [UInt8], _ direction: Direction, opcode: Opcode = .text, reason: String
    ) -> Message {
        let plain = JSONValue(plain: bytes)
        return Message(
            direction: direction, role: .opaque, type: "opaque", meaning: plain, content: plain, summary: reason,
            bytes: bytes, opcode: opcode)
    }
}
