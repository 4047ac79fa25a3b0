internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Pseudonyms of a redacted tape: what clients say is read with them, what they hear carries their own values.
extension ReplayEngine {
    /// A client's message as the tape would have it.
    mutating func settle(_ message: inout Message, of r: Int) {
        let (script, place, ignore) = (runs[r].script, runs[r].place(of: message), options.ignore)
        secrets.hear(&message, of: runs[r].client.identities.last ?? "") { said in
            !script.equals(Script.key(said, at: place, ignore: ignore)).isEmpty
        }
    }

    /// The same for an operation that no session has yet.
    mutating func settle(_ message: inout Message, _ head: RequestHead, on c: ConnectionID) {
        let (book, ignore) = (book(), options.ignore)
        secrets.hear(&message, of: secrets.isActive ? identity(head, c) : "") { said in
            !book.equal(to: Script.key(said, at: nil, ignore: ignore)).isEmpty
        }
    }

    /// The body of an ordinary request as the tape would have it.
    mutating func settled(_ body: [UInt8], _ head: RequestHead, on c: ConnectionID) -> [UInt8] {
        let body = secrets.named(body, head)
        guard secrets.isActive, equalExchange(head, body, c) == nil else { return body }
        return secrets.hear(body: body, head, of: identity(head, c))
    }

    /// The action with the client's own values, and lines for people without anybody's.
    package mutating func spoken(_ action: ReplayAction) -> ReplayAction {
        switch action {
        case .log(let line): return .log(secrets.masked(line))
        case .respond(let c, let answer, let thenClose, let ticket):
            guard secrets.isActive else { return action }
            return .respond(c, secrets.say(answer, to: client(of: c)), thenClose: thenClose, ticket: ticket)
        case .beginStream(let c, let answer):
            guard secrets.isActive else { return action }
            return .beginStream(c, secrets.say(answer, to: client(of: c)))
        case .piece(let c, let bytes, let ticket):
            guard secrets.isActive else { return action }
            return .piece(
                c, secrets.say(bytes, isBinary: String(validUTF8: bytes) == nil, to: client(of: c)), ticket: ticket)
        case .upgrade(let c, let headers, let accept, let deflate):
            guard secrets.isActive else { return action }
            return .upgrade(c, headers: secrets.say(headers, to: client(of: c)), accept: accept, deflate: deflate)
        case .send(let c, let opcode, let bytes, let ticket, let deflated):
            guard secrets.isActive else { return action }
            let said = secrets.say(bytes, isBinary: opcode == .binary, to: client(of: c))
            return .send(c, opcode, said, ticket: ticket, deflated: deflated)
        case .endStream, .raw, .limit, .pace, .hold, .stall, .mute, .closeFrame, .disconnect, .reset,
            .awaitAcknowledged,
            .passThrough, .note:
            return action
        }
    }

    /// A text of a report without secrets.
    package mutating func masked(_ text: String) -> String { secrets.masked(text) }

    private func client(of c: ConnectionID) -> String? {
        guard let peer = peers[c] else { return nil }
        return (peer.run ?? peer.carried).flatMap { runs[$0].client.identities.last } ?? peer.client
    }
}
