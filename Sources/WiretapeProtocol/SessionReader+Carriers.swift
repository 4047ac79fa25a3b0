internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeWire

/// Sessions over HTTP: event streams, polls and sends.
extension SessionReader {
    /// A request that may open such a session, or keep it open.
    mutating func noteOpening(_ exchange: Exchange) {
        guard let name = known(exchange.names) ?? exchange.names.first, name.kind == .stream || name.kind == .poll
        else { return }
        let transport = name.codec.type.transport(exchange.opening.request)
        // A fresh negotiation of the same name is of the session to come.
        if prospects[name.key] == nil, let index = session(named: name.key) {
            building[index].carrier.latest = exchange.event
            if name.codec.type.hasTrackingIDs {
                adoptOpening(exchange, transport, index)
                return goOn(index, by: exchange.event)
            }
            if transport != .lp { building[index].clientEnded = false }
            return
        }
        let isStranger = prospects[name.key] == nil
        var prospect = prospects[name.key] ?? strangers[name.key] ?? Prospect()
        prospect.carrier.latest = exchange.event
        if prospect.carrier.transport == nil || prospect.carrier.opening?.response?.status ?? 0 >= 300 {
            prospect.carrier.transport = transport
            prospect.carrier.opening = exchange.opening
            prospect.carrier.openingEvent = exchange.event
            prospect.carrier.opened = nil
        }
        if isStranger { strangers[name.key] = prospect } else { prospects[name.key] = prospect }
    }

    /// A session of that name will come, although no negotiation was seen.
    package mutating func expect(_ key: Key) {
        guard prospects[key] == nil, byKey[key] == nil else { return }
        prospects[key] = strangers[key] ?? Prospect()
        strangers[key] = nil
    }

    /// The head of an answer.
    mutating func noteAnswer(_ x: UInt32, at place: Place) {
        guard let exchange = connections[place.connection]?.exchanges[x], let head = exchange.opening.response,
            let name = known(exchange.names) ?? exchange.names.first
        else { return }
        if name.kind == .operation { return noteAnswer(x, toOperation: name, at: place) }
        guard name.kind == .stream || name.kind == .poll else { return }
        if name.kind == .stream, (200..<300).contains(head.status) {
            let framing = name.codec.type.framing(exchange.opening)
            connections[place.connection]?.exchanges[x]?.framing = framing
        }
        if let index = session(named: name.key), building[index].carrier.openingEvent == exchange.event {
            // Its first message was written before the head of the stream.
            let first = building[index].session.entries.first?.time ?? place.time
            building[index].session.opened = min(first, place.time)
            building[index].session.opening.response = head
            return
        }
        func answer(_ table: inout Prospects) {
            guard var prospect = table[name.key], prospect.carrier.openingEvent == exchange.event else { return }
            prospect.carrier.opening?.response = head
            prospect.carrier.opened = place.time
            table[name.key] = prospect
        }
        answer(&prospects)
        answer(&strangers)
    }

    /// A request is whole: messages of the client, or its farewell.
    mutating func requestEnded(_ x: UInt32, at place: Place, into out: inout [DecodedMessage]) {
        connections[place.connection]?.exchanges[x]?.isRequestWhole = true
        decodeRequest(x, at: place)
        guard let names = connections[place.connection]?.exchanges[x]?.names, !names.isEmpty else {
            return beginOperation(x, at: place, into: &out)
        }
        if known(names) == nil, let sure = names.first(where: { $0.kind == .send }),
            let opening = connections[place.connection]?.exchanges[x]?.opening,
            sure.codec.type.claim(opening) == .certain
        {
            expect(sure.key)
        }
        guard let name = known(names) else { return }
        switch name.kind {
        case .send: sent(x, name, at: place, into: &out)
        case .end:
            if let index = session(named: name.key) { building[index].clientEnded = true }
        case .negotiate, .upgrade, .poll, .stream, .operation, .refresh, .preflight, .other: break
        }
    }

    private mutating func sent(_ x: UInt32, _ name: Name, at place: Place, into out: inout [DecodedMessage]) {
        guard let exchange = connections[place.connection]?.exchanges[x] else { return }
        let payload = framed(name.codec.type.payload(of: exchange.opening), name.codec, at: place)
        guard !payload.isEmpty || exchange.isCut else { return }
        guard let index = session(of: name, exchange.opening, first: payload, at: place) else { return }
        deliver(payload, .toServer, isCut: exchange.isCut, to: index, at: place, into: &out)
    }

    /// The whole answer to a request of a session.
    mutating func answered(_ exchange: Exchange, _ name: Name, at place: Place, into out: inout [DecodedMessage]) {
        let status = exchange.opening.response?.status ?? 0
        switch name.kind {
        case .operation: operationAnswered(exchange, name, at: place, into: &out)
        case .poll where (200..<300).contains(status): polled(exchange, name, at: place, into: &out)
        case .stream where (200..<300).contains(status):
            if exchange.framing != nil { streamEnded(exchange, name, .close(code: 1000, reason: ""), at: place) }
        case .poll, .stream, .upgrade:
            if let index = session(named: name.key), prospects[name.key] == nil {
                if name.kind == .poll { failed(exchange, index, .disconnect, at: place) }
            } else if status >= 300 || name.kind == .upgrade {
                refused(exchange, by: name, at: place)
            }
        case .negotiate, .send, .end, .refresh, .preflight, .other: break
        }
    }

    private mutating func polled(
        _ exchange: Exchange, _ name: Name, at place: Place, into out: inout [DecodedMessage]
    ) {
        let known = prospects[name.key] == nil ? session(named: name.key) : nil
        if let known, building[known].session.transport == .lp { proveAlive(known) }
        if exchange.opening.response?.status == 204 {
            guard let known, building[known].carrier.latest == exchange.event else { return }
            return ended(known, .close(code: 1000, reason: ""), at: place)
        }
        let payload = framed(exchange.opening.responseBody, name.codec, at: place)
        guard !payload.isEmpty || exchange.isCut,
            let index = known ?? session(of: name, exchange.opening, first: [], at: place),
            building[index].session.transport == .lp || name.codec.type.hasTrackingIDs
        else { return }
        carried(index, by: exchange.opening, exchange.event)
        guard let fault = exchange.undecoded else {
            return deliver(payload, .toClient, isCut: exchange.isCut, to: index, at: place, into: &out)
        }
        unreadable(index, exchange.opening.responseBody, fault, at: place, into: &out)
    }

    /// The rest of a streamed answer cannot be decoded.
    mutating func unreadable(
        _ x: UInt32, _ fault: ContentDecoder.Fault, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let exchange = connections[place.connection]?.exchanges[x], let name = known(exchange.names),
            let index = session(of: name, exchange.opening, first: [], at: place)
        else { return }
        carried(index, by: exchange.opening, exchange.event)
        unreadable(index, [], fault, at: place, into: &out)
    }

    /// Messages of a session cannot be read: it cannot be played.
    private mutating func unreadable(
        _ index: Int, _ payload: [UInt8], _ fault: ContentDecoder.Fault, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        building[index].session.unreadable = "has an answer that cannot be decoded: \(fault.text)"
        building[index].frames += 1
        let message = Message.opaque(payload, .toClient, opcode: .binary, reason: "cannot be decoded: \(fault.text)")
        emit([message], payload, index, .inside, at: place, into: &out)
    }

    /// A piece of a streamed answer. False when the stream is nobody's yet: no server speaks first, so that what is kept of
    /// it until then is little.
    mutating func streamed(_ x: UInt32, _ bytes: [UInt8], at place: Place, into out: inout [DecodedMessage]) -> Bool {
        guard let exchange = connections[place.connection]?.exchanges[x], let framing = exchange.framing,
            let name = known(exchange.names)
        else { return false }
        if exchange.body == nil {
            let reader = BodyReader(framing, limit: SessionReader.messageLimit)
            connections[place.connection]?.exchanges[x]?.body = reader
            if let before = connections[place.connection]?.exchanges[x]?.opening.responseBody, !before.isEmpty {
                connections[place.connection]?.exchanges[x]?.opening.responseBody = []
                feed(before, name, x, at: place, into: &out)
            }
        }
        connections[place.connection]?.exchanges[x]?.latest = place
        if place.isUnframed {
            piece(name, x, name.codec.type.framed(bytes), at: place, into: &out)
        } else {
            feed(bytes, name, x, at: place, into: &out)
        }
        return true
    }

    private mutating func feed(
        _ bytes: [UInt8], _ name: Name, _ x: UInt32, at place: Place, into out: inout [DecodedMessage]
    ) {
        var at = 0
        let codec = name.codec.type
        while let found = connections[place.connection]?.exchanges[x]?.body?.feed(bytes, from: at, of: codec) {
            switch found {
            case .more: return
            case .payload(let payload, let next):
                at = next
                piece(name, x, payload, at: place, into: &out)
            case .tooLong(let next):
                at = next
                piece(name, x, nil, at: place, into: &out)
            case .skipped(let next): at = next
            }
        }
    }

    /// - Parameter payload: nil when it was too long.
    private mutating func piece(
        _ name: Name, _ x: UInt32, _ payload: [UInt8]?, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let exchange = connections[place.connection]?.exchanges[x],
            let index = session(of: name, exchange.opening, first: [], at: place)
        else { return }
        if name.kind == .operation, building[index].session.multipart == nil { noteMultipart(exchange, index) }
        carried(index, by: exchange.opening, exchange.event)
        deliver(payload ?? [], .toClient, isCut: payload == nil, opcode: .text, to: index, at: place, into: &out)
    }

    private mutating func streamEnded(
        _ exchange: Exchange, _ name: Name, _ ending: RecordedSession.Ending, at place: Place
    ) {
        guard let index = session(of: name, exchange.opening, first: [], at: place),
            building[index].carrier.latest == exchange.event
        else { return }
        ended(index, ending, at: place)
    }

    // MARK: Ends

    /// The connection of a request ended, by the server or for want of one, before the answer was whole.
    mutating func lost(
        _ exchange: Exchange, _ ending: RecordedSession.Ending, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let name = known(exchange.names) else { return }
        if name.kind == .operation {
            operationLost(exchange, name, ending, at: place, into: &out)
        } else if exchange.framing != nil {
            streamEnded(exchange, name, ending, at: place)
        } else if name.kind == .poll, let index = session(named: name.key), prospects[name.key] == nil {
            failed(exchange, index, ending, at: place)
        }
    }

    /// The client has left its request.
    mutating func left(_ exchange: Exchange, at place: Place, into out: inout [DecodedMessage]) {
        if let name = known(exchange.names), name.kind == .operation {
            return operationLeft(exchange, name, at: place, into: &out)
        }
        guard exchange.framing != nil, let name = known(exchange.names), let index = session(named: name.key),
            building[index].carrier.latest == exchange.event
        else { return }
        building[index].clientEnded = true
    }

    /// An ending of the server; the first one counts.
    package mutating func ended(_ index: Int, _ ending: RecordedSession.Ending, at place: Place) {
        guard !building[index].serverEnded, !building[index].clientEnded else { return }
        building[index].serverEnded = true
        guard building[index].doubtfulEnding == nil else { return }
        append(.ending(ending), index, at: place)
    }

    /// A poll failed: an ending, and the last one unless a later poll succeeds.
    private mutating func failed(
        _ exchange: Exchange, _ index: Int, _ ending: RecordedSession.Ending, at place: Place
    ) {
        guard building[index].session.transport == .lp, building[index].carrier.latest == exchange.event else { return }
        guard building[index].doubtfulEnding == nil, !building[index].serverEnded, !building[index].clientEnded else {
            return
        }
        building[index].doubtfulEnding = building[index].session.entries.count
        append(.ending(ending), index, at: place)
    }

    /// The session goes on behind a poll that failed: the client lost that one and made another.
    private mutating func proveAlive(_ index: Int) {
        guard !building[index].serverEnded else { return }
        building[index].doubtfulEnding = nil
    }

    // MARK: Messages

    package func framed(_ payload: [UInt8], _ codec: CodecEntry, at place: Place) -> [UInt8] {
        place.isUnframed && !payload.isEmpty ? codec.type.framed(payload) : payload
    }

    /// Decodes a payload of a session over HTTP.
    package mutating func deliver(
        _ payload: [UInt8], _ direction: Direction, isCut: Bool, opcode: Opcode? = nil, to index: Int, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        carry(index, on: place.connection)
        building[index].frames += 1
        let opcode = opcode ?? (isValidUTF8(payload.span) ? .text : .binary)
        var messages: [Message] = []
        if isCut {
            messages = [
                .opaque(
                    payload, direction, opcode: opcode,
                    reason: "longer than \(SessionReader.messageLimit >> 20) MiB")
            ]
        } else {
            building[index].codec.decode(payload.span, opcode, direction, into: &messages)
        }
        emit(messages, payload, index, conversationPart(direction, of: index), at: place, into: &out)
    }

    /// Whether a message that arrives now is part of the session. A client may send after either side has ended the stream, because it sends
    /// over other connections. Where requests name their sessions, the client may open another stream.
    private func conversationPart(_ direction: Direction, of index: Int) -> Part {
        guard building[index].serverEnded || building[index].clientEnded else { return .inside }
        if direction == .toClient { return .outside }
        guard building[index].session.codec.type.hasTrackingIDs else { return .crossing }
        return building[index].serverEnded ? .outside : .inside
    }

    /// The session that an exchange belongs to; begun with the first that is seen of it. Nil when the name is that of a
    /// WebSocket.
    private mutating func session(
        of name: Name, _ opening: StreamOpening, first payload: [UInt8], at place: Place
    ) -> Int? {
        if prospects[name.key] == nil, let index = session(named: name.key) {
            if name.codec.type.hasTrackingIDs { return index }
            guard building[index].session.transport != .ws else { return nil }
            if payload.isEmpty || !beginsAnew(building[index], payload, .toServer) { return index }
        }
        let prospect = prospects[name.key] ?? Prospect()
        let carrier = prospect.carrier
        let index = begin(
            name.codec, carrier.transport ?? name.codec.type.transport(opening.request), carrier.opening ?? opening,
            opened: carrier.opened, key: name.key, at: place)
        building[index].carrier = carrier
        if !name.codec.type.hasHandshake(on: building[index].session.transport) { addPreamble(index, at: place) }
        return index
    }
}
