internal import WiretapeBytes

/// One header field as sent: the name keeps its case, the value has no surrounding blanks.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an HTTP/1.x request. Bytes outside ASCII in names, values and targets are kept as ISO 8859-1 characters
/// would be: one byte, one scalar below U+0100.
package struct RequestHead: Hashable, Sendable {
    package var method: String
    /// As sent: `/chat?id=1`, `*`, or an absolute form.
    package var target: String
    /// `1.1` or `1.0`.
    package var version: String
    package var headers: [HeaderField]

    package init(method: String, target: String, version: String = "1.1", headers: [HeaderField] = []) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The target's path without its query; an absolute form loses its scheme and authority.
    package var path: String {
        let rest = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard rest.first != UInt8(ascii: "/"), let scheme = RequestHead.authority(rest) else {
            return String(rest) ?? ""
        }
        return rest[scheme...].firstIndex(of: UInt8(ascii: "/")).flatMap { String(rest[$0...]) } ?? "/"
    }

    /// Where the authority begins, behind `://`.
    private static func authority(_ text: Substring.UTF8View) -> String.Index? {
        var at = text.startIndex
        while let colon = text[at...].firstIndex(of: UInt8(ascii: ":")) {
            at = text.index(after: colon)
            if text[at...].starts(with: "//".utf8) { return text.index(at, offsetBy: 2) }
        }
        return nil
    }

    /// The query's items in order, percent-decoded (`+` is kept: real clients do not agree on it).
    package var query: [(name: String, value: String)] {
        let bytes = target.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let text = bytes[bytes.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
        return text.split(separator: UInt8(ascii: "&")).map { item in
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else {
                return (percentDecoded(Substring(item)), "")
            }
            return (
                percentDecoded(Substring(item[..<equals])),
                percentDecoded(Substring(item[item.index(after: equals)...]))
            )
        }
    }
}

extension RequestHead {
    /// Of a WebSocket's opening, in the order of the client's liking.
    package var offeredSubprotocols: [String] {
        headers.all("Sec-WebSocket-Protocol").flatMap { $0.split(separator: ",") }.map { String($0.trimmingBlanks()) }
    }
}

/// The head of an HTTP/1.x response.
package struct ResponseHead: Hashable, Sendable {
    package var status: Int
    package var reason: String
    package var version: String
    package var headers: [HeaderField]

    package init(status: Int, reason: String = "", version: String = "1.1", headers: [HeaderField] = []) {
        self.status = status
        self.reason = reason
        self.version = version
        self.headers = headers
    }
}

extension [HeaderField] {
    /// The first value of `name`, compared without case.
    package func first(_ name: String) -> String? {
        first { equalIgnoringCase($0.name, name) }?.value
    }

    /// All values of `name` in order.
    package func all(_ name: String) -> [String] {
        filter { equalIgnoringCase($0.name, name) }.map(\.value)
    }

    /// Whether a comma-separated list under `name` holds `token`, without case.
    package func hasToken(_ token: String, in name: String) -> Bool {
        all(name).contains { list in
            list.split(separator: ",").contains { equalIgnoringCase($0.trimmingBlanks(), token) }
        }
    }
}

/// ASCII comparison without case.
package func equalIgnoringCase(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    var other = b.utf8.makeIterator()
    for byte in a.utf8 {
        guard let next = other.next(), byte == next || lowered(byte) == lowered(next) else { return false }
    }
    return true
}

private func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}

/// Percent-decodes; bad escapes stay as they are, bytes that are not UTF-8 are repaired.
package func percentDecoded(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var out: [UInt8] = []
    let bytes = Array(text.utf8)
    var i = 0
    while i < bytes.count {
        if bytes[i] == UInt8(ascii: "%"), i + 2 < bytes.count, let h = hexDigit(bytes[i + 1]),
            let l = hexDigit(bytes[i + 2])
        {
            out.append(h << 4 | l)
            i += 3
        } else {
            out.append(bytes[i])
            i += 1
        }
    }
    return String(decoding: out, as: UTF8.self)
}

package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension ResponseHead {
    /// Whether each piece of the body means something by itself, as far as the head tells: the body has no length, and its
    /// type is one of which nothing else is known. Servers also write documents in pieces; those are none.
    /// - Parameter method: that of the request.
    package func isInPieces(for method: String) -> Bool {
        guard (200..<300).contains(status), status != 204, !["HEAD", "CONNECT"].contains(method),
            headers.first("Content-Length") == nil
        else { return false }
        return headers.first("Content-Type").map { MediaType($0).isOfPieces } ?? true
    }
}

extension RequestHead {
    /// The secret that tells a user: a token, wherever it stands, else the cookies.
    package var credential: String? {
        if let authorization = headers.first("Authorization") {
            let parts = authorization.split(separator: " ", maxSplits: 1)
            let isBearer = parts.count == 2 && equalIgnoringCase(parts[0], "Bearer")
            return isBearer ? String(parts[1]) : authorization
        }
        if let token = query.first(where: { $0.name == "access_token" && !$0.value.isEmpty }) { return token.value }
        let cookies = headers.all("Cookie")
        return cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    }
}
