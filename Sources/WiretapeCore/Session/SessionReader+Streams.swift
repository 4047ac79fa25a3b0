extension SessionReader {
    /// A whole WebSocket message.
    mutating func data(
        _ direction: Direction, _ opcode: Opcode, _ payload: [UInt8], at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard let index = session(for: place, first: payload, direction) else { return }
        let payload = place.isUnframed ? building[index].session.codec.type.framed(payload) : payload
        building[index].frames += 1
        var messages: [Message] = []
        building[index].codec.decode(payload.span, opcode, direction, into: &messages)
        emit(messages, payload, index, at: place, into: &out)
    }

    mutating func part(
        _ direction: Direction, _ opcode: Opcode, _ n: Int, _ bytes: [UInt8], last: Bool, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard var stream = stream(at: place) else { return }
        // Taken out of the dictionary, so that the bytes grow in place.
        connections[place.connection]?.stream = nil
        var assembly = direction == .toServer ? stream.toServer : stream.toClient
        if direction == .toServer { stream.toServer = Assembly() } else { stream.toClient = Assembly() }
        let isNext = assembly.add(n, bytes)
        let isWhole = isNext && last
        if !isWhole {
            if direction == .toServer { stream.toServer = assembly } else { stream.toClient = assembly }
        }
        connections[place.connection]?.stream = stream
        guard isWhole else { return }
        guard assembly.isTooLong else {
            return data(direction, opcode, assembly.bytes, at: place, into: &out)
        }
        guard let index = session(for: place, first: assembly.bytes, direction) else { return }
        building[index].frames += 1
        let reason = "longer than \(SessionReader.messageLimit >> 20) MiB"
        let message = Message.opaque(assembly.bytes, direction, opcode: opcode, reason: reason)
        emit([message], assembly.bytes, index, at: place, into: &out)
    }

    mutating func close(_ direction: Direction, _ code: UInt16?, _ reason: String?, at place: Place) {
        if direction == .toClient {
            serverEnded(.close(code: code, reason: reason ?? ""), at: place)
        } else {
            connections[place.connection]?.stream?.clientEnded = true
            connections[place.connection]?.stream?.clientClosed = true
        }
    }

    mutating func gone(_ party: TapeEvent.Party, _ how: TapeEvent.How, at place: Place) {
        if party == .server, how == .fin {
            // A body that only the end of the connection ends.
            let waiting = connections[place.connection]?.exchanges.filter { $0.value.response != nil } ?? [:]
            for x in waiting.keys.sorted() { end(x, .toClient, at: place) }
        }
        switch party {
        case .client:
            connections[place.connection]?.stream?.clientEnded = true
            connections[place.connection]?.clientGone = true
        case .server:
            serverEnded(how == .fin ? .disconnect : .reset, at: place)
            connections[place.connection]?.serverGone = true
        // The recording was stopped: what both sides say to that is no part of the session.
        case .proxy: connections[place.connection]?.stream?.serverEnded = true
        }
        // After one side's FIN the other may go on, and both after ours.
        let track = connections[place.connection]
        if how != .fin || track?.clientGone == true && track?.serverGone == true {
            connections[place.connection] = nil
        }
    }

    /// An ending is part of the script when it is the first and the server's own.
    private mutating func serverEnded(_ ending: RecordedSession.Ending, at place: Place) {
        guard let stream = connections[place.connection]?.stream, !stream.serverEnded else { return }
        connections[place.connection]?.stream?.serverEnded = true
        guard !stream.clientEnded, let index = session(for: place, first: [], .toClient) else { return }
        append(.ending(ending), index, at: place)
    }

    private mutating func emit(
        _ messages: [Message], _ payload: [UInt8], _ index: Int, at place: Place, into out: inout [DecodedMessage]
    ) {
        // Single fields: a copy of the session would make the next append copy all entries.
        let number = building[index].session.number
        let codec = building[index].session.codec.id
        let frame = building[index].frames
        let isOpen = connections[place.connection]?.stream?.isOpen(messages.first?.direction ?? .toServer) ?? true
        for message in messages {
            out.append(
                DecodedMessage(
                    event: place.event, time: place.time, connection: place.connection, session: number,
                    transport: .ws, codec: codec, frame: frame, message: message, payload: payload))
            if message.role == .handshake, message.direction == .toServer { building[index].hasHandshake = true }
            let isScript = message.role != .keepalive && message.role != .ack
            if isScript, isOpen { append(.message(message), index, at: place) }
        }
    }

    private mutating func append(_ what: RecordedSession.What, _ index: Int, at place: Place) {
        guard keepsEntries else { return }
        building[index].session.entries.append(
            RecordedSession.Entry(
                event: place.event, line: place.line, time: place.time, connection: place.connection,
                frame: building[index].frames, what))
    }

    /// The stream of a connection. On a tape that does not tell how it opened, one is made up; nil when it is over.
    private mutating func stream(at place: Place) -> Stream? {
        if connections[place.connection] == nil, place.connection <= latestOpened { return nil }
        if connections[place.connection]?.stream == nil {
            let target = header?.route ?? "/"
            let head = RequestHead(
                method: "GET", target: target,
                headers: [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
            connections[place.connection, default: Track()].stream = Stream(opening: StreamOpening(request: head))
        }
        return connections[place.connection]?.stream
    }

    /// The session of a connection; found or begun with the first that is seen of it.
    private mutating func session(for place: Place, first payload: [UInt8], _ direction: Direction) -> Int? {
        if let index = connections[place.connection]?.stream?.session { return index }
        guard var stream = stream(at: place) else { return nil }
        let index = find(&stream, payload, direction, at: place)
        stream.session = index
        connections[place.connection]?.stream = stream
        if building[index].session.connections.last != place.connection {
            building[index].session.connections.append(place.connection)
        }
        return index
    }

    private mutating func find(
        _ stream: inout Stream, _ payload: [UInt8], _ direction: Direction, at place: Place
    ) -> Int {
        if let named = codecs.first(where: { $0.id == header?.protocolID }) {
            let index = begin(named, .ws, stream.opening, opened: stream.opened, key: nil, at: place)
            if !payload.isEmpty { supplyPreamble(index, payload, direction, at: place) }
            return index
        }
        for entry in codecs {
            look(at: &stream, payload, direction, as: entry, place)
            guard let name = entry.type.sessionKey(stream.opening) else { continue }
            let key = Key(codec: entry.id, key: name)
            if let index = byKey[key] {
                let first = place.isUnframed ? entry.type.framed(payload) : payload
                if building[index].session.transport == .ws, !beginsAnew(building[index], first, direction) {
                    return index
                }
            } else if negotiations[key] == nil, entry.type.claim(stream.opening) != .certain {
                continue
            }
            return begin(entry, .ws, stream.opening, opened: stream.opened, key: key, at: place)
        }
        var best = codecs[0]
        var confidence = Confidence.no
        for entry in codecs {
            look(at: &stream, payload, direction, as: entry, place)
            let claim = entry.type.claim(stream.opening)
            if claim > confidence { (best, confidence) = (entry, claim) }
        }
        look(at: &stream, payload, direction, as: best, place)
        return begin(best, .ws, stream.opening, opened: stream.opened, key: nil, at: place)
    }

    /// Gives the opening its first payload, framed as the codec frames it.
    private func look(
        at stream: inout Stream, _ payload: [UInt8], _ direction: Direction, as entry: CodecEntry, _ place: Place
    ) {
        guard direction == .toServer, !payload.isEmpty else { return }
        let framed = place.isUnframed ? entry.type.framed(payload) : payload
        stream.opening.firstPayload = Array(framed.prefix(SessionReader.bodyLimit))
    }

    /// What a sparse tape leaves to the codec, unless its first message is the handshake.
    private mutating func supplyPreamble(_ index: Int, _ payload: [UInt8], _ direction: Direction, at place: Place) {
        let type = building[index].session.codec.type
        var probe = building[index].codec
        var messages: [Message] = []
        probe.decode((place.isUnframed ? type.framed(payload) : payload).span, .text, direction, into: &messages)
        guard messages.first?.role != .handshake else { return }
        var before = place
        before.event = 0
        before.line = 1
        for part in type.preamble {
            building[index].frames += 1
            messages.removeAll()
            building[index].codec.decode(part.payload.span, part.opcode, part.direction, into: &messages)
            if part.direction == .toServer { building[index].hasHandshake = true }
            for message in messages { append(.message(message), index, at: before) }
        }
    }

    /// Whether the first payload is a handshake although the session has had its own.
    private func beginsAnew(_ one: Building, _ payload: [UInt8], _ direction: Direction) -> Bool {
        guard one.hasHandshake, direction == .toServer else { return false }
        var probe = one.codec
        var messages: [Message] = []
        probe.decode(payload.span, .text, direction, into: &messages)
        return messages.first?.role == .handshake
    }

    @discardableResult
    mutating func begin(
        _ entry: CodecEntry, _ transport: Transport, _ opening: StreamOpening, opened: UInt64? = nil, key: Key?,
        at place: Place
    ) -> Int {
        let negotiation = key.flatMap { negotiations.removeValue(forKey: $0) }
        let codec = entry.type.init(opening)
        building.append(
            Building(
                session: RecordedSession(
                    number: building.count + 1, codec: entry, writer: codec, transport: transport,
                    route: entry.type.route(opening.request), opening: opening, negotiate: negotiation?.opening,
                    serverIDs: negotiation?.ids ?? entry.type.serverIDs(opening), connections: [place.connection],
                    name: connections[place.connection]?.name, opened: opened ?? place.time),
                codec: codec))
        if let key { byKey[key] = building.count - 1 }
        return building.count - 1
    }
}
