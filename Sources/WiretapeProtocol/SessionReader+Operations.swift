internal import WiretapeMessages
internal import WiretapeWire

/// Exchanges of kind `operation`: each is a session of its own, which begins with the whole request.
///
/// The proper end of an answer ends the chain unless the server has said so before, and is a close with code 1000. An
/// answer that is none of the protocol makes the session a refusal. A client that leaves before the end cancels its chain.
extension SessionReader {
    /// Whether the body may show that the request is an operation.
    func mayBeOperation(_ request: RequestHead) -> Bool { codecs.contains { $0.type.kind(request) == .operation } }

    /// The request is whole: a codec may see an operation in it.
    mutating func beginOperation(_ x: UInt32, at place: Place, into out: inout [DecodedMessage]) {
        guard let exchange = connections[place.connection]?.exchanges[x], !exchange.isCut else { return }
        let opening = exchange.opening
        let claims = codecs.filter { $0.type.kind(opening.request) == .operation }.map { ($0, $0.type.claim(opening)) }
        guard let (entry, confidence) = claims.max(by: { $0.1 < $1.1 }), confidence >= .likely else { return }
        let name = Name(
            codec: entry, kind: .operation, key: Key(codec: entry.id, key: "\u{0}\(place.connection) \(x)"))
        let index = begin(entry, entry.type.transport(opening.request), opening, key: name.key, at: place)
        building[index].session.isOperation = true
        connections[place.connection]?.exchanges[x]?.names = [name]
        let payload = framed(entry.type.payload(of: opening), entry, at: place)
        deliver(payload, .toServer, isCut: false, opcode: .text, to: index, at: place, into: &out)
    }

    /// The head of its answer.
    mutating func noteAnswer(_ x: UInt32, toOperation name: Name, at place: Place) {
        guard let index = session(named: name.key), let exchange = connections[place.connection]?.exchanges[x],
            let head = exchange.opening.response
        else { return }
        var framing: BodyFraming?
        if (200..<300).contains(head.status) { framing = name.codec.type.framing(exchange.opening) }
        connections[place.connection]?.exchanges[x]?.framing = framing
        building[index].session.opening.response = head
        building[index].session.transport = framing?.carrier ?? .http
    }

    /// The answer is whole.
    mutating func operationAnswered(
        _ exchange: Exchange, _ name: Name, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let index = session(named: name.key) else { return }
        byKey[name.key] = nil
        noteMultipart(exchange, index)
        deliverRest(exchange, to: index, at: place, into: &out)
        if exchange.framing == nil {
            guard let body = readable(exchange, in: index, at: place) else {
                return refuse(exchange, index)
            }
            deliver(body, .toClient, isCut: false, opcode: .text, to: index, at: place, into: &out)
            endChain(of: index, .toClient, at: place, into: &out)
        } else if exchange.body?.isOver ?? false || exchange.framing == .units(.lines) {
            // JSON lines have no end message. The end of the response ends the operation.
            endChain(of: index, .toClient, at: place, into: &out)
        }
        ended(index, .close(code: 1000, reason: ""), at: place)
    }

    /// The body of a single answer; nil when it is none of the protocol's.
    private func readable(_ exchange: Exchange, in index: Int, at place: Place) -> [UInt8]? {
        guard !exchange.isCut else { return nil }
        let body = framed(exchange.opening.responseBody, building[index].session.codec, at: place)
        var probe = building[index].codec
        var messages: [Message] = []
        probe.decode(body.span, .text, .toClient, into: &messages)
        guard let first = messages.first, first.role != .opaque, first.role != .keepalive else { return nil }
        return body
    }

    private mutating func refuse(_ exchange: Exchange, _ index: Int) {
        building[index].session.entries = []
        building[index].session.refusal = exchange.opening.response.map {
            .init($0, body: Array(exchange.opening.responseBody.prefix(SessionReader.bodyLimit)))
        }
    }

    /// What the end of the exchange means; nothing, when the server has ended the chain already: the codec knows.
    private mutating func endChain(
        of index: Int, _ direction: Direction, at place: Place, into out: inout [DecodedMessage]
    ) {
        let end = building[index].session.codec.type.operationEnd
        guard !end.isEmpty else { return }
        deliver(end, direction, isCut: false, opcode: .text, to: index, at: place, into: &out)
    }

    /// How the server writes its multipart answer, as far as it was read.
    mutating func noteMultipart(_ exchange: Exchange, _ index: Int) {
        if let writer = exchange.body?.multipart { building[index].session.multipart = writer }
    }

    /// The connection ended before the answer was whole.
    mutating func operationLost(
        _ exchange: Exchange, _ name: Name, _ ending: RecordedSession.Ending, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard let index = session(named: name.key) else { return }
        byKey[name.key] = nil
        noteMultipart(exchange, index)
        deliverRest(exchange, to: index, at: place, into: &out)
        if exchange.body?.isOver ?? false { endChain(of: index, .toClient, at: place, into: &out) }
        ended(index, ending, at: place)
    }

    /// The client has left its request.
    mutating func operationLeft(
        _ exchange: Exchange, _ name: Name, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let index = session(named: name.key), !building[index].clientEnded else { return }
        // The multipart response had ended with its closing delimiter before the client left.
        guard exchange.body?.isOver != true else {
            return operationAnswered(exchange, name, at: exchange.latest ?? place, into: &out)
        }
        noteMultipart(exchange, index)
        endChain(of: index, .toServer, at: place, into: &out)
        building[index].clientEnded = true
    }
}
