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

    /// The cookies that the recorded answer set, too.
    func withCookies(of recorded: ResponseHead?, _ answer: HTTPAnswer) -> HTTPAnswer {
        var answer = answer
        for cookie in recorded?.headers.all("Set-Cookie") ?? [] {
            answer.headers.append(HeaderField("Set-Cookie", cookie))
        }
        return answer
    }
}
