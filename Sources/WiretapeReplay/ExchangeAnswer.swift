internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// A recorded answer made anew for a client of the replay: what belongs to the recorded connection, server and moment
/// goes, everything else stays; addresses and cookies are for the server to make its own. A `Content-Encoding` that is still there is true of the body: it could not be decoded.
enum ExchangeAnswer {
    /// Made by the server that answers, or true of the recorded connection only.
    private static let dropped: Set<String> = [
        "date", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "trailer",
        "upgrade", "strict-transport-security", "alt-svc", "access-control-allow-origin",
        "access-control-allow-credentials",
    ]

    /// The head of a recorded answer with another body, whose type and length others say.
    static func headers(of recorded: StreamOpening, for head: RequestHead) -> [HeaderField] {
        guard let response = recorded.response else { return [] }
        let exchange = RecordedExchange(
            event: 0, line: 0, time: 0, answered: 0, connection: 0, request: recorded.request, response: response)
        return make(exchange, for: head).headers.filter {
            !equalIgnoringCase($0.name, "Content-Type") && !equalIgnoringCase($0.name, "Content-Encoding")
        }
    }

    static func make(_ exchange: RecordedExchange, for head: RequestHead) -> HTTPAnswer {
        var headers: [HeaderField] = []
        for field in exchange.response.headers {
            let name = field.name.lowercased()
            // The response to a HEAD has the length of a body that is not there.
            let isOwnLength =
                name == "content-length" && exchange.request.method == "HEAD" && UInt64(field.value) != nil
            if dropped.contains(name), !isOwnLength { continue }
            headers.append(field)
        }
        return HTTPAnswer(
            status: exchange.response.status, reason: exchange.response.reason, headers: headers,
            body: exchange.responseBody)
    }

    /// The bytes of a response that the recorded server sent before it ended the connection.
    /// - Parameter answer: the response from ``make(_:for:)``.
    static func part(_ exchange: RecordedExchange, _ answer: HTTPAnswer) -> [UInt8] {
        let recorded = exchange.response.headers
        let isChunked = recorded.hasToken("chunked", in: "Transfer-Encoding")
        var headers = answer.headers
        if isChunked {
            headers.append(HeaderField("Transfer-Encoding", "chunked"))
        } else if let length = recorded.first("Content-Length") {
            headers.append(HeaderField("Content-Length", length))
        }
        var bytes: [UInt8] = []
        HTTPHeadWriter.append(
            ResponseHead(status: answer.status, reason: answer.reason, headers: headers), into: &bytes)
        guard isChunked else { return bytes + answer.body }
        guard !answer.body.isEmpty else { return bytes }
        return bytes + Array("\(String(answer.body.count, radix: 16))\r\n".utf8) + answer.body + [13, 10]
    }
}
