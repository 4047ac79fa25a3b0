package import WiretapeWire

/// What is to happen. Whoever owns the sockets carries it out.
package enum FaultEffect: Hashable, Sendable {
    // MARK: Ends: nothing follows them

    /// RST.
    case reset
    /// FIN without a close frame.
    case disconnect
    /// A close frame, then the end. Any code, also those that must not be on the wire.
    case close(code: UInt16?, reason: String)
    /// This answer instead of the right one.
    case respond(HTTPAnswer)
    /// An answer that is none: its head is not HTTP, or its body is cut.
    case malformed(MalformedPart?)
    /// An answer that sends the client to where it is, again and again.
    case redirectLoop
    /// RST when the client connects, or instead of an answer.
    case refuse
    /// Connections end, and new ones do not come about, for a while.
    case outage(Outage)

    // MARK: The answer to an upgrade

    case wrongAccept
    /// Nil: no subprotocol at all.
    case wrongSubprotocol(String?)

    // MARK: One message

    /// Something is done to it, or beside it.
    case message(MessageChange)

    // MARK: The connection

    case stall(Stall)
    case mute(MuteScope, for: UInt64?)
    /// Bytes a second.
    case throttle(UInt64, for: UInt64?)
    /// Writes of so many bytes, so many nanoseconds apart.
    case slice(Int, every: UInt64, for: UInt64?)

    // MARK: The session

    /// These transports stop working.
    case downgrade([Transport])
    /// The server forgets the session.
    case expire
    /// Sets the credential lifetime that the server reports.
    case lifetime(seconds: Int)

    // MARK: The TLS handshake

    case tls(TLSFault)

    /// What kind of thing it is. This is said here once for every effect: whoever folds, places or carries out effects asks
    /// for it.
    package var kind: Kind {
        switch self {
        case .reset, .refuse: .end(.reset)
        case .disconnect: .end(.fin)
        case .close(let code, let reason): .end(.close(code: code, reason: reason))
        case .outage(let outage): .outage(outage)
        case .respond, .malformed, .redirectLoop: .answer
        case .wrongAccept, .wrongSubprotocol: .upgrade
        case .message(let change): .message(change)
        case .stall, .mute, .throttle, .slice: .connection
        case .downgrade, .expire, .lifetime: .session
        case .tls(let fault): .handshake(fault)
        }
    }

    package enum Kind: Hashable, Sendable {
        /// The connection ends.
        case end(ConnectionEnd)
        /// Connections end, and new ones do not come about, for a while.
        case outage(Outage)
        /// Something else than the right answer to a request; nothing follows it.
        case answer
        /// The answer to an upgrade has something wrong in it.
        case upgrade
        /// Something is done to one message, or to what stands beside it.
        case message(MessageChange)
        /// The connection goes on otherwise than before.
        case connection
        /// The session goes on otherwise than before.
        case session
        /// Something goes wrong in the TLS handshake, before there is a connection.
        case handshake(TLSFault)
    }

    /// Whether nothing follows it.
    package var isTerminal: Bool {
        switch kind {
        case .end, .outage, .answer, .handshake(.alert): true
        case .upgrade, .message, .connection, .session, .handshake(.certificate): false
        }
    }

    /// What is true of what it does to a message or beside it; nil for everything else.
    private var traits: MessageChange.Traits? { if case .message(let change) = self { change.traits } else { nil } }

    /// Whether it is done to a message itself, and not to what is around it.
    package var changesMessage: Bool { traits?.isOfMessage ?? false }

    /// Whether it says what the other side gets of a message.
    var isContent: Bool { traits?.isContent ?? false }

    /// Whether only a server would see it, done to a message of the client.
    package var needsServer: Bool { traits?.needsServer ?? false }

    /// Whether there are more or fewer messages where it was done.
    package var changesCounts: Bool { traits?.changesCounts ?? false }

    /// Whether nothing of a message reaches the other side once it was done there, and no end did it.
    package func losesMessage(at place: Place) -> Bool {
        switch kind {
        case .message(let change): change.traits.losesMessage || change.traits.takesItsPlace && place == .instead
        case .connection, .session: place == .instead
        case .end, .outage, .answer, .upgrade, .handshake: false
        }
    }

    /// Whether it changes how the connection goes on.
    package var isOfConnection: Bool { kind == .connection }

    /// How long it lasts by itself, in nanoseconds; nil: until the connection ends, or no time at all.
    package var duration: UInt64? {
        switch self {
        case .stall(let stall): stall.duration
        case .mute(_, let duration), .throttle(_, let duration), .slice(_, _, let duration): duration
        case .reset, .disconnect, .close, .respond, .malformed, .redirectLoop, .refuse, .outage, .wrongAccept,
            .wrongSubprotocol, .message, .downgrade, .expire, .lifetime, .tls:
            nil
        }
    }

    package static func lasting(_ effects: [FaultEffect]) -> UInt64 {
        effects.compactMap(\.duration).reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    }
}

extension ConnectionEnd {
    /// The effect of a rule that wants it.
    package var effect: FaultEffect {
        switch self {
        case .reset: .reset
        case .fin: .disconnect
        case .close(let code, let reason): .close(code: code, reason: reason)
        }
    }
}

/// What of an answer is broken.
package enum MalformedPart: String, Hashable, Sendable, CaseIterable { case head, body }

/// Which keepalives stop.
package enum MuteScope: String, Hashable, Sendable, CaseIterable {
    case `protocol`, websocket, all

    package var coversProtocol: Bool { self != .websocket }
    package var coversWebSocket: Bool { self != .protocol }
}

/// A half-open connection: our reads, our writes or both stop, and the socket stays.
package struct Stall: Hashable, Sendable {
    package var reads = true
    package var writes = true
    /// Nanoseconds; nil: until the peer ends it.
    package var duration: UInt64?

    package init(reads: Bool = true, writes: Bool = true, duration: UInt64? = nil) {
        self.reads = reads
        self.writes = writes
        self.duration = duration
    }
}

/// The server is away for a while.
package struct Outage: Hashable, Sendable {
    /// Nanoseconds.
    package var duration: UInt64
    /// What becomes of the connections there are.
    package var cut = Cut.reset
    /// What new requests get; nil: RST on accept.
    package var answer: Int?

    package init(duration: UInt64, cut: Cut = .reset, answer: Int? = nil) {
        self.duration = duration
        self.cut = cut
        self.answer = answer
    }

    package enum Cut: Hashable, Sendable {
        case none, reset, disconnect, close(UInt16)

        /// As an end of a connection; nil for none.
        package var end: ConnectionEnd? {
            switch self {
            case .none: nil
            case .reset: .reset
            case .disconnect: .fin
            case .close(let code): .close(code: code, reason: "")
            }
        }
    }
}

/// The payload of another message, or changes to one.
package enum MessageEdit: Hashable, Sendable {
    /// The protocol's framing comes around it where it is JSON.
    case text(String)
    case bytes([UInt8])
    /// JSON Pointers and the values that come there.
    case members([Member])

    package struct Member: Hashable, Sendable {
        package var pointer: String
        package var value: JSONValue

        package init(_ pointer: String, _ value: JSONValue) {
            self.pointer = pointer
            self.value = value
        }
    }
}

/// How a message is damaged.
package enum Corruption: Hashable, Sendable {
    /// So many bits of the payload are flipped, so many bytes replaced.
    case bits(Int), bytes(Int)
    /// A byte that no UTF-8 has.
    case utf8
    /// The last closing bracket is lost.
    case json
    /// The length that is told is one more than that of the payload: of the frame, the chunk or the body.
    case length
    /// A server's frame is masked, a client's is not · RSV2 is set. WebSockets only.
    case mask, rsv

    /// Whether it damages the header and not the payload.
    package var isOfHeader: Bool {
        switch self {
        case .length, .mask, .rsv: true
        case .bits, .bytes, .utf8, .json: false
        }
    }
}
