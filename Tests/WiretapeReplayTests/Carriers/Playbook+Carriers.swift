import Testing
import WiretapeReplay
import WiretapeWire

/// Clients of event streams and long polling.
extension Playbook {
    /// Negotiates, opens long polling and shakes hands; `poll` waits.
    func startPolling(_ route: String = "/chat") throws -> (token: String, poll: ConnectionID) {
        let token = try #require(negotiate(route))
        let first = poll(token, route)
        try #require(take(first) == ["200 "])
        poll(token, route, on: first)
        try #require(post(token, #"{"protocol":"json","version":1}"#, route) == ["200 "])
        pass(ms: 1)
        try #require(take(first) == ["200 {}\u{1e}"])
        poll(token, route, on: first)
        return (token, first)
    }

    /// A poll on a connection of its own.
    func poll(_ token: String, _ route: String = "/chat") -> ConnectionID {
        request("GET", "\(route)?id=\(token)&_=17")
    }

    /// A further poll on the same connection.
    func poll(_ token: String, _ route: String = "/chat", on c: ConnectionID) {
        ask(c, "GET", "\(route)?id=\(token)&_=17")
    }

    /// Negotiates, opens an event stream and shakes hands.
    func startStream(_ route: String = "/chat") throws -> (token: String, stream: ConnectionID) {
        let token = try #require(negotiate(route))
        let c = stream(token, route)
        try #require(take(c) == ["200 …"])
        try #require(post(token, #"{"protocol":"json","version":1}"#, route) == ["200 "])
        pass(ms: 1)
        try #require(take(c) == [Playbook.event("{}")])
        return (token, c)
    }

    func stream(_ token: String, _ route: String = "/chat") -> ConnectionID {
        request("GET", "\(route)?id=\(token)", [HeaderField("Accept", "text/event-stream")])
    }

    /// Records of the client over HTTP, on a connection of their own; what was answered.
    func post(_ token: String, _ records: String, _ route: String = "/chat") -> [String] {
        let c = request("POST", "\(route)?id=\(token)", body: TestTape.bytes(records))
        return take(c)
    }

    static func event(_ records: String) -> String {
        "data: \(String(decoding: TestTape.bytes(records), as: UTF8.self))\r\n\r\n"
    }

    /// The body of a poll.
    static func body(_ records: String) -> String {
        "200 \(String(decoding: TestTape.bytes(records), as: UTF8.self))"
    }
}
