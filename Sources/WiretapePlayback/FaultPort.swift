package import WiretapeFaults
package import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

/// What ``FaultExecutor`` carries effects out on: a replay, or an intercepted connection. What an effect means is the
/// executor's; the port says how each thing is done where it is.
package protocol FaultPort {
    /// The connection, the session and the request that one firing is about, and what the port has to know beside them.
    associatedtype Site

    /// The request that is owed an answer; nil: there is none.
    func request(_ site: Site) -> (head: RequestHead, kind: ExchangeKind)?

    // MARK: Ends

    /// The connection ends; nothing follows.
    mutating func end(_ end: ConnectionEnd, _ site: inout Site)
    /// The request is answered with this.
    mutating func answer(_ answer: HTTPAnswer, _ site: inout Site)
    /// The request is answered with bytes that are no answer, and the connection ends behind them.
    mutating func sendRaw(_ bytes: [UInt8], _ site: inout Site)
    /// The server is away for everybody.
    mutating func begin(_ outage: Outage, _ site: inout Site)

    // MARK: What lasts. `time` is in nanoseconds; nil: until the connection ends.

    mutating func stall(_ stall: Stall, _ site: inout Site)
    /// Keepalives are left out.
    mutating func mute(_ scope: MuteScope, for time: UInt64?, _ site: inout Site)
    /// What is said leaves at that pace.
    mutating func pace(_ pace: WritePacer.Pace, for time: UInt64?, _ site: inout Site)

    // MARK: The session

    /// These transports have stopped working for it.
    mutating func withdraw(_ transports: [Transport], _ site: inout Site)
    /// The server has forgotten it.
    mutating func expire(_ site: inout Site)
    /// Sets the credential lifetime that the server reports for the session, in seconds.
    mutating func setLifetime(_ seconds: Int, _ site: inout Site)
}

/// What ``FaultExecutor`` delivers a message through that rules have something to say about.
package protocol MessagePort {
    /// The message, whose it is, and what the port has to know beside them.
    associatedtype Delivery

    /// What comes next waits so many nanoseconds.
    mutating func wait(_ gap: UInt64, _ delivery: inout Delivery)
    /// A message that nobody has said.
    mutating func inject(_ edit: MessageEdit, _ delivery: inout Delivery)
    /// What lasts begins before or behind the message.
    mutating func begin(_ effects: [FaultEffect], _ place: Place, _ delivery: inout Delivery)
    /// The payloads that are the message as it would go out: mostly one. Asked once, and only when something of it goes out.
    mutating func takePayloads(_ delivery: inout Delivery) -> [OutboundPayload]
    /// The payload goes out.
    /// - Parameter isCopy: it is one more than there were.
    mutating func send(_ payload: OutboundPayload, isCopy: Bool, _ delivery: inout Delivery)
    /// So many bytes of what carries the payloads go out, and nothing behind them.
    mutating func cut(_ payloads: [OutboundPayload], after count: Int, _ delivery: inout Delivery)
    /// The payload lets others pass.
    mutating func park(_ payload: OutboundPayload, _ reorder: MessageFate.Reorder, _ delivery: inout Delivery)
    /// All of the message has been given away.
    mutating func delivered(_ delivery: inout Delivery)
    /// The message does not reach the other side.
    mutating func lose(_ delivery: inout Delivery)
    /// Nothing more is done to the message.
    /// - Parameters:
    ///   - end: the connection's end, which follows; nil: it goes on.
    ///   - gap: nanoseconds from here to that end.
    mutating func finish(_ end: MessageFate.End?, after gap: UInt64, _ delivery: inout Delivery)
}
