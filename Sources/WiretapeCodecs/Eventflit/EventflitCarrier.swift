internal import WiretapeWire

/// What a request's path says: the application's key, and over HTTP the client's session and the kind of call, as in
/// `/eventflit/app/KEY/123/abcdefgh/xhr_streaming`.
struct EventflitCarrier: Hashable, Sendable {
    enum Call: String, Hashable, Sendable {
        case stream = "xhr_streaming"
        case poll = "xhr"
        case send = "xhr_send"
    }

    var key: String?
    /// `123/abcdefgh`, which the client made up; nil over WebSockets.
    var session: String?
    var call: Call?
    var route: String
    var client: EventflitClient

    var isHTTP: Bool { session != nil }

    init(_ request: RequestHead) {
        let path = request.path
        client = EventflitClient(request)
        route = path
        let parts = path.split(separator: "/").map(String.init)
        if parts.count >= 5, let call = Call(rawValue: parts[parts.count - 1]), parts[parts.count - 5] == "app",
            !parts[parts.count - 3].isEmpty, parts[parts.count - 3].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        {
            key = parts[parts.count - 4]
            session = "\(parts[parts.count - 3])/\(parts[parts.count - 2])"
            self.call = call
            route = "/app/\(parts[parts.count - 4])"
        } else if parts.count >= 2, parts[parts.count - 2] == "app" {
            key = parts[parts.count - 1]
        }
    }
}
