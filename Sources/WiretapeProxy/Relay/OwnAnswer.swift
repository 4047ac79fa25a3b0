internal import WiretapeBytes
internal import WiretapeWire

/// Answers that the relay makes itself.
package enum OwnAnswer {
    /// A complete HTTP/1.1 response that ends the connection; the body is one line for people.
    /// - Parameter retryAfter: seconds.
    package static func bytes(_ status: Int, _ reason: String, retryAfter: Int? = nil) -> [UInt8] {
        let body = Array("wiretape: \(reason)\n".utf8)
        var out: [UInt8] = []
        out.append(utf8: "HTTP/1.1 \(status) \(statusText(status))\r\n")
        out.append(utf8: "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.count)\r\n")
        if let retryAfter { out.append(utf8: "Retry-After: \(retryAfter)\r\n") }
        out.append(utf8: "Connection: close\r\nServer: wiretape\r\n\r\n")
        return out + body
    }

    /// To a client whose TLS handshake has not begun, and that there is no place for: the alert `internal_error` (RFC 8446 6), for
    /// want of one that says it.
    package static let noPlaceOverTLS: [UInt8] = [21, 3, 3, 0, 2, 2, 80]

    /// To a client that there is no place for, and to one that had to leave for another.
    package static let noPlace = bytes(503, "no place for another connection", retryAfter: 1)
}
