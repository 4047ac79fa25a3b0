package import WiretapeFaults
package import WiretapeProtocol
package import WiretapeWire

/// What a rule puts in the place of a server's answer: the same on live traffic and in replay.
package enum FaultAnswer: Hashable, Sendable {
    /// An answer, without the headers that a page of another origin needs.
    case whole(HTTPAnswer)
    /// Bytes whose head is no HTTP; the connection ends behind them.
    case garbage([UInt8])
    /// No answer: the connection ends as the rule says.
    case none

    /// - Parameter kind: of the request; what is broken by default hangs on it.
    package init(_ verdict: FaultEffect, to head: RequestHead, _ kind: ExchangeKind) {
        switch verdict {
        case .respond(let answer): self = .whole(answer)
        case .redirectLoop: self = .whole(RedirectLoop.answer(head))
        case .malformed(let part):
            switch part ?? (kind == .upgrade ? .head : .body) {
            case .head: self = .garbage(Array("HTTQ/1.l 2OO\r\nContent-Length= no\r\n\r\n".utf8))
            case .body:
                // JSON that ends in the middle of a word.
                self = .whole(
                    HTTPAnswer(
                        status: 200, headers: [HeaderField("Content-Type", "application/json")],
                        body: Array(#"{"connectionId":"wiretape","availableTransports":[{"tran"#.utf8)))
            }
        case .reset, .disconnect, .close, .refuse, .outage, .wrongAccept, .wrongSubprotocol, .delay, .drop,
            .duplicate, .reorder, .replace, .inject, .corrupt, .truncate, .stall, .mute, .throttle, .slice,
            .downgrade, .expire, .tls:
            self = .none
        }
    }
}
