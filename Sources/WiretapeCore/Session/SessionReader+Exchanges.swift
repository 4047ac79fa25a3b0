extension SessionReader {
    mutating func request(_ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, at place: Place) {
        var opening = StreamOpening(request: head)
        if case .whole(let bytes) = body { opening.requestBody = Array(bytes.prefix(SessionReader.bodyLimit)) }
        var track = connections[place.connection] ?? Track()
        if track.exchanges.count >= SessionReader.exchangeLimit, let oldest = track.exchanges.keys.min() {
            track.exchanges[oldest] = nil
        }
        track.exchanges[x] = opening
        connections[place.connection] = track
    }

    mutating func response(_ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, at place: Place) {
        guard var opening = connections[place.connection]?.exchanges[x] else { return }
        opening.response = head
        if head.status == 101 {
            connections[place.connection]?.exchanges[x] = nil
            guard head.headers.hasToken("websocket", in: "Upgrade") else { return }
            connections[place.connection]?.stream = Stream(opening: opening, opened: place.time)
            return
        }
        switch body {
        case .streamed:
            connections[place.connection]?.exchanges[x] = opening
            listOtherTransport(opening, at: place)
        case .whole(let bytes):
            opening.responseBody = Array(bytes.prefix(SessionReader.bodyLimit))
            complete(x, opening, at: place)
        case .none:
            complete(x, opening, at: place)
        }
    }

    mutating func chunk(_ x: UInt32, _ direction: Direction, _ bytes: [UInt8], at place: Place) {
        guard var opening = connections[place.connection]?.exchanges[x] else { return }
        // The dictionary's copy goes first, so that the body grows in place.
        connections[place.connection]?.exchanges[x] = nil
        if direction == .toServer {
            let room = max(0, SessionReader.bodyLimit - opening.requestBody.count)
            opening.requestBody.append(contentsOf: bytes.prefix(room))
        } else {
            let room = max(0, SessionReader.bodyLimit - opening.responseBody.count)
            opening.responseBody.append(contentsOf: bytes.prefix(room))
        }
        connections[place.connection]?.exchanges[x] = opening
    }

    mutating func end(_ x: UInt32, _ direction: Direction, at place: Place) {
        guard direction == .toClient, let opening = connections[place.connection]?.exchanges[x] else { return }
        complete(x, opening, at: place)
    }

    /// The exchange has its whole answer.
    private mutating func complete(_ x: UInt32, _ opening: StreamOpening, at place: Place) {
        connections[place.connection]?.exchanges[x] = nil
        for entry in codecs where entry.type.kind(opening.request) == .negotiate {
            guard entry.type.claim(opening) >= .likely, let key = entry.type.sessionKey(opening) else { continue }
            remember(Negotiation(opening: opening, ids: entry.type.serverIDs(opening)), Key(codec: entry.id, key: key))
            return
        }
        listOtherTransport(opening, at: place)
    }

    private mutating func remember(_ negotiation: Negotiation, _ key: Key) {
        if let index = byKey[key] {
            // The answer was written behind the stream that it led to.
            if building[index].session.negotiate == nil {
                building[index].session.negotiate = negotiation.opening
                building[index].session.serverIDs = negotiation.ids
            }
            return
        }
        if negotiations.updateValue(negotiation, forKey: key) == nil { negotiationOrder.append(key) }
        guard negotiationOrder.count > SessionReader.negotiationLimit * 2 else { return }
        for old in negotiationOrder.prefix(SessionReader.negotiationLimit) { negotiations[old] = nil }
        negotiationOrder.removeFirst(SessionReader.negotiationLimit)
    }

    /// A session on a transport that is not decoded: an event stream that was opened, or a first message that was posted
    /// with the id of a negotiation.
    private mutating func listOtherTransport(_ opening: StreamOpening, at place: Place) {
        guard let status = opening.response?.status, (200..<300).contains(status) else { return }
        for entry in codecs {
            let transport: Transport
            switch entry.type.kind(opening.request) {
            case .stream: transport = .sse
            case .send: transport = .lp
            default: continue
            }
            guard let name = entry.type.sessionKey(opening) else { continue }
            let key = Key(codec: entry.id, key: name)
            if let index = byKey[key] {
                if building[index].session.connections.last != place.connection {
                    building[index].session.connections.append(place.connection)
                }
                return
            }
            guard negotiations[key] != nil || entry.type.claim(opening) == .certain else { continue }
            begin(entry, transport, opening, key: key, at: place)
            return
        }
    }
}
