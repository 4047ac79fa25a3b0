internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

/// The HTTP side of SignalR, as ASP.NET Core 10 was seen to answer it.
extension SignalRCodec {
    package static var polling: Polling? {
        Polling(opensAtOnce: true, timeout: 90_000_000_000, hasKeepalives: false)
    }

    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        switch what {
        case .pollOpened, .pollBegun: return HTTPAnswer(status: 200, headers: bytesType + uncached)
        case .poll(let body, _): return HTTPAnswer(status: 200, headers: bytesType + uncached, body: body)
        case .pollEmpty: return HTTPAnswer(status: 200, headers: textType + uncached)
        case .pollEnd, .pollSuperseded: return HTTPAnswer(status: 204, headers: textType + uncached)
        case .stream, .operation:
            return HTTPAnswer(status: 200, headers: eventsType, body: Array(":\r\n".utf8))
        case .sent: return HTTPAnswer(status: 200, headers: textType)
        case .ended: return HTTPAnswer(status: 202, headers: textType)
        case .missingID: return text(400, "Connection ID required", request)
        case .unknownID: return text(404, "No Connection with that ID", request)
        case .wrongTransport:
            let isEnd = request.method == "DELETE"
            return text(
                400,
                isEnd
                    ? "Cannot terminate this connection using the DELETE endpoint."
                    : "Cannot change transports mid-connection", request)
        case .conflict: return HTTPAnswer(status: 409, headers: textType)
        case .notOffered:
            return text(404, "\(transportName(request)) transport not supported by this end point type", request)
        case .notAllowed:
            guard request.method == "POST" else { return HTTPAnswer(status: 405, headers: textType) }
            return text(405, "POST requests are not allowed for WebSocket connections.", request)
        }
    }

    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {
        var from = 0
        while true {
            var end = from
            while end < payload.count, payload[end] != UInt8(ascii: "\n") { end += 1 }
            let isLast = end == payload.count
            let lineEnd = !isLast && end > from && payload[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
            out.append(utf8: "data: ")
            out.append(copying: payload.extracting(from..<lineEnd))
            out.append(utf8: "\r\n")
            from = end + 1
            if isLast { break }
        }
        out.append(utf8: "\r\n")
    }

    private static let textType = [HeaderField("Content-Type", "text/plain")]
    private static let bytesType = [HeaderField("Content-Type", "application/octet-stream")]
    private static let eventsType = [
        HeaderField("Content-Type", "text/event-stream"), HeaderField("Cache-Control", "no-cache,no-store"),
        HeaderField("Content-Encoding", "identity"), HeaderField("Pragma", "no-cache"),
    ]
    private static let uncached = [
        HeaderField("Cache-Control", "no-cache, no-store"), HeaderField("Expires", "Thu, 01 Jan 1970 00:00:00 GMT"),
        HeaderField("Pragma", "no-cache"),
    ]

    /// Polls are kept out of caches whatever their answer is.
    private static func text(_ status: Int, _ body: String, _ request: RequestHead) -> HTTPAnswer {
        let isPoll = request.method == "GET" && transport(request) == .lp
        return HTTPAnswer(
            status: status, headers: isPoll ? textType + uncached : textType, body: Array(body.utf8))
    }

    /// The transport of which the request can be the opening, as the server tells them apart.
    private static func transport(_ request: RequestHead) -> Transport {
        if takesEvents(request) { return .sse }
        return request.headers.hasToken("websocket", in: "Upgrade") ? .ws : .lp
    }

    private static func transportName(_ request: RequestHead) -> String {
        switch transport(request) {
        case .ws: "WebSockets"
        case .sse: "ServerSentEvents"
        case .lp, .stream, .multipart, .http: "LongPolling"
        }
    }
}
