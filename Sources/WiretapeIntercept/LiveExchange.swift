internal import WiretapeBytes
package import WiretapeFaults
package import WiretapeMessages
package import WiretapePlayback
package import WiretapeProtocol
package import WiretapeWire

/// A request on its way through the proxy, and what is to become of it.
package final class LiveExchange {
    package let head: RequestHead
    package internal(set) var kind: ExchangeKind
    package let connection: UInt32
    /// The codec that knows the request; nil: it is of no session.
    package internal(set) var entry: CodecEntry?
    /// What the rules say to it.
    package internal(set) var fate: RequestFate?
    /// Answered in the server's place: the session is forgotten, or its transport has stopped working.
    /// Nil as an answer: RST.
    package internal(set) var refusal: (answer: HTTPAnswer?, by: String)?
    /// Of a poll: what the messages of an earlier one have brought.
    package internal(set) var awaited: AwaitedEnd?
    /// How a streamed answer makes payloads; known with its head.
    package internal(set) var framing: BodyFraming?
    var opening: StreamOpening
    var session: LiveSession?
    var carrier: LiveCarrier?
    let began: WireInstant
    var hasStep = false

    init(_ head: RequestHead, _ kind: ExchangeKind, _ entry: CodecEntry?, on connection: UInt32, at now: WireInstant) {
        self.head = head
        self.kind = kind
        self.entry = entry
        self.connection = connection
        began = now
        opening = StreamOpening(request: head)
    }

    /// Messages of its session to the client that let others pass, over HTTP.
    package var parked: ParkedMessages {
        get { carrier?.parked ?? ParkedMessages() }
        set { carrier?.parked = newValue }
    }

    /// Bytes of its bodies that are kept for as long as it is under way, and of messages that let others pass.
    package var heldCount: Int { opening.requestBody.count + opening.responseBody.count + parked.count }

    /// Whether the request's body is wanted whole: it carries messages.
    package var carriesMessages: Bool { kind == .send || kind == .operation }
    /// Whether the answer's body is wanted whole: it names the session, or carries messages.
    package var wantsAnswer: Bool { isAboutSession || kind == .poll || kind == .operation }
    /// Whether the answer's body describes the session itself and carries no messages.
    package var isAboutSession: Bool { kind == .negotiate || kind == .refresh }

    /// Over which transport it carries its session.
    package var transport: Transport {
        switch kind {
        case .upgrade: .ws
        case .poll, .stream, .operation: entry?.type.transport(head) ?? .http
        case .negotiate, .send, .end, .refresh, .preflight, .other: carrier?.transport ?? .http
        }
    }
}
