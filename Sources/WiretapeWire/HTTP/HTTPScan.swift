/// What ``HTTPScanner/scan(_:from:)`` found. `next` is where the following call starts.
package enum HTTPScan: Hashable, Sendable {
    /// All bytes are looked at; more are needed.
    case more
    /// The head of a request. Its body or `end` follows.
    case request(RequestHead, HTTPHeadInfo, next: Int)
    /// The head of a response. Its body or `end` follows, but nothing after an interim one (``HTTPHeadInfo/isInterim``):
    /// the next head is of the same exchange. After 101 and after a 2xx to CONNECT the scanner is done: the bytes from
    /// `next` on are not HTTP, and it looks at none of them.
    case response(ResponseHead, HTTPHeadInfo, next: Int)
    /// Bytes of the body, without framing. Never empty.
    case body(Range<Int>, next: Int)
    /// The message is complete. Also told of messages without a body, right after their head.
    case end(trailers: [HeaderField], next: Int)
    /// A violation after which nothing can be told about the rest: the scanner looks at no more bytes. `next` is behind
    /// the line that is wrong, or behind the byte.
    case bad(HTTPFault, next: Int)
}

/// What the end of a direction (FIN) meant.
package enum HTTPFinish: Hashable, Sendable {
    /// It came between messages, after a violation or after an upgrade.
    case clean
    /// It is the proper end of a body that lasts until the end of the connection.
    case endOfBody
    /// It cut a head.
    case cutHead
    /// It cut a body whose length was told, or a chunked one.
    case cutBody
}

/// Why a head or a body is not acceptable HTTP/1.1.
package struct HTTPFault: Error, Hashable, Sendable {
    /// What to answer: 400, 414, 431, 501 or 505 to a request; 502 when the response of a server is at fault.
    package var status: Int
    /// A short text in lower case, for people.
    package var reason: String

    package init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// What people are told of a client that speaks another protocol than the port does; nil: of this one it was told enough.
    package var otherProtocol: String? {
        if status == 505 { return "a client was refused: \(reason)" }
        guard self == HTTPFault.secure else { return nil }
        return
            "a client speaks TLS to a port that speaks plain HTTP: it has to use http:// or ws://, or the listener --tls"
    }

    /// The first byte of a TLS record.
    static let secure = HTTPFault(400, "TLS where plain HTTP is spoken")
}
