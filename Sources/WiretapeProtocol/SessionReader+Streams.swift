internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeWire

extension SessionReader {
    /// A whole WebSocket message.
    package mutating func data(
        _ direction: Direction, _ opcode: Opcode, _ payload: [UInt8], at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard let index = session(for: place, first: payload, direction) else { return }
        if direction == .toServer { judge(opcode, payload, at: place) }
        let payload = place.isUnframed ? building[index].session.codec.type.framed(payload) : payload
        if direction == .toClient, place.isDeflated { building[index].session.habits.deflate.compressed(payload.count) }
        building[index].frames += 1
        var messages: [Message] = []
        building[index].codec.decode(payload.span, opcode, direction, into: &messages)
        learnID(index)
        emit(messages, payload, index, part(direction, at: place), at: place, into: &out)
    }

    /// A whole message of the client: whether it keeps to the rules of RFC 6455, which forbid texts that are not UTF-8, and
    /// a message within the pieces of another one.
    private mutating func judge(_ opcode: Opcode, _ payload: [UInt8], at place: Place) {
        let isWithinAnother = connections[place.connection]?.stream?.toServer.isUnderWay ?? false
        guard isWithinAnother || opcode == .text && !isValidUTF8(payload.span) else { return }
        connections[place.connection]?.stream?.isBroken = true
    }

    /// Events are missing: what has come of messages by now may have had its end among them.
    mutating func forgetPieces() {
        for connection in connections.keys {
            connections[connection]?.stream?.toServer = Assembly()
            connections[connection]?.stream?.toClient = Assembly()
        }
    }

    /// The same, of one direction of a connection.
    mutating func forgetPieces(of connection: UInt32, _ direction: Direction) {
        switch direction {
        case .toServer: connections[connection]?.stream?.toServer = Assembly()
        case .toClient: connections[connection]?.stream?.toClient = Assembly()
        }
    }

    package mutating func part(
        _ direction: Direction, _ opcode: Opcode, _ n: Int, _ bytes: [UInt8], last: Bool, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        guard var stream = stream(at: place) else { return }
        // Taken out of the dictionary, so that the bytes grow in place.
        connections[place.connection]?.stream = nil
        var assembly = direction == .toServer ? stream.toServer : stream.toClient
        if n == 0, direction == .toServer, assembly.isUnderWay { stream.isBroken = true }
        if direction == .toServer { stream.toServer = Assembly() } else { stream.toClient = Assembly() }
        let isNext = assembly.add(n, bytes)
        let isWhole = isNext && last
        if !isWhole {
            if direction == .toServer { stream.toServer = assembly } else { stream.toClient = assembly }
        }
        connections[place.connection]?.stream = stream
        guard isWhole else { return }
        guard assembly.isTooLong else {
            var place = place
            place.isDeflated = isDeflated(assembly.bytes.count, direction, at: place)
            return data(direction, opcode, assembly.bytes, at: place, into: &out)
        }
        guard let index = session(for: place, first: assembly.bytes, direction) else { return }
        building[index].frames += 1
        let reason = "longer than \(SessionReader.messageLimit >> 20) MiB"
        let message = Message.opaque(assembly.bytes, direction, opcode: opcode, reason: reason)
        emit([message], assembly.bytes, index, part(direction, at: place), at: place, into: &out)
    }

    /// Pieces do not tell whether their message was compressed.
    private func isDeflated(_ count: Int, _ direction: Direction, at place: Place) -> Bool {
        guard direction == .toClient, let index = connections[place.connection]?.stream?.session, index >= forgotten
        else { return false }
        return building[index - forgotten].session.habits.deflate.compresses(count)
    }

    private func part(_ direction: Direction, at place: Place) -> Part {
        connections[place.connection]?.stream?.part(direction) ?? .inside
    }

    package mutating func close(_ direction: Direction, _ code: UInt16?, _ reason: String?, at place: Place) {
        if direction == .toClient {
            serverEnded(.close(code: code, reason: reason ?? ""), at: place)
        } else {
            beginWordless(at: place)
            connections[place.connection]?.stream?.clientEnded = true
            connections[place.connection]?.stream?.clientClosed = true
            connections[place.connection]?.stream?.closing = .init(code: code, reason: reason ?? "")
        }
    }

    package mutating func gone(
        _ party: TapeEvent.Party, _ how: TapeEvent.How, at place: Place, into out: inout [DecodedMessage]
    ) {
        exchangesEnded(party, how, at: place, into: &out)
        switch party {
        case .client:
            beginWordless(at: place)
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
            let left = track?.exchanges ?? [:]
            for x in left.keys.sorted() { if let one = left[x] { ordinary(one, failed: .unanswered, at: place) } }
            forget(connections.removeValue(forKey: place.connection))
        }
    }

    /// What the end of a connection does to its exchanges. After a FIN of the client the answers go on.
    private mutating func exchangesEnded(
        _ party: TapeEvent.Party, _ how: TapeEvent.How, at place: Place, into out: inout [DecodedMessage]
    ) {
        guard let waiting = connections[place.connection]?.exchanges, !waiting.isEmpty else { return }
        for x in waiting.keys.sorted() {
            switch party {
            case .client:
                if let exchange = waiting[x] { left(exchange, at: place, into: &out) }
            case .server where how == .fin && waiting[x]?.endsWithConnection == true:
                complete(x, at: place, into: &out)
            case .server:
                guard let exchange = take(x, at: place) else { continue }
                // A client that has gone leaves its polls.
                guard connections[place.connection]?.clientGone == false else {
                    ordinary(exchange, failed: .unanswered, at: place)
                    continue
                }
                lost(exchange, how == .fin ? .disconnect : .reset, at: place, into: &out)
                let isReset = how != .fin
                let isBegun = exchange.opening.response != nil
                ordinary(exchange, failed: isBegun ? .cut(isReset: isReset) : .hungUp(isReset: isReset), at: place)
            case .proxy:
                if let exchange = take(x, at: place) { ordinary(exchange, failed: .unanswered, at: place) }
            }
        }
    }

    /// The client ends a WebSocket of no known protocol on which nothing was said, though it may have pinged: a session, too.
    private mutating func beginWordless(at place: Place) {
        guard let stream = connections[place.connection]?.stream, stream.session == nil, header?.protocolID == nil,
            !codecs.contains(where: {
                $0.type.sessionKey(stream.opening) != nil || $0.type.claim(stream.opening) > .possible
            })
        else { return }
        _ = session(for: place, first: [], .toServer)
    }

    /// An ending is part of the script when it is the first and the server's own.
    private mutating func serverEnded(_ ending: RecordedSession.Ending, at place: Place) {
        guard let stream = connections[place.connection]?.stream, !stream.serverEnded else { return }
        connections[place.connection]?.stream?.serverEnded = true
        guard !stream.clientEnded else { return answered(ending, to: stream.closing, at: place) }
        guard let index = session(for: place, first: [], .toClient) else { return }
        // The server ends a connection that another one has replaced.
        if let event = stream.event, building[index].carrier.latest != event { return }
        building[index].conduct.went(on: place.connection, at: place.time)
        // The server's answer to what broke the rules: replay gives its own when a client does so.
        if stream.isBroken { return }
        connections[place.connection]?.stream?.hasScriptedEnd = true
        append(.ending(ending), index, at: place)
    }

    /// A ping or pong of the WebSocket.
    package mutating func control(_ direction: Direction, at place: Place) {
        guard let index = connections[place.connection]?.stream?.session, index >= forgotten else { return }
        if direction == .toServer {
            building[index - forgotten].conduct.sign(on: place.connection, at: place.time)
        } else {
            building[index - forgotten].conduct.went(on: place.connection, at: place.time)
        }
    }

    /// The server's answer to the client's close frame. An end of the transport alone is none when the client's came first.
    private mutating func answered(
        _ ending: RecordedSession.Ending, to closing: ClosingHandshake.Frame?, at place: Place
    ) {
        guard let closing, let index = connections[place.connection]?.stream?.session, index >= forgotten else {
            return
        }
        if case .close = ending {} else if connections[place.connection]?.clientGone != false { return }
        building[index - forgotten].session.habits.closings.add(ClosingHandshake(asked: closing, answer: ending))
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
        if let index = connections[place.connection]?.stream?.session, index >= forgotten { return index - forgotten }
        guard var stream = stream(at: place) else { return nil }
        let index = find(&stream, payload, direction, at: place)
        if stream.event == nil, building[index].session.codec.type.hasTrackingIDs {
            stream.event = place.event
            building[index].carrier.latest = place.event
            building[index].carriedBy = place.event
            building[index].transport = .ws
        }
        stream.session = forgotten + index
        connections[place.connection]?.stream = stream
        carry(index, on: place.connection)
        return index
    }

    private mutating func find(
        _ stream: inout Stream, _ payload: [UInt8], _ direction: Direction, at place: Place
    ) -> Int {
        if let named = codecs.first(where: { $0.id == header?.protocolID }) {
            if named.type.isToldByAnswer {
                return beginSparse(named, direction == .toServer ? payload : nil, at: place)
            }
            // The 'after' of the first line counts from the opening of the connection.
            let opened = stream.opened ?? place.previousTime
            let index = begin(named, .ws, stream.opening, opened: opened, key: nil, at: place)
            if !payload.isEmpty { supplyPreamble(index, payload, direction, at: place) }
            return index
        }
        for entry in codecs {
            look(at: &stream, payload, direction, as: entry, place)
            guard let name = entry.type.sessionKey(stream.opening) else { continue }
            let key = Key(codec: entry.id, key: name)
            if prospects[key] == nil, let index = session(named: key) {
                let first = place.isUnframed ? entry.type.framed(payload) : payload
                if building[index].session.transport == .ws || entry.type.hasTrackingIDs,
                    !beginsAnew(building[index], first, direction)
                {
                    goOn(index, by: place.event)
                    carried(index, by: stream.opening, place.event)
                    stream.event = place.event
                    return index
                }
            } else if prospects[key] == nil, entry.type.claim(stream.opening) != .certain {
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
        if messages.first?.role != .handshake { addPreamble(index, at: place) }
    }

    /// The protocol's opening, which the tape does not have.
    mutating func addPreamble(_ index: Int, at place: Place) {
        let type = building[index].session.codec.type
        var messages: [Message] = []
        var before = place
        (before.event, before.line, before.time) = (0, 1, place.previousTime)
        (before.isDeflated, before.frameSizes) = (false, [])
        for part in type.preamble {
            building[index].frames += 1
            messages.removeAll()
            building[index].codec.decode(part.payload.span, part.opcode, part.direction, into: &messages)
            if part.direction == .toServer { building[index].hasHandshake = true }
            for message in messages { append(.message(message), index, at: before) }
        }
    }
}
