internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// One record of the hub protocol before its meaning is known.
struct SignalRFrame {
    var object: JSONValue
    /// With the record separator.
    var bytes: [UInt8]
    var opcode: Opcode
    var direction: Direction

    /// The member as servers and clients read it: the last of equal names wins, null is absent.
    func field(_ name: String) -> JSONValue? {
        guard let value = object.members?.last(where: { $0.name == name })?.value, value != .null else { return nil }
        return value
    }

    /// A text, or nil when absent. Anything else is a fault.
    func text(_ name: String) throws(SignalRFault) -> String? {
        guard let value = field(name) else { return nil }
        guard let text = value.string else { throw SignalRFault("\(name) is not a string") }
        return text
    }

    func requiredText(_ name: String) throws(SignalRFault) -> String {
        guard let text = try text(name) else { throw SignalRFault("\(name) is missing") }
        return text
    }

    /// An integer in any spelling.
    func integer(_ name: String) throws(SignalRFault) -> Int {
        guard case .number? = field(name), let number = field(name)?.canonical.int else {
            throw SignalRFault("\(name) is not an integer")
        }
        return number
    }

    func list(_ name: String) throws(SignalRFault) -> [JSONValue]? {
        guard let value = field(name) else { return nil }
        guard let items = value.array else { throw SignalRFault("\(name) is not an array") }
        return items
    }

    func message(
        _ role: Role, _ type: String, label: String? = nil, chain: Chain? = nil, opens: [Chain] = [],
        meaning: [JSONValue.Member] = [], summary: String
    ) -> Message {
        message(
            role, type, label: label, chain: chain, opens: opens, meaning: meaning, shown: .line(Summary.line(summary)))
    }

    func message(
        _ role: Role, _ type: String, label: String? = nil, chain: Chain? = nil, opens: [Chain] = [],
        meaning: [JSONValue.Member] = [], shown: Message.Shown
    ) -> Message {
        Message(
            direction: direction, role: role, type: type, label: label, chain: chain, opens: opens,
            meaning: .object(meaning), content: object, shown: shown, bytes: bytes, opcode: opcode)
    }
}

/// Why a record is not a message of the protocol.
struct SignalRFault: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
