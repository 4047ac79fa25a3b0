internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// A refusal in plain text.
    mutating func refuse(
        _ connection: ConnectionID, _ head: RequestHead, _ status: Int, _ text: String, into out: inout [ReplayAction]
    ) {
        out.append(.respond(connection, plain(status, text).readable(by: head), thenClose: false))
    }

    /// A refusal in the protocol's own words.
    mutating func refuse(
        _ connection: ConnectionID, _ head: RequestHead, _ what: CarrierAnswer, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        out.append(.respond(connection, codec.type.answer(what, to: head).readable(by: head), thenClose: false))
    }

    func plain(_ status: Int, _ text: String) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")],
            body: Array((text + "\n").utf8))
    }

    /// What a browser's preflight asks for is granted.
    func preflight(_ head: RequestHead) -> HTTPAnswer? {
        guard head.method == "OPTIONS", let method = head.headers.first("Access-Control-Request-Method") else {
            return nil
        }
        var headers = HTTPAnswer.cors(head)
        headers.append(HeaderField("Access-Control-Allow-Methods", method))
        if let asked = head.headers.first("Access-Control-Request-Headers") {
            headers.append(HeaderField("Access-Control-Allow-Headers", asked))
        }
        return HTTPAnswer(status: 204, headers: headers)
    }

    /// Adds the cookies and other header fields of the recorded response.
    func withRecordedFields(of recorded: ResponseHead?, _ answer: HTTPAnswer) -> HTTPAnswer {
        var answer = answer
        answer.headers += ReplayEngine.recordedFields(of: recorded, beside: answer.headers)
        return answer
    }

    /// The recorded header fields that are not about one connection, one moment or the recorded body.
    /// - Parameter own: header fields that the response has already. Only cookies are repeated.
    static func recordedFields(of recorded: ResponseHead?, beside own: [HeaderField]) -> [HeaderField] {
        recorded?.headers.filter { field in
            guard !equalIgnoringCase(field.name, "Set-Cookie") else { return true }
            let name = field.name.lowercased()
            return !ofConnection.contains(name) && !ofBody.contains(name)
                && !name.hasPrefix("access-control-") && !name.hasPrefix("sec-websocket-")
                && !own.contains { equalIgnoringCase($0.name, field.name) }
        } ?? []
    }

    /// Names of header fields about one connection or one moment.
    static let ofConnection: Set = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade", "content-length",
        "date",
        "alt-svc", "strict-transport-security",
    ]
    /// Names of header fields about the recorded body.
    private static let ofBody: Set = [
        "accept-ranges", "content-digest", "content-encoding", "content-md5", "content-range", "content-type", "digest",
        "etag", "last-modified", "repr-digest",
    ]
}
