internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension TapeCanon {
    /// The messages of the event that are part of the conversation: no keepalives, no acknowledgements, nothing that is
    /// sent again after a stateful reconnect. A server's farewell that only answers the client's is left out: it comes or
    /// does not come.
    mutating func conversation(clientFarewell: inout Bool) -> [(
        message: DecodedMessage, payload: CanonPayload, opcode: Opcode
    )] {
        var said: [(message: DecodedMessage, payload: CanonPayload, opcode: Opcode)] = []
        for one in decoded {
            let role = one.message.role
            let isFirst = note(one)
            // What a session with an id begins with stays, though it carries nothing: padding.
            guard role != .ack, role != .keepalive || isFirst else { continue }
            if role == .close {
                if one.message.direction == .toServer {
                    clientFarewell = true
                } else if clientFarewell {
                    continue
                }
            }
            let type = codecs.first { $0.id == one.codec }?.type
            let names = names
            let (bytes, opcode) = written(renamed(one, type))
            said.append((one, CanonPayload(bytes, type) { names.known($0) }, opcode))
        }
        return said
    }

    /// With the names of the texts in it that have one, where the message is no text itself.
    private func renamed(_ one: DecodedMessage, _ type: (any FrameCodec.Type)?) -> DecodedMessage {
        guard one.message.opcode == .binary, one.message.role != .handshake, let type else { return one }
        let content = one.message.content.mappingTexts { names.known($0) }
        guard content.text != one.message.content.text, let bytes = type.encode(content, like: one.message) else {
            return one
        }
        var one = one
        one.message.bytes = bytes
        return one
    }

    /// Keeps up with the session's state, and names the chains that it opens.
    /// - Returns: whether the server says this first in a session that requests name.
    private mutating func note(_ one: DecodedMessage) -> Bool {
        guard let type = codecs.first(where: { $0.id == one.codec })?.type else { return false }
        var voice =
            sessions.removeValue(forKey: one.session)
            ?? Voice(codec: type.init(StreamOpening(request: RequestHead(method: "GET", target: "/"))))
        defer { sessions[one.session] = voice }
        let isFirst = !type.scriptsHandshake && !voice.hasSpoken && one.message.direction == .toClient
        if isFirst, one.message.role != .keepalive { voice.hasSpoken = true }
        if one.message.role == .handshake {
            if !type.scriptsHandshake, let id = one.message.chain { voice.ids.bind(id, to: names.name(id.id)) }
            var ignored: [Message] = []
            voice.codec.decode(one.message.bytes.span, one.message.opcode, one.message.direction, into: &ignored)
            return isFirst
        }
        for chain in [one.message.chain].compactMap(\.self) + one.message.opens where voice.seen.insert(chain).inserted
        {
            guard !type.chainsAreNames, TapeCanon.isDrawn(chain) else { continue }
            voice.ids.bind(chain, to: names.name(chain.id))
        }
        return isFirst
    }

    /// Whether a chain's id is another one in every recording: a client's counter is not, a UUID is, and a server counts
    /// for all its clients.
    private static func isDrawn(_ chain: Chain) -> Bool {
        chain.origin == .toClient || !chain.id.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private func written(_ one: DecodedMessage) -> (bytes: [UInt8], opcode: Opcode) {
        // Only where requests name the session does its handshake tell an id.
        guard let voice = sessions[one.session], one.message.role != .opaque,
            one.message.role != .handshake || !type(of: voice.codec).scriptsHandshake,
            [one.message.chain].compactMap(\.self).contains(where: TapeCanon.isDrawn)
                || one.message.opens.contains(where: TapeCanon.isDrawn)
        else { return (one.message.bytes, one.message.opcode) }
        var bytes: [UInt8] = []
        _ = voice.codec.write(one.message, ids: voice.ids, on: one.transport, into: &bytes)
        return (bytes, one.message.opcode)
    }

    // MARK: WebSockets

    mutating func socketMessages(_ event: TapeEvent) {
        let c = event.connection
        var socket = socket(c)
        var farewell = socket.clientFarewell
        let said = conversation(clientFarewell: &farewell)
        socket.clientFarewell = farewell
        connections[c]?.socket = socket
        let open = said.filter { socket.isOpen($0.message.message.direction) }
        guard !open.isEmpty else { return }
        put(
            open.map { one, payload, opcode in
                let kind = TapeEvent.Kind.message(
                    one.message.direction, opcode, payload.json == nil ? payload.bytes : [], deflated: false,
                    fragments: [])
                return CanonItem(
                    time: event.time, what: .event(kind, on: socket.carrier, exchange: nil, json: payload.json))
            })
    }

    /// The connection's; one without an opening on the tape (a sparse one) gets none here either.
    mutating func socket(_ c: UInt32) -> Socket {
        if let socket = connections[c]?.socket { return socket }
        let socket = Socket(carrier: own(c, 0))
        writer.describe(socket.carrier, connections[c]?.open ?? .init())
        connections[c, default: Track()].socket = socket
        return socket
    }

    /// The first side that closes counts; what the other one makes of it is chance.
    mutating func close(_ direction: Direction, _ code: UInt16?, _ reason: String?, _ event: TapeEvent) {
        guard var socket = connections[event.connection]?.socket, !socket.hasEnded, socket.closed == nil else { return }
        if socket.clientFarewell { return ended(event) }
        socket.closed = direction
        connections[event.connection]?.socket = socket
        let kind = TapeEvent.Kind.close(direction, code: code, reason: reason)
        put([CanonItem(time: event.time, what: .event(kind, on: socket.carrier, exchange: nil, json: nil))])
    }

    mutating func gone(_ party: TapeEvent.Party, _ how: TapeEvent.How, _ event: TapeEvent) {
        guard var socket = connections[event.connection]?.socket else {
            return cut(event.connection, (party, how, event.time))
        }
        guard !socket.hasEnded else { return }
        if socket.clientFarewell { return ended(event) }
        socket.hasEnded = true
        connections[event.connection]?.socket = socket
        guard socket.closed == nil else { return }
        let kind = TapeEvent.Kind.gone(by: party, how: how, why: nil)
        put([CanonItem(time: event.time, what: .event(kind, on: socket.carrier, exchange: nil, json: nil))])
    }

    /// Behind a client's farewell either side may be the first to close or to leave: it is the client's end.
    private mutating func ended(_ event: TapeEvent) {
        guard let carrier = connections[event.connection]?.socket?.carrier else { return }
        connections[event.connection]?.socket?.hasEnded = true
        let kind = TapeEvent.Kind.gone(by: .client, how: .fin, why: nil)
        put([CanonItem(time: event.time, what: .event(kind, on: carrier, exchange: nil, json: nil))])
    }
}
