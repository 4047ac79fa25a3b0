internal import WiretapeWire

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
