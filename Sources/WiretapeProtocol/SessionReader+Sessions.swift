internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

extension SessionReader {
    /// Where the session of that name stands in `building`.
    package func session(named key: Key) -> Int? {
        byKey[key].flatMap { $0 >= forgotten ? $0 - forgotten : nil }
    }

    /// Begins a session that follows the negotiation of `key`, if there was one.
    /// - Returns: its place in `building`.
    package mutating func begin(
        _ entry: CodecEntry, _ transport: Transport, _ opening: StreamOpening, opened: UInt64? = nil, key: Key?,
        at place: Place
    ) -> Int {
        var prospect = key.flatMap { prospects[$0] } ?? Prospect()
        if let key { prospects[key] = nil }
        if prospect.negotiation == nil {
            prospect.asked = redirects(to: opening.request, entry, at: place)
            prospect.redirects = prospect.asked.map(\.opening)
        }
        let index = begin(entry, transport, opening, prospect, opened: opened, at: place)
        if let key { byKey[key] = forgotten + index }
        return index
    }

    mutating func begin(
        _ entry: CodecEntry, _ transport: Transport, _ opening: StreamOpening, _ prospect: Prospect,
        opened: UInt64? = nil, at place: Place
    ) -> Int {
        forgetOld()
        let codec = entry.type.init(opening)
        let asked = prospect.redirects.first ?? opening
        var session = RecordedSession(
            number: forgotten + building.count + 1, codec: entry, writer: codec, transport: transport,
            route: entry.type.route(asked.request), opening: opening, negotiate: prospect.negotiation,
            serverIDs: prospect.ids ?? entry.type.serverIDs(opening), opened: opened ?? place.time)
        session.redirects = prospect.redirects
        session.openingPlace = RecordedSession.TapePlace(line: place.line, time: place.time)
        building.append(Building(session: session, codec: codec))
        for request in prospect.asked { belongs(request.event, building.count - 1, isOpening: true) }
        if prospect.carrier.opening != nil {
            belongs(prospect.carrier.openingEvent, building.count - 1, isOpening: true)
        }
        carry(building.count - 1, on: place.connection)
        return building.count - 1
    }

    /// Without entries the oldest sessions are forgotten: what still comes of them begins new ones.
    private mutating func forgetOld() {
        guard !keepsEntries, building.count >= SessionReader.sessionLimit else { return }
        let count = SessionReader.sessionLimit / 2
        building.removeFirst(count)
        forgotten += count
        byKey = byKey.filter { $0.value >= forgotten }
    }

    /// The connection carries the session, too.
    package mutating func carry(_ index: Int, on connection: UInt32) {
        guard building[index].session.connections.last != connection,
            keepsEntries || building[index].session.connections.isEmpty,
            building[index].seen.insert(connection).inserted
        else { return }
        building[index].session.connections.append(connection)
        if building[index].session.name == nil { building[index].session.name = connections[connection]?.name }
    }

    /// Whether the first payload is a handshake although the session has had its own.
    func beginsAnew(_ one: Building, _ payload: [UInt8], _ direction: Direction) -> Bool {
        guard one.hasHandshake, direction == .toServer else { return false }
        var probe = one.codec
        var messages: [Message] = []
        probe.decode(payload.span, .text, direction, into: &messages)
        return messages.first?.role == .handshake
    }

    /// Whether a message is part of its session's conversation.
    package enum Part: Sendable {
        case inside
        /// The client sent it after the end of the connection. Another run of the client may leave it out.
        case crossing
        /// It came too late.
        case outside
    }

    /// Messages of one payload.
    package mutating func emit(
        _ messages: [Message], _ payload: [UInt8], _ index: Int, _ part: Part, at place: Place,
        into out: inout [DecodedMessage]
    ) {
        // Single fields: a copy of the session would make the next append copy all entries.
        let number = building[index].session.number
        let codec = building[index].session.codec.id
        let transport = building[index].transport ?? building[index].session.transport
        let hasHandshakes = building[index].session.codec.type.scriptsHandshake
        let frame = building[index].frames
        let carrier = transport == .ws ? place.connection : 0
        let opened =
            transport == .ws ? connections[place.connection]?.stream?.opened : building[index].session.opened
        for message in messages {
            out.append(
                DecodedMessage(
                    event: place.event, time: place.time, connection: place.connection, session: number,
                    transport: transport, codec: codec, frame: frame, message: message, payload: payload))
            building[index].conduct.note(message, on: carrier, opened: opened, at: place.time)
            if message.role == .handshake, message.direction == .toServer { building[index].hasHandshake = true }
            let isScript =
                message.role != .keepalive && message.role != .ack && (message.role != .handshake || hasHandshakes)
            if isScript { append(.message(message), index, part, at: place) }
        }
    }

    package mutating func append(
        _ what: RecordedSession.What, _ index: Int, _ part: Part = .inside, at place: Place
    ) {
        guard keepsEntries, part != .outside else { return }
        building[index].session.entries.append(
            RecordedSession.Entry(
                event: place.event, line: place.line, time: place.time, connection: place.connection,
                frame: building[index].frames, isDeflated: place.isDeflated, frameSizes: place.frameSizes,
                isCrossing: part == .crossing, what))
    }

    /// Whether a session has begun.
    package var hasSessions: Bool { !building.isEmpty }

    /// Takes the entries that sessions over WebSockets have gathered since the last time: nothing looks back at them.
    /// - Parameter take: gets the session's index among those of ``finish()``, the session as far as it is known, and its
    ///   new entries.
    package mutating func takeEntries(_ take: (Int, RecordedSession, [RecordedSession.Entry]) -> Void) {
        for i in building.indices where building[i].session.transport == .ws && !building[i].session.entries.isEmpty {
            // Of one that goes on over other transports not every event is a WebSocket's message.
            if building[i].session.codec.type.hasTrackingIDs { continue }
            let entries = building[i].session.entries
            building[i].session.entries = []
            take(i, building[i].session, entries)
        }
    }

    /// Whether no connection of the session is open, and no later one can go on with what its codec knows: that is
    /// forgotten then.
    package mutating func isOver(_ i: Int) -> Bool {
        guard building[i].codec.memory == nil,
            building[i].session.connections.allSatisfy({ connections[$0] == nil })
        else { return false }
        building[i].codec = building[i].codec.withoutHistory()
        return true
    }
}
