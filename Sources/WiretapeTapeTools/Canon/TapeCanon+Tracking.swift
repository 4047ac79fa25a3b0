internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Sessions that every request names by an id: the first answer tells it, and it has one name wherever it stands.
extension TapeCanon {
    /// What the request is to a session that it names; nil when it names none.
    mutating func trackedRole(_ opening: StreamOpening, _ entry: CodecEntry) -> Exchange.Role? {
        guard entry.type.hasTrackingIDs, let name = entry.type.sessionKey(opening) else { return nil }
        _ = names.name(name)
        let key = Key(codec: entry.id, key: name)
        if keys[key] == nil { keys[key] = Course(hasPolled: true) }
        switch entry.type.kind(opening.request) {
        case .poll: return .poll(key)
        case .send: return .send(key)
        case .stream: return .stream(key)
        case .end: return .end(key)
        case .negotiate, .upgrade, .operation, .refresh, .preflight, .other: return nil
        }
    }

    /// An opening without an id has the one of its answer.
    mutating func nameByAnswer(_ exchange: inout Exchange) {
        guard case .ordinary(isNegotiation: false) = exchange.role else { return }
        let opening = StreamOpening(request: exchange.head, response: exchange.response)
        for entry in codecs {
            guard let role = trackedRole(opening, entry) else { continue }
            exchange.role = role
            if case .poll(let key) = role { keys[key]?.pending += 1 }
            return
        }
    }

    /// A poll for every message, with the recorded head; what comes before the session's first message shares its poll.
    mutating func polledByID(_ exchange: Exchange, _ head: ResponseHead, _ key: Key, _ event: TapeEvent) {
        keys[key]?.pending -= 1
        let carrier = carrier(of: key, event.connection)
        var farewell = false
        var bodies: [(bytes: [UInt8], json: [UInt8]?)] = []
        var before: [UInt8] = []
        for (one, payload, _) in conversation(clientFarewell: &farewell) {
            if one.message.role == .keepalive {
                before += payload.bytes
            } else {
                bodies.append((before + payload.bytes, before.isEmpty ? payload.json : nil))
                before = []
            }
        }
        if !(200..<300).contains(head.status) { bodies = [(exchange.responseBody, nil)] }
        var items: [CanonItem] = []
        for (bytes, json) in bodies {
            let number = newExchange()
            let request = TapeEvent.Kind.request(x: 0, canonical(exchange.head, isSession: true), .none)
            let body: TapeEvent.Body = json != nil || bytes.isEmpty ? .none : .whole(bytes)
            let answer = TapeEvent.Kind.response(
                x: 0, canonical(head), body, interim: false, coding: exchange.coding, proxy: exchange.isProxys)
            items.append(
                CanonItem(time: event.time, what: .event(request, on: carrier, exchange: number, json: nil)))
            items.append(CanonItem(time: event.time, what: .event(answer, on: carrier, exchange: number, json: json)))
        }
        // In the order of the answers: with its answer a session begins.
        if let slot = exchange.slot { fill(slot, []) }
        put(items)
    }
}
