internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeWire

/// Something that happens between the bytes of a held connection.
enum QueueMark {
    /// FIN.
    case fin
    /// The end that a rule wants.
    case end(MessageFate.End, LiveExchange?)
    /// The end that a rule about a send wants for its session, which another connection carries.
    case sessionEnd(MessageFate.End, LiveExchange)
    /// What a rule changes from here on.
    case effects([FaultEffect], LiveExchange?, Direction?, rule: String)
}
