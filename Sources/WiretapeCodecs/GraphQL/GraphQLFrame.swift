internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// One message before its meaning is known.
struct GraphQLFrame {
    var object: JSONValue
    var bytes: [UInt8]
    var opcode: Opcode
    var direction: Direction

    /// As clients and servers read it: the last of equal names wins.
    func field(_ name: String) -> JSONValue? { object.members?.last { $0.name == name }?.value }

    /// The chain of its `id`. Operations are the client's whichever way a message goes.
    /// - Throws: when it has none, or one that is neither a text nor a number.
    func chain() throws(GraphQLFault) -> Chain {
        guard let id = field("id") else { throw GraphQLFault("id is missing") }
        guard let text = GraphQLID.text(id), !text.isEmpty else { throw GraphQLFault("id is not a text") }
        return Chain(text, origin: .toServer)
    }

    /// - Parameter kind: what the type is called in `graphql-transport-ws`; nil: as here.
    func message(
        _ role: Role, as kind: String? = nil, label: String? = nil, chain: Chain? = nil, meaning: JSONValue = .null,
        summary: String
    ) -> Message {
        var message = Message(
            direction: direction, role: role, type: field("type")?.string ?? "", label: label, chain: chain,
            meaning: meaning, content: object, summary: Summary.line(summary), bytes: bytes, opcode: opcode)
        if let kind { message.kind = kind }
        return message
    }
}
