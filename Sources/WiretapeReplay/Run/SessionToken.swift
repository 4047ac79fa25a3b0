internal import WiretapeProtocol

/// A token that a negotiation handed out.
struct SessionToken {
    /// Whose it is.
    var session: SessionRun
    /// The ids that were handed out with it.
    var ids: ServerIDs?
    /// It has been a connection's.
    var isUsed = false
    /// Its connection is gone for good, as the server would have it: what names it is answered that it is unknown.
    var isDead = false
}
