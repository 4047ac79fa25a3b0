internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// One message before its meaning is known.
struct EventflitFrame {
    var object: JSONValue
    var event: EventflitEvent
    var channel: String?
    /// `data`, read when it is a text that holds JSON; a text that holds none as it is. Nil: absent or null.
    var data: JSONValue?
    var bytes: [UInt8]
    var opcode: Opcode
    var direction: Direction

    init(_ bytes: [UInt8], _ opcode: Opcode, _ direction: Direction) throws(EventflitFault) {
        do throws(JSONError) {
            object = try JSONValue(parsing: bytes)
        } catch {
            throw EventflitFault("not JSON: \(error)")
        }
        guard object.members != nil else { throw EventflitFault("not a JSON object") }
        guard let name = Self.field("event", of: object)?.string else { throw EventflitFault("no event") }
        let channel = Self.field("channel", of: object)
        guard channel == nil || channel?.string != nil else { throw EventflitFault("channel is not a string") }
        event = EventflitEvent(name)
        self.channel = channel?.string
        data = Self.field("data", of: object).map(Self.inner)
        self.bytes = bytes
        self.opcode = opcode
        self.direction = direction
    }

    /// A member as servers and clients read it: the last of equal names wins, null is absent.
    static func field(_ name: String, of object: JSONValue?) -> JSONValue? {
        guard let value = object?.members?.last(where: { $0.name == name })?.value, value != .null else { return nil }
        return value
    }

    /// What a text of JSON says; anything else as it is.
    static func inner(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, let read = try? JSONValue(parsing: text) else { return value }
        return read
    }

    /// A member of `data`.
    func field(_ name: String) -> JSONValue? { Self.field(name, of: data) }

    func requiredText(_ name: String) throws(EventflitFault) -> String {
        guard let text = field(name)?.string else { throw EventflitFault("data/\(name) is not a string") }
        return text
    }

    func requiredChannel() throws(EventflitFault) -> String {
        guard let channel else { throw EventflitFault("no channel") }
        return channel
    }

    /// - Parameters:
    ///   - type: the protocol's own name of the event, or that of the application.
    ///   - channel: that the message is about.
    func message(
        _ role: Role, _ type: String, channel: String? = nil, chain: Chain? = nil, meaning: [JSONValue.Member] = [],
        summary: String
    ) -> Message {
        var content = object
        // Towards the client `data` is a text of JSON; it is shown as what it says.
        if direction == .toClient, let data { content["data"] = data }
        return Message(
            direction: direction, role: role, type: type, label: event.name, chain: chain, meaning: .object(meaning),
            content: content, summary: Summary.line(summary), bytes: bytes, opcode: opcode, channel: channel)
    }
}

/// Why a payload is not a message of the protocol.
struct EventflitFault: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
