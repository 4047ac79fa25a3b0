package import WiretapeFaults
internal import WiretapePlayback
package import WiretapeProtocol
package import WiretapeWire

extension LiveFaults {
    /// The answer that a rule gives in the server's place, the same as a replay's; nil: none that is HTTP.
    package static func answer(_ verdict: FaultVerdict, to head: RequestHead, _ kind: ExchangeKind) -> HTTPAnswer? {
        var answer: HTTPAnswer
        switch verdict {
        case .respond(let given): answer = given
        case .redirectLoop: answer = RedirectLoop.answer(head)
        case .malformed(let part):
            guard part ?? (kind == .upgrade ? .head : .body) == .body else { return nil }
            answer = HTTPAnswer(status: 200, headers: [HeaderField("Content-Type", "application/json")])
            answer.body = Array(#"{"connectionId":"wiretape","availableTransports":[{"tran"#.utf8)
        default: return nil
        }
        // A page that may not read the answer would see something else than what the rule says.
        if let origin = head.headers.first("Origin") {
            answer.headers += [
                HeaderField("Access-Control-Allow-Origin", origin),
                HeaderField("Access-Control-Allow-Credentials", "true"), HeaderField("Vary", "Origin"),
            ]
        }
        return answer
    }

    /// An answer whose head cannot be read.
    package static var garbage: [UInt8] { Array("HTTQ/1.l 2OO\r\nContent-Length= no\r\n\r\n".utf8) }
}
