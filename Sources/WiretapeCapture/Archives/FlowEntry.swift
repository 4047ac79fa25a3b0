internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Reads one flow of a mitmproxy dump (flow format 19 to 21: mitmproxy 9 to 12). A flow says nearly all that a tape wants.
struct FlowEntry {
    struct Fault: Error {
        var reason: String
    }

    /// The format's versions that are read.
    static let versions: ClosedRange<Int64> = 19...21

    private let flow: TNetValue

    /// - Returns: nil for a flow of another kind than HTTP.
    static func read(_ flow: TNetValue) throws(Fault) -> ForeignExchange? {
        guard let version = flow["version"]?.int else { throw Fault(reason: "it has no format version") }
        guard versions.contains(version) else {
            throw Fault(
                reason:
                    "it has the format version \(version), and \(versions.lowerBound) to \(versions.upperBound) are read; "
                    + (version < versions.lowerBound
                        ? "a newer mitmproxy brings it there: mitmdump -n -r OLD -w NEW"
                        : "wiretape does not know it yet"))
        }
        guard flow["type"]?.text == "http" else { return nil }
        return try FlowEntry(flow: flow).exchange()
    }

    private func exchange() throws(Fault) -> ForeignExchange {
        guard let request = flow["request"], let method = request["method"]?.bytes, let path = request["path"]?.bytes,
            let start = FlowEntry.time(request["timestamp_start"])
        else { throw Fault(reason: "its request lacks its method, path or time") }
        let scheme = request["scheme"]?.text == "https" ? "https" : "http"
        let host = ForeignText.line(request["host"]?.text ?? "")
        let port = request["port"]?.int ?? 0
        guard !host.isEmpty, (1...65_535).contains(port) else { throw Fault(reason: "its request names no server") }
        let name = host.contains(":") ? "[\(host)]" : host
        var exchange = ForeignExchange(
            server: "\(scheme)://\(name):\(port)",
            request: RequestHead(
                method: ForeignText.latin1(method), target: path.isEmpty ? "/" : ForeignText.latin1(path)),
            requestTime: start)
        exchange.request.headers = FlowEntry.fields(request["headers"])
        if exchange.request.headers.first("Host") == nil {
            let authority = request["authority"]?.text ?? ""
            let isUsual = port == (scheme == "https" ? 443 : 80)
            let text = authority.isEmpty ? isUsual ? name : "\(name):\(port)" : ForeignText.line(authority)
            exchange.request.headers.insert(HeaderField("Host", text), at: 0)
        }
        if let version = request["http_version"]?.text, version.hasPrefix("HTTP/2") || version.hasPrefix("HTTP/3") {
            exchange.remarks.append(HARNotes.newerHTTP)
        }
        if let body = request["content"]?.bytes {
            exchange.requestBody = body
        } else {
            exchange.notes.append("the flow does not hold the request's body")
        }
        exchange.requestTrailers = FlowEntry.fields(request["trailers"])
        client(&exchange)
        answer(&exchange)
        return exchange
    }

    private func client(_ exchange: inout ForeignExchange) {
        guard let client = flow["client_conn"] else { return }
        exchange.connection = client["id"]?.text
        exchange.open.from = FlowEntry.address(client["peername"])
        exchange.open.to = FlowEntry.address(client["sockname"])
        guard client["tls"]?.bool == true || exchange.server.hasPrefix("https:") && client["tls_version"]?.text != nil
        else {
            return
        }
        exchange.open.tls = TapeEvent.TLSInfo(
            version: client["tls_version"]?.text, alpn: client["alpn"]?.text, sni: client["sni"]?.text)
    }

    private func answer(_ exchange: inout ForeignExchange) {
        if let error = flow["error"]?["msg"]?.text {
            exchange.notes.append("mitmproxy tells an error: \(ForeignText.line(error))")
        }
        guard let response = flow["response"], let status = response["status_code"]?.int, (100...999).contains(status)
        else {
            if flow["error"]?["msg"] == nil { exchange.notes.append("the flow has no answer to this request") }
            return
        }
        let head = ResponseHead(
            status: Int(status), reason: ForeignText.latin1(response["reason"]?.bytes ?? []),
            headers: FlowEntry.fields(response["headers"]))
        exchange.responseTime = FlowEntry.time(response["timestamp_start"]) ?? exchange.requestTime
        exchange.response = head
        if flow["websocket"]?["messages"] != nil { return socket(&exchange, head) }
        exchange.endTime = FlowEntry.time(response["timestamp_end"])
        exchange.trailers = FlowEntry.fields(response["trailers"])
        guard let content = response["content"]?.bytes else {
            exchange.notes.append("the flow does not hold the answer's body: mitmproxy passed it on without keeping it")
            if exchange.endTime == nil { exchange.answer = .pieces([]) }
            return
        }
        var body = content
        // As the recorder keeps bodies: a single gzip or deflate is removed.
        let codings = head.headers.contentCodings
        if codings.names.count == 1, let known = codings.known, known == [.gzip] || known == [.deflate], !body.isEmpty,
            let plain = try? ContentDecoder.whole(body, codings, limit: max(16 << 20, 8 * body.count))
        {
            body = plain
            exchange.coding = codings.text
        }
        let type = MediaType(head.headers.first("Content-Type") ?? "")
        guard type.isStream || exchange.endTime == nil else { return exchange.answer = .whole(body) }
        // mitmproxy has kept the body as one.
        if !body.isEmpty { exchange.notes.append("the flow does not tell in which pieces, and when, the body came") }
        let pieces = type.name == "text/event-stream" ? HAREntry.events(body) : [body]
        exchange.answer = .pieces(body.isEmpty ? [] : pieces.map { (exchange.responseTime, $0) })
    }

    private func socket(_ exchange: inout ForeignExchange, _ head: ResponseHead) {
        let socket = flow["websocket"]
        exchange.said = []
        for message in socket?["messages"]?.list ?? [] {
            guard let state = message.list, state.count >= 4, let type = state[0].int, let isClients = state[1].bool,
                let bytes = state[2].bytes, let time = FlowEntry.time(state[3])
            else {
                exchange.notes.append("the flow has a WebSocket message that cannot be read")
                continue
            }
            if state.count > 4, state[4].bool == true {
                exchange.notes.append("mitmproxy dropped a WebSocket message that stands here")
            }
            exchange.said?.append(
                (
                    time,
                    .message(
                        isClients ? .toServer : .toClient, type == 1 ? .text : .binary, bytes, deflated: false,
                        fragments: [])
                ))
        }
        exchange.notes.append("the flow does not tell the WebSocket's pings, pongs and frames")
        guard let code = socket?["close_code"]?.int, let isClients = socket?["closed_by_client"]?.bool else { return }
        let end = FlowEntry.time(socket?["timestamp_end"]) ?? exchange.said?.last?.time ?? exchange.responseTime
        let side: Direction = isClients ? .toServer : .toClient
        switch code {
        case 1005: exchange.said?.append((end, .close(side, code: nil, reason: nil)))
        case 1006:
            // No close frame came: mitmproxy saw the connection end.
            exchange.said?.append(
                (end, .gone(by: isClients ? .client : .server, how: .error, why: "closed without a close frame")))
        default:
            guard let code = UInt16(exactly: code) else { return }
            let reason = socket?["close_reason"]?.text
            exchange.said?.append((end, .close(side, code: code, reason: reason == "" ? nil : reason)))
        }
    }

    private static func time(_ value: TNetValue?) -> UInt64? { ForeignTime.nanoseconds(seconds: value?.number) }

    private static func fields(_ value: TNetValue?) -> [HeaderField] {
        (value?.list ?? []).compactMap { pair in
            guard let pair = pair.list, pair.count == 2, let name = pair[0].bytes, let text = pair[1].bytes,
                !name.isEmpty,
                name.first != UInt8(ascii: ":"), name.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x3a })
            else { return nil }
            return HeaderField(ForeignText.latin1(name), ForeignText.latin1(text))
        }
    }

    private static func address(_ value: TNetValue?) -> String? {
        guard let list = value?.list, list.count >= 2, let host = list[0].text, let port = list[1].int, !host.isEmpty
        else {
            return nil
        }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
