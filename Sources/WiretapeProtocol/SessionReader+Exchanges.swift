internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeWire

extension SessionReader {
    package mutating func request(
        _ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, at place: Place, into out: inout [DecodedMessage]
    ) {
        var exchange = Exchange(
            opening: StreamOpening(request: head), event: place.event, line: place.line, time: place.time)
        exchange.opening.upstream = connections[place.connection]?.upstream
        exchange.names = names(of: exchange.opening)
        if let count = connections[place.connection]?.exchanges.count, count >= SessionReader.exchangeLimit {
            // Nobody sends so many requests without waiting.
            forget(connections[place.connection])
            connections[place.connection]?.exchanges = [:]
        }
        noteOpening(exchange)
        connections[place.connection, default: Track()].exchanges[x] = exchange
        switch body {
        case .streamed: return
        case .whole(let bytes): keep(bytes, of: x, .toServer, at: place)
        case .none: break
        }
        requestEnded(x, at: place, into: &out)
    }

    package mutating func response(
        _ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, isOurs: Bool, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard connections[place.connection]?.exchanges[x] != nil else { return }
        connections[place.connection]?.exchanges[x]?.opening.response = head
        connections[place.connection]?.exchanges[x]?.answered = place.time
        if isOurs {
            guard let exchange = take(x, at: place) else { return }
            return lost(exchange, .disconnect, at: place, into: &out)
        }
        if head.status == 101 {
            guard let exchange = take(x, at: place), head.headers.hasToken("websocket", in: "Upgrade") else { return }
            var stream = Stream(opening: exchange.opening, opened: place.time)
            joinUpgrade(&stream, at: place)
            connections[place.connection]?.stream = stream
            return
        }
        if case .streamed = body {} else { connections[place.connection]?.exchanges[x]?.isAnswerWhole = true }
        nameByAnswer(x, at: place)
        beginByAnswer(x, at: place, into: &out)
        noteAnswer(x, at: place)
        beginDecoding(x, at: place)
        switch body {
        case .streamed: return
        case .whole(let bytes): chunk(x, .toClient, bytes, at: place, into: &out)
        case .none: break
        }
        complete(x, at: place, into: &out)
    }

    package mutating func chunk(
        _ x: UInt32, _ direction: Direction, _ bytes: [UInt8], at place: Place, into out: inout [DecodedMessage]
    ) {
        if direction == .toClient {
            answerPiece(x, bytes, at: place, into: &out)
        } else {
            piece(x, direction, bytes, at: place, into: &out)
        }
    }

    /// A piece of a body, as codecs read it.
    package mutating func piece(
        _ x: UInt32, _ direction: Direction, _ bytes: [UInt8], at place: Place, into out: inout [DecodedMessage]
    ) {
        if direction == .toClient, connections[place.connection]?.exchanges[x]?.framing != nil,
            streamed(x, bytes, at: place, into: &out)
        {
            return
        }
        keep(bytes, of: x, direction, at: place)
        guard direction == .toClient else { return }
        findSessionID(inBodyOf: x, at: place, into: &out)
        tellByFirstEvent(x, at: place, into: &out)
    }

    package mutating func end(_ x: UInt32, _ direction: Direction, at place: Place, into out: inout [DecodedMessage]) {
        if direction == .toServer {
            requestEnded(x, at: place, into: &out)
        } else if connections[place.connection]?.exchanges[x]?.opening.response != nil {
            complete(x, at: place, into: &out)
        }
    }

    /// The sessions that a request names.
    package func names(of opening: StreamOpening) -> [Name] {
        let names = codecs.compactMap { entry -> Name? in
            let kind = entry.type.kind(opening.request)
            switch kind {
            case .upgrade, .poll, .send, .stream, .end:
                return entry.type.sessionKey(opening).map {
                    Name(codec: entry, kind: kind, key: Key(codec: entry.id, key: $0))
                }
            case .negotiate, .operation, .refresh, .preflight, .other: return nil
            }
        }
        // Items such as `token` are in requests of many protocols: where one is sure of the request it is none of the others'.
        guard !names.isEmpty, let sure = codecs.first(where: { $0.type.claim(opening) == .certain }) else {
            return names
        }
        return names.filter { $0.codec.id == sure.id }
    }

    /// The one of the names that is a session's, or may become one's.
    package func known(_ names: [Name]) -> Name? {
        names.first { byKey[$0.key] != nil || prospects[$0.key] != nil }
    }

    /// Adds to a body as much as is wanted of it. The exchange leaves its connection meanwhile, so that the body grows in
    /// place.
    private mutating func keep(_ bytes: [UInt8], of x: UInt32, _ direction: Direction, at place: Place) {
        guard var exchange = connections[place.connection]?.exchanges.removeValue(forKey: x) else { return }
        var limit = keepsEntries ? SessionReader.exchangeBodyLimit : SessionReader.bodyLimit
        if direction == .toServer, mayBeOperation(exchange.opening.request) { limit = SessionReader.exchangeBodyLimit }
        // Its beginning alone could not be read.
        let headers = direction == .toServer ? exchange.opening.request.headers : exchange.opening.response?.headers
        if headers?.first("Content-Encoding") != nil { limit = SessionReader.exchangeBodyLimit }
        if place.isUnframed, direction == .toServer { exchange.isRequestUnframed = true }
        if place.isUnframed, direction == .toClient { exchange.isAnswerUnframed = true }
        switch known(exchange.names)?.kind {
        case .send where direction == .toServer, .poll where direction == .toClient,
            .operation where direction == .toClient:
            limit = SessionReader.messageLimit
        case .negotiate, .upgrade, .poll, .send, .stream, .operation, .end, .refresh, .preflight, .other, nil: break
        }
        let free = max(0, SessionReader.heldLimit - held)
        let grown =
            direction == .toServer
            ? SessionReader.add(bytes, to: &exchange.opening.requestBody, limit: limit, free: free)
            : SessionReader.add(bytes, to: &exchange.opening.responseBody, limit: limit, free: free)
        if let grown {
            exchange.held += grown
            held += grown
        } else {
            exchange.isCut = true
        }
        connections[place.connection]?.exchanges[x] = exchange
    }

    /// Returns by how much what counts as held has grown; nil when there was no room for all of the bytes, and none is kept.
    private static func add(_ bytes: [UInt8], to body: inout [UInt8], limit: Int, free: Int) -> Int? {
        let grown = max(0, body.count + bytes.count - max(body.count, bodyLimit))
        guard body.count + bytes.count <= limit, grown <= free else { return nil }
        if body.isEmpty { body = bytes } else { body.append(contentsOf: bytes) }
        return grown
    }

    /// Takes an exchange out of its connection.
    mutating func take(_ x: UInt32, at place: Place) -> Exchange? {
        guard let exchange = connections[place.connection]?.exchanges.removeValue(forKey: x) else { return nil }
        held -= exchange.held
        return exchange
    }

    /// What a connection held of bodies is free again.
    mutating func forget(_ track: Track?) {
        for exchange in track?.exchanges.values ?? [:].values { held -= exchange.held }
    }

    /// The exchange has its whole answer.
    package mutating func complete(_ x: UInt32, at place: Place, into out: inout [DecodedMessage]) {
        guard var exchange = take(x, at: place) else { return }
        decodeAnswer(x, &exchange)
        if exchange.names.isEmpty { exchange.names = names(of: exchange.opening) }
        if known(exchange.names) == nil,
            let sure = exchange.names.first(where: { $0.codec.type.claim(exchange.opening) == .certain })
        {
            expect(sure.key)
        }
        let before = building.count
        defer { tellWhose(exchange, begun: building.count > before) }
        if let name = known(exchange.names) {
            answered(exchange, name, at: place, into: &out)
        } else if !negotiated(exchange, at: place), !refusedOpening(exchange, at: place) {
            ordinary(exchange, at: place)
        }
    }

    /// - Parameter begun: whether a session began with its answer.
    private mutating func tellWhose(_ exchange: Exchange, begun: Bool) {
        guard belongings != nil else { return }
        if begun {
            belongs(exchange.event, building.count - 1, isOpening: true)
        } else if let name = known(exchange.names), let index = session(named: name.key) {
            belongs(exchange.event, index, isOpening: building[index].carrier.openingEvent == exchange.event)
        }
    }

    /// An exchange of no session.
    private mutating func ordinary(_ exchange: Exchange, at place: Place) {
        let opening = exchange.opening
        guard let response = opening.response else { return }
        var isUpgrade = false
        for entry in codecs {
            switch entry.type.kind(opening.request) {
            case .preflight: return
            case .upgrade: isUpgrade = true
            case .negotiate, .poll, .send, .stream, .operation, .end, .refresh, .other: break
            }
            // What is told by its answer would be a session by now.
            if !entry.type.isToldByAnswer, entry.type.claim(opening) >= .likely {
                return noteUnplaced(exchange, of: entry, isPlayed: false)
            }
        }
        guard !isUpgrade else {
            if exchange.names.isEmpty { refused(exchange, by: nil, at: place) }
            return
        }
        if exchange.names.isEmpty { exchangeCount += 1 }
        if let name = exchange.names.first(where: { [.stream, .poll, .send].contains($0.kind) }) {
            noteUnplaced(exchange, of: name.codec, isPlayed: true)
        }
        guard keepsEntries else { return }
        plain.append(Plain(exchange: recorded(exchange, response, at: place), names: exchange.names.map(\.key)))
    }

    private mutating func noteUnplaced(_ exchange: Exchange, of codec: CodecEntry, isPlayed: Bool) {
        guard let status = exchange.opening.response?.status, (200..<300).contains(status),
            unplacedRequests.count < SessionReader.mostFailures
        else { return }
        unplacedRequests.append(
            Unplaced(
                line: exchange.line, codec: codec.id, method: exchange.opening.request.method,
                path: exchange.opening.request.path, isPlayed: isPlayed, names: exchange.names.map(\.key)))
    }

    /// Keeps a request outside of sessions that got no response, or only a part of one.
    mutating func ordinary(_ exchange: Exchange, failed failure: RecordedExchange.Failure, at place: Place) {
        guard exchange.isRequestWhole, exchange.names.isEmpty else { return }
        for entry in codecs {
            switch entry.type.kind(exchange.opening.request) {
            case .preflight, .upgrade, .negotiate: return
            case .poll, .send, .stream, .operation, .end, .refresh, .other: break
            }
            if !entry.type.isToldByAnswer, entry.type.claim(exchange.opening) >= .likely { return }
        }
        var exchange = exchange
        exchange.answered = place.time
        var failed = recorded(exchange, exchange.opening.response ?? ResponseHead(status: 0), at: place)
        failed.failure = failure
        exchangeCount += 1
        if !keepsEntries {
            guard plain.count < SessionReader.mostFailures else { return }
            (failed.requestBody, failed.responseBody) = ([], [])
        }
        plain.append(Plain(exchange: failed, names: []))
    }

    /// The most unplaced requests that are kept, and the most failed ones if ``keepsEntries`` is false.
    private static let mostFailures = 1_000

    func recorded(_ exchange: Exchange, _ response: ResponseHead, at place: Place) -> RecordedExchange {
        let opening = exchange.opening
        return RecordedExchange(
            event: exchange.event, line: exchange.line, time: exchange.time, answered: exchange.answered,
            connection: place.connection, request: opening.request, requestBody: opening.requestBody,
            response: response, responseBody: opening.responseBody, isCut: exchange.isCut, upstream: opening.upstream)
    }
}
