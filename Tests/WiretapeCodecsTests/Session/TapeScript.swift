import WiretapeProtocol
import WiretapeWire

/// A tape in short, one event a line: `1 open`, `1 > 1 POST /chat?id=a BODY`, `1 < 1 200 BODY`, `1 gone server rst`. A
/// number in brackets before the line is its time in milliseconds, else each line is one millisecond after the last.
///
/// In bodies `|` is the record separator and `~` a line end; `...` is a body that follows in lines `1 >> 1 PIECE`,
/// `1 << 1 PIECE`, with `1 >. 1` and `1 <. 1` as its end. An upgrade is `1 > 1 WS /chat?id=a`, an event stream is asked
/// for with `SSE`.
enum TapeScript {
    static func events(_ script: String) -> [TapeEvent] {
        var time: UInt64 = 0
        return script.split(separator: "\n").compactMap { line in
            var words = line.split(separator: " ", maxSplits: 4).map(String.init)
            guard !words.isEmpty else { return nil }
            if words[0].hasPrefix("[") {
                time = UInt64(words[0].dropFirst().dropLast())! * 1_000_000
                let text = line.drop { $0 == " " }.drop { $0 != " " }
                words = text.split(separator: " ", maxSplits: 4).map(String.init)
            } else {
                time += 1_000_000
            }
            return TapeEvent(time: time, connection: UInt32(words[0])!, kind(Array(words.dropFirst())))
        }
    }

    static func bytes(_ text: String) -> [UInt8] {
        Array(text.replacing("|", with: "\u{1e}").replacing("~", with: "\r\n").utf8)
    }

    private static func kind(_ words: [String]) -> TapeEvent.Kind {
        func rest(_ from: Int) -> [UInt8] { bytes(words.dropFirst(from).joined(separator: " ")) }
        switch words[0] {
        case "open": return .open(.init(session: words.count > 1 ? words[1] : nil))
        case "gone":
            return .gone(by: .init(rawValue: words[1])!, how: .init(rawValue: words[2])!, why: nil)
        case "close": return .close(words[1] == ">" ? .toServer : .toClient, code: UInt16(words[2]), reason: nil)
        case "text":
            return .message(words[1] == ">" ? .toServer : .toClient, .text, rest(2), deflated: false, fragments: [])
        case ">":
            let parts = (words.count > 3 ? words[3] : "").split(separator: " ", maxSplits: 1).map(String.init)
            return .request(x: UInt32(words[1])!, request(words[2], parts[0]), body(parts.count > 1 ? parts[1] : ""))
        case "<", "<!":
            let parts = words.count > 3 ? words[3...].joined(separator: " ") : ""
            return .response(
                x: UInt32(words[1])!, response(words[2]), body(parts), interim: false, coding: nil,
                proxy: words[0] == "<!")
        case ">>": return .chunk(x: UInt32(words[1])!, .toServer, rest(2))
        case "<<": return .chunk(x: UInt32(words[1])!, .toClient, rest(2))
        case ">.": return .end(x: UInt32(words[1])!, .toServer, trailers: [])
        default: return .end(x: UInt32(words[1])!, .toClient, trailers: [])
        }
    }

    private static func request(_ method: String, _ target: String) -> RequestHead {
        switch method {
        case "WS":
            RequestHead(
                method: "GET", target: target,
                headers: [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
        case "SSE":
            RequestHead(method: "GET", target: target, headers: [HeaderField("Accept", "text/event-stream")])
        default: RequestHead(method: method, target: target)
        }
    }

    /// `101`, `200`, `200s` for the head of an event stream, and `200j` for that of a JSON document.
    private static func response(_ status: String) -> ResponseHead {
        if status == "101" { return ResponseHead(status: 101, headers: [HeaderField("Upgrade", "websocket")]) }
        let types = ["s": "text/event-stream", "j": "application/json"]
        guard let type = types[String(status.suffix(1))] else { return ResponseHead(status: Int(status)!) }
        return ResponseHead(
            status: Int(status.dropLast())!,
            headers: [HeaderField("Content-Type", type), HeaderField("Transfer-Encoding", "chunked")])
    }

    private static func body(_ text: String) -> TapeEvent.Body {
        text.isEmpty ? .none : text == "..." ? .streamed : .whole(bytes(text))
    }

    static func negotiated(_ token: String) -> String {
        #"{"negotiateVersion":1,"connectionId":"i\#(token)","connectionToken":"\#(token)","availableTransports":[]}"#
    }
}
