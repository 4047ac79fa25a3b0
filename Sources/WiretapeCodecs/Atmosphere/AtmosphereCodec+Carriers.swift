internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

/// The HTTP side, as servers from 2.0.5 to 2.7.16 were seen to answer.
extension AtmosphereCodec {
    /// A poll waits until there is something; a heartbeat ends it. Ids are forgotten when they were not used for 60 s.
    package static var polling: Polling? {
        Polling(
            opensAtOnce: false, timeout: .max, hasKeepalives: true, answersFirst: true, beginsAtOnce: true,
            patience: 60_000_000_000)
    }

    /// Without lengths two messages in one body could not be told apart.
    package var joinsPayloads: Bool { hasLengths }

    package static var sharesFrames: Bool { false }

    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { nil }

    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? { nil }

    package func greeting(_ request: RequestHead, id: String) -> [(payload: [UInt8], opcode: Opcode)] {
        let asked = AtmosphereRequest(request)
        if asked.wantsHandshake {
            return [(lengthened((handshake ?? AtmosphereHandshake()).bytes(id: id)), .text)]
        }
        guard carrier == .socket, asked.id != nil, !isOld else { return [] }
        if let socketPadding { return [(socketPadding, .text)] }
        // A server that begins polls and streams with blanks also sends them to a client that reconnects over a WebSocket.
        guard let padding, !padding.isEmpty else { return [] }
        return [(AtmosphereCodec.blanks(2048) + AtmosphereCodec.blanks(2048), .text)]
    }

    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        switch what {
        case .notOffered:
            HTTPAnswer(
                status: 501, headers: [HeaderField("X-Atmosphere-error", "Transport not supported.")] + uncached)
        case .notAllowed: HTTPAnswer(status: 405, headers: uncached)
        case .pollOpened, .pollBegun, .poll, .pollEmpty, .pollEnd, .pollSuperseded, .stream, .operation, .sent,
            .ended, .missingID, .unknownID, .wrongTransport, .conflict:
            HTTPAnswer(status: 200, headers: ids(request, nil) + uncached)
        }
    }

    package func answer(_ what: CarrierAnswer, to request: RequestHead, in place: CarrierPlace) -> HTTPAnswer {
        var headers = AtmosphereCodec.ids(request, place.id, isOld: isOld) + AtmosphereCodec.uncached
        var body: [UInt8] = []
        switch what {
        case .pollBegun, .poll:
            let isHandshake = AtmosphereRequest(request).wantsHandshake
            if case .poll(let messages, _) = what {
                body = carrier == .script ? AtmosphereScript.wrap(messages, callback(request)) : messages
                if let cacheDate, !isHandshake {
                    headers.append(HeaderField("X-Cache-Date", "\(cacheDate &+ UInt64(place.sent))"))
                }
            } else if carrier != .script {
                body = start
            }
            if let type = pollType(isHandshake) { headers.append(HeaderField("Content-Type", type)) }
        case .stream:
            let type = carrier == .events ? "text/event-stream;charset=utf-8" : Self.plain
            headers.append(HeaderField("Content-Type", contentTypes[carrier] ?? type))
            body = carrier == .events ? AtmosphereCodec.blanks(2000) : start
        case .pollOpened, .pollEmpty, .pollEnd, .pollSuperseded, .operation, .sent, .ended, .missingID, .unknownID,
            .wrongTransport, .conflict, .notOffered, .notAllowed:
            return AtmosphereCodec.answer(what, to: request)
        }
        return HTTPAnswer(status: 200, headers: headers, body: body)
    }

    /// How many of the last messages the client asks for again (2.0 and 2.1): those behind the time that it names.
    package func missed(_ request: RequestHead, in place: CarrierPlace) -> Int {
        guard let cacheDate, let has = AtmosphereRequest(request).cacheDate, has >= cacheDate else { return 0 }
        let seen = has - cacheDate
        return seen < UInt64(place.sent) ? place.sent - Int(seen) : 0
    }

    private func pollType(_ isHandshake: Bool) -> String? {
        switch (carrier, isHandshake) {
        case (.script, true): Self.plain + ";charset=utf-8"
        case (.script, false): "application/javascript; charset=utf-8"
        case (_, true): Self.plain
        case (_, false): contentTypes[carrier]
        }
    }

    private func callback(_ request: RequestHead) -> String { AtmosphereRequest(request).callback }

    /// What polls and streams begin with: as recorded, else as the generation has it.
    private var start: [UInt8] { padding ?? AtmosphereCodec.blanks(isOld ? 8192 : 2048) }

    /// So many blanks and a line feed.
    static func blanks(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x20, count: count) + [0x0a] }

    private static let plain = "text/plain"
    private static let uncached = [
        HeaderField("Expires", "-1"), HeaderField("Cache-Control", "no-store, no-cache, must-revalidate"),
        HeaderField("Pragma", "no-cache"),
    ]

    /// Every answer names the id: the request's own, or the one that is made for it.
    private static func ids(_ request: RequestHead, _ id: String?, isOld: Bool = false) -> [HeaderField] {
        let own = AtmosphereRequest(request).id
        var fields: [HeaderField] = []
        if own == nil, !isOld { fields.append(HeaderField("X-Atmosphere-first-request", "true")) }
        if let id = own ?? id { fields.append(HeaderField("X-Atmosphere-tracking-id", id)) }
        return fields
    }
}
