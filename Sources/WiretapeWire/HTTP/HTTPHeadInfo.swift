/// What a head says about its message and its connection, besides the fields themselves.
package struct HTTPHeadInfo: Hashable, Sendable {
    /// The head as received: from the first byte of its first line to the empty line, both included. Empty lines before a
    /// head are in no message.
    package var raw: [UInt8]
    package var framing: HTTPFraming
    /// Whether the connection may carry another exchange after this one, as far as this side is concerned.
    package var keepAlive: Bool
    /// The value of `Upgrade` when `Connection` names it: `websocket`. Nil when either is missing.
    package var upgradeProtocol: String?
    /// HTTP/1.1 request with `Expect: 100-continue`.
    package var expectsContinue: Bool
    /// 1xx other than 101.
    package var isInterim: Bool

    package init(
        raw: [UInt8], framing: HTTPFraming = .none, keepAlive: Bool = true, upgradeProtocol: String? = nil,
        expectsContinue: Bool = false, isInterim: Bool = false
    ) {
        self.raw = raw
        self.framing = framing
        self.keepAlive = keepAlive
        self.upgradeProtocol = upgradeProtocol
        self.expectsContinue = expectsContinue
        self.isInterim = isInterim
    }

    package var isUpgrade: Bool { upgradeProtocol != nil }
}

/// How the body of a message is delimited (RFC 9112 section 6).
package enum HTTPFraming: Hashable, Sendable {
    /// No body.
    case none
    /// `Content-Length`.
    case length(UInt64)
    case chunked
    /// Responses only: the body lasts until the connection ends.
    case untilEnd
}
