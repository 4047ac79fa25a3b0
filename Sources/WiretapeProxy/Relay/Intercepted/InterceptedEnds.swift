internal import WiretapeFaults
internal import WiretapeIntercept

/// The ends of an intercepted connection that are on their way.
struct InterceptedEnds {
    /// The one that a rule wants, and the exchange that it is about.
    var pending: (end: MessageFate.End, exchange: LiveExchange?)?
    /// Its rule has been told already: what lasts before the end has begun.
    var isTold = false
    /// The server has ended, and so does what the client gets.
    var toClient = false
    /// The client has ended, and so does what the server gets when it has what the client sent ahead.
    var toServer = false
}
