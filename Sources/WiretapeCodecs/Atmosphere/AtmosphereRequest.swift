internal import WiretapeWire

/// What a request says in the protocol's parameters. Servers make a header of every query item before they look at
/// anything, so that either counts; names are compared without case.
struct AtmosphereRequest {
    /// The transports that clients name.
    enum Transport: String {
        case longPolling = "long_polling"
        case streaming, sse, websocket, jsonp, polling, close
        /// A name that servers do not know, or none: answered at once with nothing.
        case undefined
    }

    private let items: [(name: String, value: String)]
    private let headers: [HeaderField]
    let transport: Transport

    init(_ head: RequestHead) {
        let items = head.query
        self.items = items
        headers = head.headers
        if let name = AtmosphereRequest.value("X-Atmosphere-Transport", items, head.headers) {
            transport = Transport(rawValue: name.lowercased().replacing("-", with: "_")) ?? .undefined
        } else {
            let takesEvents = head.headers.all("Accept").contains { $0.contains("text/event-stream") }
            transport = takesEvents ? .sse : .undefined
        }
    }

    /// The value of a parameter; nil when it is not there.
    subscript(_ name: String) -> String? { AtmosphereRequest.value(name, items, headers) }

    private static func value(
        _ name: String, _ items: [(name: String, value: String)], _ headers: [HeaderField]
    ) -> String? {
        items.first { equalIgnoringCase($0.name, name) }?.value ?? headers.first(name)
    }

    var isAtmosphere: Bool { AtmosphereRequest.signs.contains { self[$0] != nil } }

    /// One of them is in every request of every client.
    private static let signs = ["X-Atmosphere-Transport", "X-Atmosphere-tracking-id", "X-Atmosphere-Framework"]

    /// The tracking id; nil for none and for `0`, with which a client begins.
    var id: String? {
        guard let id = self["X-Atmosphere-tracking-id"], !id.isEmpty, id != "0" else { return nil }
        return id
    }

    /// Whether the first data of the answer is the handshake. The value of `X-atmo-protocol` does not matter, and an absent
    /// id is not `0`.
    var wantsHandshake: Bool { self["X-atmo-protocol"] != nil && self["X-Atmosphere-tracking-id"] == "0" }

    /// Whether the client asks for lengths before messages.
    var wantsLengths: Bool { self["X-Atmosphere-TrackMessageSize"].map { equalIgnoringCase($0, "true") } ?? false }

    /// Seconds between heartbeats of the server that the client asks for.
    var heartbeat: Int? { self["X-Heartbeat-Server"].flatMap { Int($0) } }

    /// A message in the query (JSONP).
    var postBody: String? { items.first { equalIgnoringCase($0.name, "X-Atmosphere-Post-Body") }?.value }

    /// The time of the last message that the client has, as the server named it (2.0 and 2.1).
    var cacheDate: UInt64? { self["X-Cache-Date"].flatMap { UInt64($0) } }

    /// The function that a JSONP answer calls: letters and digits only, as servers write it.
    var callback: String {
        let name = self["jsonpTransport"] ?? ""
        return String(name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }
}
