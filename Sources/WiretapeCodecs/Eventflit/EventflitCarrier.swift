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

/// What a client says of itself when it connects: `?protocol=7&client=js&version=8.6.0`. The server speaks first, so that
/// nothing else tells which prefix the client wants.
struct EventflitClient: Hashable, Sendable {
    let name: String
    let version: String
    /// The HTTP fallbacks have the prefix in their path.
    private let path: String?

    init(_ request: RequestHead) {
        let item = { (name: String) in request.query.first { $0.name == name }?.value ?? "" }
        name = item("client").lowercased()
        version = item("version")
        let parts = request.path.split(separator: "/")
        let app = parts.lastIndex(of: "app") ?? 0
        path = app > 0 ? parts[app - 1].lowercased() : nil
    }

    /// Nil when it cannot be told. Both JavaScript clients call themselves `js`: Eventflit's has versions 1.0, and
    /// Pusher's has had higher ones since protocol 6.
    var dialect: String? {
        if let path, EventflitEvent.dialects.contains(path) { return path }
        if name.contains("eventflit") { return EventflitEvent.eventflit }
        if name.contains("pusher") || name == "pysher" { return EventflitEvent.pusher }
        guard name == "js", let major = Int(version.prefix { $0 != "." }) else { return nil }
        return major > 1 ? EventflitEvent.pusher : EventflitEvent.eventflit
    }
}
