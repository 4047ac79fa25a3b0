package import WiretapeFaults
package import WiretapePlayback
package import WiretapeWire

/// What the replay server does next for the engine. Actions of one connection are done in order.
package enum ReplayAction: Hashable, Sendable {
    /// Answers the request that the connection made. `thenClose`: FIN after it. With a ticket
    /// ``ReplayEngine/handedOver(_:ticket:at:into:)`` follows when the kernel has all of it.
    case respond(ConnectionID, HTTPAnswer, thenClose: Bool, ticket: UInt64? = nil)
    /// Answers the request with a head, these first bytes and a body that goes on: chunked, or until FIN for HTTP/1.0.
    case beginStream(ConnectionID, HTTPAnswer)
    /// The next bytes of that body, as one chunk; `handedOver` follows.
    case piece(ConnectionID, [UInt8], ticket: UInt64)
    /// The body's proper end; the connection goes on.
    case endStream(ConnectionID)
    /// Answers an upgrade with 101 and these further headers (subprotocol, CORS); the accept key is the server's business.
    /// `accept`: instead of the right key. `deflate`: what the headers agree on.
    case upgrade(ConnectionID, headers: [HeaderField], accept: String? = nil, deflate: DeflateParameters? = nil)
    /// One WebSocket message. ``ReplayEngine/handedOver(_:ticket:at:into:)`` follows when the kernel has all of it.
    /// `deflated`: compressed where the upgrade agreed on that.
    case send(ConnectionID, Opcode, [UInt8], ticket: UInt64, deflated: Bool = false, frames: MessageFrames = .one)
    /// These bytes as they are: a damaged frame or chunk, or something that is no answer. A request that is owed an answer
    /// has it by that. With a ticket `handedOver` follows.
    case raw(ConnectionID, [UInt8], ticket: UInt64? = nil)
    /// Of everything that is said on the connection from now on only so many bytes leave; the rest is lost.
    case limit(ConnectionID, bytes: Int)
    /// How everything that is said leaves from now on.
    case pace(ConnectionID, WritePacer.Pace)
    /// Nothing leaves for so many nanoseconds.
    case hold(ConnectionID, for: UInt64)
    /// Half-open until told otherwise: nothing is read, nothing leaves. The client's end is still told.
    case stall(ConnectionID, reads: Bool, writes: Bool)
    /// Whether pings are left without an answer.
    case mute(ConnectionID, Bool)
    /// A close frame with whatever code. The server waits for the client's close frame or FIN for up to 5 s, then sends FIN.
    case closeFrame(ConnectionID, code: UInt16?, reason: String)
    /// FIN without a close frame, after what is queued.
    case disconnect(ConnectionID)
    /// RST, now.
    case reset(ConnectionID)
    /// Wants ``ReplayEngine/acknowledged(_:ticket:complete:at:into:)`` once the peer's kernel has acknowledged every byte
    /// written on the connection so far (answers and upgrades included), or after 5 s without any progress.
    case awaitAcknowledged(ConnectionID, ticket: UInt64)
    /// Gives the request that the connection made to `--upstream`, and everything after it on this connection.
    case passThrough(ConnectionID)
    /// For the tape of the run: what a rule did on the connection (0: on none in particular), which session it carries.
    case note(ConnectionID, TapeNote)
    /// A line for people, for stderr.
    case log(String)
}

/// What the tape of a run tells beside what passed.
package enum TapeNote: Hashable, Sendable {
    case fault(FaultNote)
    case carries(session: Int, run: Int, policy: String?)
}

/// A client connection of the replay server: 1, 2, … in the order of acceptance.
package typealias ConnectionID = UInt32
