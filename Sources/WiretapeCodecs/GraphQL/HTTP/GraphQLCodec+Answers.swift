internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// What servers answer over HTTP.
extension GraphQLCodec {
    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        switch what {
        case .stream: HTTPAnswer(status: 200, headers: eventsType, body: Array(":\n\n".utf8))
        case .operation(let transport, let recorded): operation(transport, recorded, request)
        case .sent: HTTPAnswer(status: request.method == "DELETE" ? 200 : 202)
        case .missingID: text(401, "a single connection needs a token")
        case .unknownID: text(404, "Stream not found")
        case .conflict: text(409, "Stream already open")
        case .notOffered: text(406, "the tape cannot be served over this transport")
        case .wrongTransport: text(400, "the session has another transport")
        case .pollOpened, .pollBegun, .poll, .pollEmpty, .pollEnd, .pollSuperseded, .ended, .notAllowed:
            text(405, "method not allowed")
        }
    }

    private static func operation(
        _ transport: Transport, _ recorded: ResponseHead?, _ request: RequestHead
    ) -> HTTPAnswer {
        switch transport {
        case .multipart:
            // As it was recorded, whatever the client can read of it: a client that cannot read its server is to fail.
            if let type = recorded?.headers.first("Content-Type") {
                return HTTPAnswer(status: recorded?.status ?? 200, headers: [HeaderField("Content-Type", type)])
            }
            return HTTPAnswer(
                status: 200, headers: [HeaderField("Content-Type", multipartType(request)), cacheControl])
        case .sse: return HTTPAnswer(status: 200, headers: eventsType, body: Array(":\n\n".utf8))
        case .ws, .lp, .stream, .http:
            let lines = transport == .stream ? GraphQLRequest.jsonLines(request)?.name : nil
            let type = recorded?.headers.first("Content-Type") ?? "\(lines ?? "application/json"); charset=utf-8"
            return HTTPAnswer(status: recorded?.status ?? 200, headers: [HeaderField("Content-Type", type)])
        }
    }

    /// Of an answer that came over another carrier: in the spelling that all clients can read, in the dialect that this one
    /// asks for.
    private static func multipartType(_ request: RequestHead) -> String {
        let asked = GraphQLRequest.multipart(request)
        if asked?["subscriptionspec"] == nil {
            if let spec = asked?["incrementalspec"] {
                return "multipart/mixed; boundary=\"-\"; incrementalSpec=\(spec)"
            }
            if let spec = asked?["deferspec"] { return "multipart/mixed; boundary=\"-\"; deferSpec=\(spec)" }
        }
        return "multipart/mixed;boundary=\(boundary);subscriptionSpec=1.0"
    }

    /// A reservation: the token is the whole answer.
    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? {
        guard kind(request) == .negotiate, transports.contains(.sse) else { return nil }
        return HTTPAnswer(
            status: 201, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")],
            body: Array(ids.token.utf8))
    }

    package static var reservesStreams: Bool { true }

    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? {
        kind(request) == .negotiate ? text(404, reason) : nil
    }

    /// The recorded subprotocol when the client offers it, else the best of those that it does offer.
    package static func subprotocol(for request: RequestHead, recorded: String?) -> String? {
        let offered = GraphQLDialect.offered(request)
        if let recorded, GraphQLDialect(rawValue: recorded).map(offered.contains) ?? true { return recorded }
        return [GraphQLDialect.transportWS, .legacy, .older].first(where: offered.contains)?.rawValue
    }

    package func serving(_ opening: StreamOpening) -> Self {
        var writer = self
        if let live = GraphQLDialect(opening) {
            writer.recordedDialect = dialect == live ? nil : dialect
            writer.dialect = live
        }
        writer.partForm = GraphQLForm(ofPartsIn: opening.response)
        return writer
    }

    package func keepalive(on transport: Transport) -> (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        switch transport {
        case .ws: keepalive
        case .sse: ([], .text, 12_000_000_000)
        // Incremental delivery has no signs of life.
        case .multipart: partForm == .part ? (Array("{}".utf8), .text, 5_000_000_000) : nil
        case .lp, .stream, .http: nil
        }
    }

    private static let cacheControl = HeaderField("Cache-Control", "no-cache")
    private static let eventsType = [
        HeaderField("Content-Type", "text/event-stream; charset=utf-8"), cacheControl,
        HeaderField("X-Accel-Buffering", "no"),
    ]

    private static func text(_ status: Int, _ text: String) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }
}
