package import WiretapeFaults

/// What somebody may do to a client connection while the run goes on.
package enum LiveAct: Hashable, Sendable {
    /// Ends it: `reset`, `disconnect` or `close`.
    case end(FaultEffect, text: String)
    case stall(Stall, text: String)
    case resume
    /// A message that is not on the tape, to the client.
    case inject(MessageEdit)
}

/// What became of it.
package enum LiveActOutcome: Hashable, Sendable {
    case done
    /// There is no such connection.
    case unknown
    /// It carries no session, and what was asked for needs one.
    case needsSession
    /// It carries no WebSocket, stream or poll that could be ended so.
    case impossible(String)
}
