package import WiretapeWire

/// A situation of an HTTP transport that the protocol has its own answer to.
package enum CarrierAnswer: Hashable, Sendable {
    /// The poll that opens the session, when it is answered at once.
    case pollOpened
    /// A poll begins to wait: the head of its answer and first bytes, where they go out before there is a message.
    case pollBegun
    /// A poll gets these whole messages.
    case poll([UInt8], Opcode)
    /// The server's own time-out of a poll.
    case pollEmpty
    /// The session is over: no further poll.
    case pollEnd
    /// A newer poll has taken this one's place.
    case pollSuperseded
    /// The head of an event stream and its first bytes.
    case stream
    /// The head of the answer to an operation over that transport, and the first bytes of a streamed one but for those of a
    /// multipart body, whose boundary the head names.
    /// - Parameter recorded: its head on the tape, when it came over the same transport.
    case operation(Transport, recorded: ResponseHead?)
    /// Messages of the client were taken.
    case sent
    /// The client's request to end the session was taken.
    case ended
    /// The request names no session · one that is not known · one that is on another transport already · one whose
    /// connection is in use · this transport is not offered · the method is not allowed there.
    case missingID, unknownID, wrongTransport, conflict, notOffered, notAllowed
}
