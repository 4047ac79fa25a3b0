internal import WiretapeAttempts
internal import WiretapeWire

/// A client's session as the proxy sees it go by, over all of its attempts and connections.
final class LiveSession: CountsAttempts {
    let number: Int
    /// Who asks: see ``LiveClient/identity``.
    let identity: String
    /// Of the codec; empty until one is known.
    var protocolID = ""
    var transports: [Transport] = []
    var log = AttemptLog() { didSet { note() } }
    /// Where it tells that it was changed; nil: nobody follows the run.
    private let changes: ChangedSessions?
    var isNoted = false
    var told = ToldSession()
    var requests = 0
    var toServer = 0, toClient = 0
    /// Connections so far: the ordinal of the current one.
    var connections = 0
    /// What carries it now.
    var carrier: LiveCarrier?
    /// The last carrier, kept until the next connection. Messages that the client sent before it noticed the end still arrive.
    var lost: LiveCarrier?
    var speech = ClientSpeech()
    /// The token from the client's last negotiation. Nil if the client has not negotiated.
    var token: String?
    /// The answer to its last negotiation sent the client to another one.
    var isRedirected = false
    /// Transports that have stopped working.
    var downgraded: Set<Transport> = []
    var credentials = CredentialTimes()
    /// The lifetime of the credential that a rule sets, in seconds. Nil: the server's.
    var lifetime: Int?

    init(number: Int, identity: String, _ changes: ChangedSessions?) {
        self.changes = changes
        self.number = number
        self.identity = identity
    }

    var isConnected: Bool { carrier != nil }

    private func note() {
        guard let changes, !isNoted else { return }
        isNoted = true
        changes.sessions.append(self)
    }
}
