internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeWire

/// Operations that are told by the head of their answer (event streams of no other protocol). Each is a session of its own.
extension SessionReader {
    /// The head of an answer has come, to a request in which no codec has seen a session.
    /// - Parameter isSure: it is no stream of a session that the tape does not know yet.
    mutating func beginByAnswer(
        _ x: UInt32, isSure: Bool = false, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let exchange = connections[place.connection]?.exchanges[x], exchange.isRequestWhole, !exchange.isCut,
            known(exchange.names) == nil, isSure || !exchange.names.contains(where: { $0.kind == .stream })
        else { return }
        let opening = exchange.opening
        // What cannot be decoded is replayed as it was received.
        guard let headers = opening.response?.headers,
            headers.contentCodings.isEmpty || ContentDecoder(headers.contentCodings) != nil,
            let (entry, framing) = codecs.told(by: opening, isWhole: exchange.isAnswerWhole),
            isSure || framing != .units(.pieces) || exchange.names.isEmpty
        else { return }
        let name = Name(
            codec: entry, kind: .operation, key: Key(codec: entry.id, key: "\u{0}\(place.connection) \(x)"))
        var asked = place
        (asked.event, asked.line, asked.time) = (exchange.event, exchange.line, exchange.time)
        asked.isUnframed = exchange.isRequestUnframed
        let index = begin(entry, entry.type.transport(opening.request), opening, key: name.key, at: asked)
        building[index].session.isOperation = true
        connections[place.connection]?.exchanges[x]?.names = [name]
        let payload = framed(entry.type.payload(of: opening), entry, at: asked)
        deliver(payload, .toServer, isCut: false, opcode: .text, to: index, at: asked, into: &out)
    }

    /// A tape written by hand that is of such a protocol: an exchange of which it has the messages only.
    /// - Parameter body: what the client says first: the body of a POST. Nil: it asks with a GET.
    mutating func beginSparse(_ entry: CodecEntry, _ body: [UInt8]?, at place: Place) -> Int {
        var opening = StreamOpening(
            request: RequestHead(method: body == nil ? "GET" : "POST", target: header?.route ?? "/"),
            response: ResponseHead(status: 200, headers: [HeaderField("Content-Type", "text/event-stream")]),
            requestBody: body ?? [])
        opening.upstream = connections[place.connection]?.upstream
        let index = begin(
            entry, entry.type.transport(opening.request), opening, opened: place.previousTime, key: nil, at: place)
        building[index].session.isOperation = true
        guard body == nil else { return index }
        var messages: [Message] = []
        building[index].frames += 1
        building[index].codec.decode([UInt8]().span, .text, .toServer, into: &messages)
        var before = place
        (before.event, before.line, before.time) = (0, 1, place.previousTime)
        for message in messages { append(.message(message), index, at: before) }
        return index
    }

    /// A stream of an unknown session has said something. No server of the other protocols speaks first, so it is none of
    /// theirs: what looked like the name of a session is an item of the query.
    mutating func tellByFirstEvent(_ x: UInt32, at place: Place, into out: inout [DecodedMessage]) {
        guard let exchange = connections[place.connection]?.exchanges[x], !exchange.names.isEmpty,
            exchange.opening.responseBody.count < SessionReader.bodyLimit, saysSomething(exchange)
        else { return }
        beginByAnswer(x, isSure: true, at: place, into: &out)
        guard let name = known(connections[place.connection]?.exchanges[x]?.names ?? []), name.kind == .operation else {
            return
        }
        noteAnswer(x, at: place)
        _ = streamed(x, [], at: place, into: &out)
    }

    private func saysSomething(_ exchange: Exchange) -> Bool {
        if exchange.framing == .events { return SessionReader.hasEvent(exchange.opening.responseBody) }
        return exchange.framing == nil && known(exchange.names) == nil
            && codecs.told(by: exchange.opening, isWhole: exchange.isAnswerWhole)?.framing == .units(.pieces)
    }

    private static func hasEvent(_ body: [UInt8]) -> Bool {
        var reader = SSEReader(limit: bodyLimit)
        var at = 0
        while true {
            switch reader.feed(body.span, from: at) {
            case .more: return false
            case .event, .tooLong: return true
            case .comment(_, let next), .retry(_, let next): at = next
            }
        }
    }

    /// The answer has ended in the middle of a unit.
    mutating func deliverRest(
        _ exchange: Exchange, to index: Int, at place: Place, into out: inout [DecodedMessage]
    ) {
        var body = exchange.body
        guard let rest = body?.takeRest(), !rest.isEmpty else { return }
        deliver(rest, .toClient, isCut: false, opcode: .text, to: index, at: exchange.latest ?? place, into: &out)
    }
}
