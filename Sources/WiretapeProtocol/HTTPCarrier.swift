package import WiretapeMessages
package import WiretapeWire

/// How a protocol's messages travel in bodies, event streams, polls and parts. A protocol of WebSockets alone needs none of it:
/// everything has defaults.
package protocol HTTPCarrier: Sendable {
    /// What a request of an HTTP transport gets, in the protocol's own words and headers; lengths, dates and CORS are
    /// added by others.
    static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer
    /// Over which transport a request of kind `poll` or `stream` carries its session.
    static func transport(_ request: RequestHead) -> Transport
    /// How the answer to a request of kind `stream` makes payloads. Nil: it is no stream.
    static func framing(_ opening: StreamOpening) -> BodyFraming?
    /// The payload of an event.
    static func payload(of event: SSEEvent) -> [UInt8]
    /// The payload that a request of kind `send` carries; empty: none.
    static func payload(of request: StreamOpening) -> [UInt8]
    /// Appends one payload as it goes over a streamed answer: as an event, a part, or bytes with the protocol's framing.
    static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8])
    /// Where in a payload stands what a carrier shows of it: what is damaged there is seen as it is.
    static func content(of payload: [UInt8], on transport: Transport) -> Range<Int>
    /// The last bytes of a streamed answer before its proper end.
    static func closing(_ transport: Transport) -> [UInt8]
    /// What the end of an operation's exchange means: of the server, whose answer is whole, or of a client that has left
    /// before. Empty: the protocol has no exchanges of that kind.
    static var operationEnd: [UInt8] { get }
    /// Over which transports an operation's answer may go to the client that asks so, the preferred one first.
    /// - Parameter recorded: that of the answer on the tape.
    static func carriers(of operation: Message, for request: RequestHead, recorded: Transport) -> [Transport]
    /// Whether a negotiation only reserves an event stream. A client may reserve several and open one of them.
    static var reservesStreams: Bool { get }
    /// How the protocol's long polling works; nil: it has none.
    static var polling: Polling? { get }
    /// What a request of this session gets; by default what any request would.
    func answer(_ what: CarrierAnswer, to request: RequestHead, in place: CarrierPlace) -> HTTPAnswer
    /// How many of the last messages the request says that its client has not got.
    func missed(_ request: RequestHead, in place: CarrierPlace) -> Int
    /// Appends one payload of an operation's multipart answer: a part, or the end of the body.
    static func part(_ payload: Span<UInt8>, of answer: inout MultipartAnswer, into out: inout [UInt8])
    /// Whether all payloads that are due may share the answer to one poll.
    var joinsPayloads: Bool { get }
    /// The id of the last message that the client of an operation says it has. Nil: it says nothing of that.
    static func lastID(_ request: RequestHead) -> String?
    /// The id by which a client would name that message later; nil: it has none.
    static func id(of message: Message) -> String?
}

extension HTTPCarrier {
    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        HTTPAnswer(status: 404)
    }
    package static func framing(_ opening: StreamOpening) -> BodyFraming? {
        guard let type = opening.response?.headers.first("Content-Type") else { return nil }
        return type.lowercased().hasPrefix("text/event-stream") ? .events : nil
    }
    package static func payload(of event: SSEEvent) -> [UInt8] { event.data }
    package static func payload(of request: StreamOpening) -> [UInt8] { request.requestBody }
    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {}
    package static func content(of payload: [UInt8], on transport: Transport) -> Range<Int> { payload.indices }
    package static func closing(_ transport: Transport) -> [UInt8] { [] }
    package static var operationEnd: [UInt8] { [] }
    package static func carriers(of operation: Message, for request: RequestHead, recorded: Transport) -> [Transport] {
        []
    }
    package static var reservesStreams: Bool { false }
    package static var polling: Polling? { nil }
    package func answer(_ what: CarrierAnswer, to request: RequestHead, in place: CarrierPlace) -> HTTPAnswer {
        Self.answer(what, to: request)
    }
    package func missed(_ request: RequestHead, in place: CarrierPlace) -> Int { 0 }
    package static func part(_ payload: Span<UInt8>, of answer: inout MultipartAnswer, into out: inout [UInt8]) {
        answer.part(payload, isLast: false, into: &out)
    }
    package var joinsPayloads: Bool { true }
    package static func lastID(_ request: RequestHead) -> String? { nil }
    package static func id(of message: Message) -> String? { nil }
}

/// Where a session stands when one of its requests is answered.
package struct CarrierPlace: Hashable, Sendable {
    /// The id or token by which the client names it.
    package var id: String
    /// Messages that were given to the client, those of this answer among them.
    package var sent: Int

    package init(id: String, sent: Int = 0) {
        self.id = id
        self.sent = sent
    }
}
