internal import WiretapeFaults
internal import WiretapeIntercept

/// The ends of an intercepted connection that are on their way.
struct InterceptedEnds {
    /// The one that a rule wants, and the exchange that it is about.
    private(set) var pending: (end: MessageFate.End, exchange: LiveExchange?)?
    /// Its rule has been told already: what lasts before the end has begun.
    private(set) var isTold = false
    /// The server has ended, and so does what the client gets.
    private(set) var toClient = false
    /// The client has ended, and so does what the server gets when it has what the client sent ahead.
    private(set) var toServer = false

    /// A rule wants an end. It has not been told.
    mutating func begins() { isTold = false }

    /// It is one that nothing stands behind, until it is settled.
    mutating func awaits(_ end: MessageFate.End, of exchange: LiveExchange?) {
        pending = (end, exchange)
        isTold = false
    }

    /// Its rule is told before it is there.
    mutating func tells() { isTold = true }

    /// It has come, or it comes too late.
    mutating func settles() { pending = nil }

    /// - Parameter isOwed: whether something stands before it that the server has not got yet.
    mutating func clientEnded(isOwed: Bool) { toServer = isOwed }

    /// The server gets the client's end.
    mutating func serverHears() { toServer = false }

    mutating func serverEnded() { toClient = true }
}
