/// A complete HTTP answer made by replay or by a fault. Lengths and dates are added when it is written.
package struct HTTPAnswer: Hashable, Sendable {
    package var status: Int
    package var reason: String
    package var headers: [HeaderField]
    package var body: [UInt8]

    package init(status: Int, reason: String = "", headers: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }
}

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
