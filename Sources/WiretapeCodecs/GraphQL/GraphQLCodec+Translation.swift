package import WiretapeMessages
package import WiretapeProtocol
internal import WiretapeWire

/// A session of one subprotocol for a client of another one. What both have is said in the client's words
/// (``rewrite(_:id:on:into:)``), keepalives and errors of the replay's own are the client's dialect's anyway.
extension GraphQLCodec {
    /// AppSync's payloads are read by its own clients only.
    package var otherSubprotocols: [String] {
        isAppSync || dialect == nil ? [] : GraphQLDialect.allCases.filter { $0 != dialect }.map(\.rawValue)
    }

    package var translation: String? { recordedDialect.map { "\(dialect?.rawValue ?? "") instead of \($0.rawValue)" } }

    /// `graphql-transport-ws` knows no farewell: a server that takes the older dialect's waits for its client to leave.
    package var endsAtFarewell: Bool { dialect != .transportWS }

    /// `graphql-transport-ws` closes the connection where older dialects say what is wrong, and acknowledges no start.
    package func has(_ message: Message) -> Bool {
        guard recordedDialect != nil, dialect == .transportWS else { return true }
        return message.kind != "connection_error" && message.kind != "start_ack"
    }

    /// A connection that is refused: 1011 behind `connection_error`, or 4403 alone.
    package func translated(_ close: RuleBreach) -> RuleBreach {
        guard let recordedDialect, dialect == .transportWS, recordedDialect != .transportWS, !isAcknowledged,
            close.code == 1011
        else { return close }
        return RuleBreach(4403, "Forbidden")
    }

    /// A message of no operation with the name that the client's dialect has for it; nil when it is the recorded one.
    func renamed(_ message: Message) -> [UInt8]? {
        guard recordedDialect != nil, message.direction == .toClient, message.role != .opaque else { return nil }
        let name = dialect?.name(of: message.kind) ?? message.type
        guard name != message.type else { return nil }
        var content = message.content
        content["type"] = .string(name)
        return Array(content.text.utf8)
    }
}
