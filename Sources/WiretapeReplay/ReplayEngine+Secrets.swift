internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Pseudonyms of a redacted tape: what clients say is read with them, what they hear carries their own values.
extension ReplayEngine {
    /// A client's message as the tape would have it.
    mutating func settle(_ message: inout Message, of session: SessionRun) {
        let (script, place, ignore) = (session.script, session.place(of: message), options.ignore)
        secrets.hear(&message, of: session.client.identities.last ?? "") { said in
            !script.equals(Script.key(said, at: place, ignore: ignore)).isEmpty
        }
    }

    /// The same for an operation that no session has yet.
    mutating func settle(_ message: inout Message, _ head: RequestHead, on connection: ConnectionID) {
        let (book, ignore) = (book(), options.ignore)
        secrets.hear(&message, of: secrets.isActive ? identity(head, connection) : "") { said in
            !book.equal(to: Script.key(said, at: nil, ignore: ignore)).isEmpty
        }
    }

    /// The body of an ordinary request as the tape would have it.
    mutating func settled(_ body: [UInt8], _ head: RequestHead, on connection: ConnectionID) -> [UInt8] {
        let body = secrets.named(body, head)
        guard secrets.isActive, equalExchange(head, body, connection) == nil else { return body }
        return secrets.hear(body: body, head, of: identity(head, connection))
    }

    /// The action with the client's own values, and lines for people without anybody's.
    package mutating func spoken(_ action: ReplayAction) -> ReplayAction {
        switch action {
        case .log(let line): return .log(masked(line))
        case .respond(let connection, let answer, let thenClose, let ticket):
            guard secrets.isActive else { return action }
            return .respond(
                connection, secrets.say(answer, to: client(of: connection)), thenClose: thenClose, ticket: ticket)
        case .beginStream(let connection, let answer):
            guard secrets.isActive else { return action }
            return .beginStream(connection, secrets.say(answer, to: client(of: connection)))
        case .piece(let connection, let bytes, let ticket):
            guard secrets.isActive else { return action }
            return .piece(
                connection, secrets.say(bytes, isBinary: String(validUTF8: bytes) == nil, to: client(of: connection)),
                ticket: ticket)
        case .upgrade(let connection, let headers, let accept, let deflate):
            guard secrets.isActive else { return action }
            return .upgrade(
                connection, headers: secrets.say(headers, to: client(of: connection)), accept: accept, deflate: deflate)
        case .send(let connection, let opcode, let bytes, let ticket, let deflated, let frames):
            guard secrets.isActive else { return action }
            let said = secrets.say(bytes, isBinary: opcode == .binary, to: client(of: connection))
            return .send(connection, opcode, said, ticket: ticket, deflated: deflated, frames: frames)
        case .endStream, .raw, .limit, .pace, .hold, .stall, .mute, .closeFrame, .disconnect, .reset,
            .awaitAcknowledged,
            .passThrough, .note:
            return action
        }
    }

    /// A text with the client's own values, for what is written around it.
    func spoken(_ text: [UInt8], on connection: ConnectionID) -> [UInt8] {
        secrets.isActive ? secrets.say(text, to: client(of: connection)) : text
    }

    /// Removes the secrets from a text of a report. The names of rules and policies stay as they are.
    package mutating func masked(_ text: String) -> String {
        secrets.masked(text, sparing: faults.rules.map(\.name) + options.policyTexts)
    }

    private func client(of connection: ConnectionID) -> String? {
        guard let peer = peers[connection] else { return nil }
        return (peer.session ?? peer.carried).flatMap { $0.client.identities.last } ?? peer.client
    }
}
