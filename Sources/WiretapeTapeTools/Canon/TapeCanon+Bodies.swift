internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension TapeCanon {
    // MARK: Bodies

    mutating func chunk(_ x: UInt32, _ direction: Direction, _ bytes: [UInt8], _ event: TapeEvent) {
        let c = event.connection
        guard connections[c]?.exchanges[x] != nil else { return }
        if direction == .toServer {
            connections[c]?.exchanges[x]?.requestBody.append(contentsOf: bytes)
            return
        }
        if case .stream(let key)? = connections[c]?.exchanges[x]?.role, connections[c]?.exchanges[x]?.carrier != nil {
            return events(x, key, event)
        }
        let bytes = plain(bytes, of: x, event)
        connections[c]?.exchanges[x]?.responseBody.append(contentsOf: bytes)
        let length = connections[c]?.exchanges[x]?.responseBody.count ?? 0
        let limit = connections[c]?.exchanges[x]?.left == nil ? TapeCanon.inlineLimit : TapeCanon.codedLimit
        guard length > limit || connections[c]?.exchanges[x]?.carrier != nil else { return }
        if case .ordinary? = connections[c]?.exchanges[x]?.role {
            beginStream(x, event)
            flushPieces(x, event, all: false)
        }
    }

    /// The messages of an event stream, a piece for each.
    private mutating func events(_ x: UInt32, _ key: Key, _ event: TapeEvent) {
        guard let exchange = connections[event.connection]?.exchanges[x], let carrier = exchange.carrier else { return }
        var farewell = keys[key]?.clientFarewell ?? false
        let said = conversation(clientFarewell: &farewell)
        keys[key]?.clientFarewell = farewell
        let type = codecs.first { $0.id == key.codec }?.type
        let transport = type?.transport(exchange.head) ?? .sse
        put(
            said.map { one, payload, _ in
                var bytes: [UInt8] = []
                if payload.json == nil { type?.frame(payload.bytes.span, on: transport, into: &bytes) }
                return CanonItem(
                    time: event.time,
                    what: .event(
                        .chunk(x: 0, .toClient, bytes), on: carrier, exchange: exchange.number, json: payload.json))
            })
    }

    /// Pieces of a body of no session: an event of an event stream or a part of a multipart body each, else 64 KiB. Signs
    /// of life of an operation are left out.
    mutating func flushPieces(_ x: UInt32, _ event: TapeEvent, all: Bool) {
        let c = event.connection
        guard let exchange = connections[c]?.exchanges[x], let carrier = exchange.carrier else { return }
        let shape = PieceShape(exchange.response, isInPieces: exchange.isInPieces)
        var body = exchange.responseBody[...]
        var items: [CanonItem] = []
        while !body.isEmpty {
            var end = shape.end(body)
            if end == nil, body.count >= TapeCanon.inlineLimit { end = body.startIndex + TapeCanon.inlineLimit }
            guard let cut = end ?? (all ? body.endIndex : nil) else { break }
            // The first delimiter of a multipart body is needed whatever stands before it.
            let isFirst = connections[c]?.exchanges[x]?.hasPieces == false
            connections[c]?.exchanges[x]?.hasPieces = true
            if !isFirst, end != nil, let codec = exchange.codec, shape.isSignOfLife(body[..<cut], codec) {
                body = body[cut...]
                continue
            }
            items.append(
                CanonItem(
                    time: event.time,
                    what: .event(
                        .chunk(x: 0, .toClient, Array(body[..<cut])), on: carrier, exchange: exchange.number, json: nil)
                ))
            body = body[cut...]
        }
        connections[c]?.exchanges[x]?.responseBody = Array(body)
        put(items)
    }

    mutating func end(_ x: UInt32, _ direction: Direction, _ event: TapeEvent) {
        if direction == .toServer { requestEnded(x, event) } else { answered(x, event) }
    }
}
