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

    case delay(Delay)
    case drop
    /// So many further copies.
    case duplicate(Int)
    /// It lets so many messages pass, but waits no longer than `patience` nanoseconds.
    case reorder(window: Int, patience: UInt64)
    case replace(MessageEdit)
    case inject(MessageEdit)
    case corrupt(Corruption)
    /// Only so many bytes of what carries it, then the end.
    case truncate(Int)

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

    // MARK: The TLS handshake

    case tls(TLSFault)

    package var isTerminal: Bool {
        switch self {
        case .reset, .disconnect, .close, .respond, .malformed, .redirectLoop, .refuse, .outage, .tls(.alert): true
        default: false
        }
    }

    /// Whether it is done to a message itself, and not to what is around it.
    package var changesMessage: Bool {
        switch self {
        case .delay, .drop, .duplicate, .reorder, .replace, .corrupt, .truncate: true
        default: false
        }
    }

    /// Whether it says what the other side gets of a message.
    var isContent: Bool {
        switch self {
        case .duplicate, .replace, .corrupt: true
        default: false
        }
    }

    /// How long it lasts by itself, in nanoseconds; nil: until the connection ends, or no time at all.
    package var duration: UInt64? {
        switch self {
        case .stall(let stall): stall.duration
        case .mute(_, let duration), .throttle(_, let duration), .slice(_, _, let duration): duration
        default: nil
        }
    }

    package static func lasting(_ effects: [FaultEffect]) -> UInt64 {
        effects.compactMap(\.duration).reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    }

    /// Whether it changes how the connection goes on.
    package var isOfConnection: Bool {
        switch self {
        case .stall, .mute, .throttle, .slice: true
        default: false
        }
    }

    /// Whether it changes how the connection or the session goes on.
    package var isEffect: Bool {
        switch self {
        case .stall, .mute, .throttle, .slice, .downgrade, .expire: true
        default: false
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
        package var verdict: FaultEffect? {
            switch self {
            case .none: nil
            case .reset: .reset
            case .disconnect: .disconnect
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
        default: false
        }
    }
}
