internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// How a client's connection stands towards the limits of the server that replay plays.
struct ServerWatch: Sendable {
    let limits: ServerLimits
    /// The client's time to open the conversation began.
    private var opened: WireInstant
    /// The client's handshake has come, or it has none to send.
    private(set) var isOpen: Bool
    private var counts: Bool
    private var heard: WireInstant
    /// The first ping of ours since the client was heard.
    private var asked: WireInstant?

    init(_ limits: ServerLimits, isOpen: Bool, at now: WireInstant) {
        self.limits = limits
        self.isOpen = isOpen
        opened = now
        heard = now
        counts = isOpen && !limits.countsFromKeepalive
    }

    /// Something came from the client.
    mutating func heard(at now: WireInstant) {
        heard = max(heard, now)
        asked = nil
    }

    /// - Returns: the limit that the message is over.
    mutating func heard(_ message: Message, at now: WireInstant) -> ServerLimits.Limit? {
        heard(at: now)
        if let most = limits.message, message.bytes.count > most { return .message }
        if message.role == .handshake { isOpen = true }
        if !limits.countsFromKeepalive { counts = isOpen } else if message.role == .keepalive { counts = true }
        return nil
    }

    /// A keepalive of ours went out.
    mutating func asked(at now: WireInstant) { asked = asked ?? now }

    /// The client could not speak, or was not expected to: its time begins anew.
    mutating func excuse(at now: WireInstant) {
        opened = max(opened, now)
        heard(at: now)
    }

    /// When the server's patience ends, and over what; nil: it does not.
    var due: (at: WireInstant, limit: ServerLimits.Limit)? {
        if !isOpen { return limits.handshake.map { (opened.advanced(by: $0), .handshake) } }
        guard counts, let silence = limits.silence else { return nil }
        guard let pong = limits.pong else { return (heard.advanced(by: silence), .silence) }
        guard let asked else { return nil }
        return (max(heard.advanced(by: silence), asked).advanced(by: pong), .pong)
    }
}
