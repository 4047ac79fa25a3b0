internal import WiretapeMessages
internal import WiretapeWire

/// Sessions that every request names by an id: nothing is negotiated, and the first answer tells the id.
extension SessionReader {
    /// The answer to an opening request tells whose it is.
    mutating func nameByAnswer(_ x: UInt32, at place: Place) {
        guard var exchange = connections[place.connection]?.exchanges[x] else { return }
        if exchange.names.isEmpty {
            exchange.names = names(of: exchange.opening).filter { $0.codec.type.hasTrackingIDs }
            guard !exchange.names.isEmpty else { return }
            connections[place.connection]?.exchanges[x] = exchange
            noteOpening(exchange)
        }
        for name in exchange.names where name.codec.type.hasTrackingIDs && [.poll, .stream].contains(name.kind) {
            if exchange.opening.response?.status == 200 { expect(name.key) }
        }
    }

    /// Takes the session id from the beginning of a streamed body if the response head does not have the id.
    mutating func findSessionID(inBodyOf x: UInt32, at place: Place, into out: inout [DecodedMessage]) {
        guard let exchange = connections[place.connection]?.exchanges[x], exchange.names.isEmpty,
            exchange.opening.response?.status == 200,
            exchange.opening.responseBody.count < SessionReader.handshakeLimit,
            codecs.contains(where: { $0.type.hasTrackingIDs && $0.type.kind(exchange.opening.request) == .stream })
        else { return }
        nameByAnswer(x, at: place)
        guard connections[place.connection]?.exchanges[x]?.names.isEmpty == false else { return }
        noteAnswer(x, at: place)
        _ = streamed(x, [], at: place, into: &out)
    }

    /// The most bytes of a body in which a handshake is searched for, padding included.
    private static let handshakeLimit = 16 << 10

    /// An opening that the server refused is a refusal although nothing was negotiated before.
    mutating func refusedOpening(_ exchange: Exchange, at place: Place) -> Bool {
        guard exchange.opening.response?.status ?? 0 >= 300 else { return false }
        for entry in codecs where entry.type.hasTrackingIDs && entry.type.claim(exchange.opening) == .certain {
            switch entry.type.kind(exchange.opening.request) {
            case .poll, .stream, .upgrade:
                let transport = entry.type.transport(exchange.opening.request)
                refuse(entry, transport, exchange.opening, Prospect(), at: place)
                return true
            case .negotiate, .send, .operation, .end, .refresh, .preflight, .other: continue
            }
        }
        return false
    }

    /// A request carries the session from here on.
    package mutating func carried(_ index: Int, by opening: StreamOpening, _ event: UInt64) {
        guard building[index].session.codec.type.hasTrackingIDs, building[index].carriedBy != event else { return }
        building[index].carriedBy = event
        building[index].codec.carried(by: opening)
        building[index].transport = building[index].session.codec.type.transport(opening.request)
    }

    /// The first thing on the tape was what the client sent: a head that is held back for its body may come behind it.
    mutating func adoptOpening(_ exchange: Exchange, _ transport: Transport, _ index: Int) {
        let type = building[index].session.codec.type
        guard type.kind(building[index].session.opening.request) == .send else { return }
        building[index].session.opening = exchange.opening
        building[index].session.transport = transport
        building[index].carrier.opening = exchange.opening
        building[index].carrier.openingEvent = exchange.event
    }

    /// A client that is back, over whatever transport: what ended before is over.
    package mutating func goOn(_ index: Int, by event: UInt64) {
        building[index].carrier.latest = event
        building[index].clientEnded = false
        building[index].serverEnded = false
    }

    /// A WebSocket that names a session which is known goes on with it at once.
    mutating func joinUpgrade(_ stream: inout Stream, at place: Place) {
        for entry in codecs where entry.type.hasTrackingIDs {
            guard let name = entry.type.sessionKey(stream.opening),
                let index = session(named: Key(codec: entry.id, key: name))
            else { continue }
            stream.session = forgotten + index
            stream.event = place.event
            goOn(index, by: place.event)
            carried(index, by: stream.opening, place.event)
            carry(index, on: place.connection)
            return
        }
    }

    /// The session's messages have told its id: later requests name it so.
    mutating func learnID(_ index: Int) {
        guard building[index].session.serverIDs == nil, building[index].session.codec.type.hasTrackingIDs,
            let id = building[index].codec.sessionID
        else { return }
        building[index].session.serverIDs = ServerIDs(connectionID: id, token: id)
        byKey[Key(codec: building[index].session.codec.id, key: id)] = forgotten + index
    }
}
