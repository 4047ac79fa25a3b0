internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension AtmosphereCodec {
    /// All parameters of the protocol: none of them tells two endpoints apart.
    package static let volatileQuery: Set<String> = [
        "X-Atmosphere-tracking-id", "X-Atmosphere-Framework", "X-Atmosphere-Transport", "X-Atmosphere-TrackMessageSize",
        "X-Atmosphere-Post-Body", "X-Atmosphere-WebSocket-Proxy", "X-Atmosphere-Session-Token", "X-Atmosphere-Run-Id",
        "X-Atmosphere-Auth", "X-atmo-protocol", "X-Heartbeat-Server", "X-Cache-Date", "Content-Type", "jsonpTransport",
        "socketSeq", "_",
    ]

    package static var hasTrackingIDs: Bool { true }

    package static func claim(_ opening: StreamOpening) -> Confidence {
        switch kind(opening.request) {
        case .upgrade, .poll, .stream, .send, .end: .certain
        case .negotiate, .operation, .refresh, .preflight, .other: .no
        }
    }

    /// A push or goodbye without an id is nobody's: servers take it and forget the id that they make for it.
    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        let asked = AtmosphereRequest(request)
        guard asked.isAtmosphere else { return .other }
        if request.method == "GET", request.headers.hasToken("websocket", in: "Upgrade") { return .upgrade }
        if asked.transport == .close { return asked.id == nil ? .other : .end }
        if request.method == "GET", asked.postBody == nil {
            switch asked.transport {
            case .longPolling, .jsonp: return .poll
            case .streaming, .sse: return .stream
            case .websocket, .polling, .close, .undefined: return .other
            }
        }
        guard ["GET", "POST", "PUT"].contains(request.method), asked.id != nil else { return .other }
        return .send
    }

    package static func route(_ request: RequestHead) -> String { request.path }

    /// The tracking id: that of the request, or the one that the server gives a client which has none.
    package static func sessionKey(_ opening: StreamOpening) -> String? {
        let kind = kind(opening.request)
        guard [.upgrade, .poll, .stream, .send, .end].contains(kind) else { return nil }
        if let id = AtmosphereRequest(opening.request).id { return id }
        guard kind == .poll || kind == .stream, let response = opening.response, response.status == 200 else {
            return nil
        }
        // Joined values of a header that came twice: the last counts.
        return response.headers.all("X-Atmosphere-tracking-id").last?.split(separator: " ").last.map(String.init)
            ?? handshakeID(opening)
    }

    /// The id in the handshake at the beginning of a stream, for servers that do not give it in the head of the answer. Nil: it is not there,
    /// or not yet.
    private static func handshakeID(_ opening: StreamOpening) -> String? {
        guard !opening.responseBody.isEmpty, AtmosphereRequest(opening.request).wantsHandshake,
            let framing = framing(opening)
        else { return nil }
        return AtmosphereHandshake.find(inBody: opening.responseBody, framing)?.id
    }

    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? {
        sessionKey(opening).map { ServerIDs(connectionID: $0, token: $0) }
    }

    package static func transport(_ request: RequestHead) -> Transport {
        switch kind(request) {
        case .upgrade: .ws
        case .stream: AtmosphereRequest(request).transport == .sse ? .sse : .stream
        case .negotiate, .poll, .send, .operation, .end, .refresh, .preflight, .other: .lp
        }
    }

    package static func framing(_ opening: StreamOpening) -> BodyFraming? {
        switch transport(opening.request) {
        case .sse: .events
        case .stream: .bytes
        case .ws, .lp, .multipart, .http: nil
        }
    }

    package static func payload(of request: StreamOpening) -> [UInt8] {
        AtmosphereRequest(request.request).postBody.map { Array($0.utf8) } ?? request.requestBody
    }
}
