internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Atmosphere 2.x and 3.x, with the handshake of 2.0, over long polling, streaming, event streams, WebSockets and JSONP.
/// `docs/protocols/atmosphere.md` is the reference.
///
/// A session is a tracking id, whatever connections and transports carry it. A value sees what passes in its order; it
/// is told of every request that carries the session (``carried(by:)``), since each says anew how it wants its messages.
package struct AtmosphereCodec: FrameCodec {
    package static let id = "atmosphere"
    private static let types = MessageTypes(["Handshake", "Heartbeat", "Ack", "Message", "Padding"])
    package static func mayBeCalled(_ name: String) -> Bool { types.contains(name) }

    /// How the payloads of a request are cut.
    enum Carrier: Hashable, Sendable {
        case socket, events, poll, script
        /// Bytes as they come, in any split.
        case stream
    }

    /// Of the request that carries the session now.
    var carrier = Carrier.socket
    var wantsLengths = false
    var awaitsHandshake = false
    /// Nothing but blanks was seen on it: these.
    var isFresh = true
    var lead: [UInt8] = []
    /// Of a stream: what is not whole yet.
    var partial: [UInt8] = []
    var framer = LengthPrefixReader()

    /// What the server does about lengths when that is not what was asked for: before 2.4 it writes them in any case.
    var lengthsInAnyCase: Bool?
    /// Whether lengths were seen: then a message that begins with one has it from the server.
    var sawLengths = false
    /// Whether binary messages were seen: an event stream cannot carry them.
    var sawBinary = false
    var handshake: AtmosphereHandshake?
    /// The tracking id.
    var trackingID: String?
    /// What polls and streams begin with; nil until one was seen.
    var padding: [UInt8]?
    /// More of it may follow.
    var isPaddingOpen = false
    /// The blanks that the server sent first on a WebSocket. Nil if it sent none.
    var socketPadding: [UInt8]?
    /// Of the answers to polls and streams, where the application chose one.
    var contentTypes: [Carrier: String] = [:]
    /// The first time that the server gave a client to name what it has (2.0 and 2.1).
    var cacheDate: UInt64?
    /// Seconds between the server's heartbeats, when the client asked for some; 0: none.
    var heartbeat: Int?

    package init(_ opening: StreamOpening) { carried(by: opening) }

    package mutating func carried(by opening: StreamOpening) {
        let asked = AtmosphereRequest(opening.request)
        guard asked.isAtmosphere else { return }
        if let id = AtmosphereCodec.sessionKey(opening) { trackingID = id }
        switch AtmosphereCodec.kind(opening.request) {
        case .upgrade: carrier = .socket
        case .stream: carrier = asked.transport == .sse ? .events : .stream
        case .poll: carrier = asked.transport == .jsonp ? .script : .poll
        case .negotiate, .send, .operation, .end, .refresh, .preflight, .other: return
        }
        wantsLengths = asked.wantsLengths
        awaitsHandshake = asked.wantsHandshake
        if let seconds = asked.heartbeat { heartbeat = seconds }
        isFresh = true
        lead = []
        partial = []
        framer = LengthPrefixReader()
        guard let response = opening.response, response.status == 200 else { return }
        if let type = response.headers.first("Content-Type"), !awaitsHandshake { contentTypes[carrier] = type }
        if cacheDate == nil { cacheDate = response.headers.first("X-Cache-Date").flatMap { UInt64($0) } }
    }

    package var sessionID: String? { trackingID }

    /// Whether messages to the client have their length before them.
    var hasLengths: Bool { lengthsInAnyCase ?? wantsLengths }

    /// Whether the server is of the generation 2.0 or 2.1.
    var isOld: Bool { handshake?.form == .dated }

    /// What heartbeats consist of.
    var beat: [UInt8] { Array((handshake?.padding ?? "X").utf8) }

    package func withoutHistory() -> Self {
        var fresh = self
        (fresh.awaitsHandshake, fresh.partial, fresh.framer) = (false, [], LengthPrefixReader())
        return fresh
    }

    /// An event stream carries text only.
    package var transports: [Transport] { sawBinary ? [.ws, .stream, .lp] : [.ws, .sse, .stream, .lp] }

    package var obstacle: String? { nil }

    /// Heartbeats go out every 60 s, unless the client asked for other ones. Old servers send blanks every 30 s, and none
    /// to polls.
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        guard heartbeat != 0 else { return nil }
        let seconds = heartbeat.flatMap { UInt64(exactly: $0) } ?? (isOld ? 30 : 60)
        let every = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !every.overflow, !(isOld && (carrier == .poll || carrier == .script)) else { return nil }
        return (isOld ? AtmosphereCodec.blanks(8192) : lengthened(beat), .text, every.partialValue)
    }
}
