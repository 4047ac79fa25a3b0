internal import WiretapeAttempts
internal import WiretapeBytes

/// A client's attachment without a connection, which its next request may take up again: after a lost poll, or when the
/// protocol remembers what was sent. On long polling also one that is over, until a poll or its end has been told so.
struct ParkedLink: Sendable {
    var link: Link
    /// The session's connection has ended for good: only that is still to be told.
    var isOver: Bool
    /// When it is forgotten.
    let until: WireInstant
    /// The end of the connection, if the client does not come back: a poll that it gave up is none by itself.
    var end: End?

    struct End: Sendable {
        var how: Attempt.End.Manner
        var at: WireInstant
    }
}
