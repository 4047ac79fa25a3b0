extension HTTPAnswer {
    /// The answer as a page of the request's origin may read it, with its credentials. One that a page may not read would be
    /// something else to it than what was meant.
    package func readable(by head: RequestHead) -> HTTPAnswer {
        var answer = self
        answer.headers += HTTPAnswer.cors(head)
        return answer
    }

    /// The headers that allow the page that asks; none when no page does.
    package static func cors(_ head: RequestHead) -> [HeaderField] {
        guard let origin = head.headers.first("Origin") else { return [] }
        return [
            HeaderField("Access-Control-Allow-Origin", origin),
            HeaderField("Access-Control-Allow-Credentials", "true"), HeaderField("Vary", "Origin"),
        ]
    }
}
