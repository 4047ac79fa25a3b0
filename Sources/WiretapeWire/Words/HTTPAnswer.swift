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
