internal import WiretapeBytes

/// The opening handshake (RFC 6455 section 4).
package enum WebSocketHandshake {
    /// What a server makes of a request head.
    package enum Verdict: Hashable, Sendable {
        /// Not an upgrade to a WebSocket.
        case plain
        /// Answer 101 with this `Sec-WebSocket-Accept`.
        case accept(String)
        /// Answer with this.
        case refuse(HTTPAnswer)
    }

    /// The value of `Sec-WebSocket-Accept` for that of `Sec-WebSocket-Key`.
    package static func acceptKey(for key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        return Base64.encode(SHA1.hash(text.span).span)
    }

    /// Judges a request as section 4.2.1 says. Neither path, origin nor subprotocols are looked at.
    package static func judge(_ request: RequestHead) -> Verdict {
        guard request.headers.hasToken("upgrade", in: "Connection"),
            request.headers.hasToken("websocket", in: "Upgrade")
        else { return .plain }
        guard request.method == "GET", request.version == "1.1" else {
            return .refuse(plain(400, "a WebSocket is opened with GET and HTTP/1.1"))
        }
        let versions = request.headers.all("Sec-WebSocket-Version")
        guard versions == ["13"] else {
            var answer = plain(426, "Sec-WebSocket-Version must be 13")
            answer.headers.append(HeaderField("Sec-WebSocket-Version", "13"))
            return .refuse(answer)
        }
        let keys = request.headers.all("Sec-WebSocket-Key")
        guard keys.count == 1, keys[0].utf8.count == 24, Base64.decode(keys[0])?.count == 16 else {
            return .refuse(plain(400, "Sec-WebSocket-Key must be 16 bytes in base64"))
        }
        return .accept(acceptKey(for: keys[0]))
    }

    private static func plain(_ status: Int, _ text: String) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")],
            body: Array("wiretape: \(text)\n".utf8))
    }
}
