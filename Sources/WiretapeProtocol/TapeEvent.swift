package import WiretapeWire

/// One event of a tape: what arrived at the proxy, at the level of the transport. The format is `docs/tape-format.md`.
package struct TapeEvent: Hashable, Sendable {
    /// Nanoseconds since the header's `started` (or the last `take`), never smaller than that of the event before.
    package var time: UInt64
    /// 1, 2, … in the order of acceptance; 0 for events of no connection (`mark`, `take`, `gap`, `stop`).
    package var connection: UInt32
    package var kind: Kind

    package init(time: UInt64, connection: UInt32, _ kind: Kind) {
        self.time = time
        self.connection = connection
        self.kind = kind
    }

    package enum Kind: Hashable, Sendable {
        /// A client connection was accepted.
        case open(Open)
        /// `x` is the exchange's number within its connection.
        case request(x: UInt32, RequestHead, Body)
        /// `interim`: 1xx other than 101. `coding`: the content coding that was removed from the body.
        /// `proxy`: made by Wiretape itself, for instance 502 when the server is down.
        case response(x: UInt32, ResponseHead, Body, interim: Bool, coding: String?, proxy: Bool)
        /// A piece of a streamed body, as it arrived.
        case chunk(x: UInt32, Direction, [UInt8])
        /// The proper end of a streamed body.
        case end(x: UInt32, Direction, trailers: [HeaderField])
        /// One whole WebSocket message, unmasked and inflated. `fragments`: payload bytes of each frame when there were several.
        case message(Direction, Opcode, [UInt8], deflated: Bool, fragments: [Int])
        /// Piece `n` (from 0) of a message over 1 MiB or one that the end of the connection cut.
        case part(Direction, Opcode, n: Int, [UInt8], last: Bool)
        case ping(Direction, [UInt8])
        case pong(Direction, [UInt8])
        /// A close frame; no code when it was empty.
        case close(Direction, code: UInt16?, reason: String?)
        /// A WebSocket frame that belongs to no message, since it breaks the rules of RFC 6455 or cannot be inflated.
        case frame(Direction)
        /// The transport ended.
        case gone(by: Party, how: How, why: String?)
        /// What a rule did to event number `reference` on its way. `line`: of the message on the tape that was played.
        case fault(rule: String, action: String, reference: UInt64?, delivered: UInt64?, line: UInt64? = nil)
        case mark(String)
        /// A later recording appended to this tape: RFC 3339 time; `time` starts again.
        case take(started: String)
        /// Events that could not be stored.
        case gap(lost: UInt64)
        /// Bytes of this direction of the connection that nobody has: a capture did not see them. No `bytes`: how many is not known,
        /// since it began later.
        case missing(Direction, bytes: UInt64?)
        /// Proper end of a recording. `level`: the lowest compression level that overload forced.
        case stop(events: UInt64, connections: UInt64, level: Int?)
        /// A kind of a later version.
        case unknown(String)
    }

    package struct Open: Hashable, Sendable {
        package var from: String?
        package var to: String?
        package var upstream: String?
        package var tls: TLSInfo?
        /// A name given to the session.
        package var session: String?

        package init(
            from: String? = nil, to: String? = nil, upstream: String? = nil, tls: TLSInfo? = nil, session: String? = nil
        ) {
            self.from = from
            self.to = to
            self.upstream = upstream
            self.tls = tls
            self.session = session
        }
    }

    package struct TLSInfo: Hashable, Sendable {
        package var version: String?
        package var alpn: String?
        package var sni: String?
        /// Whom the certificate is for that the client has shown.
        package var client: String?

        package init(version: String? = nil, alpn: String? = nil, sni: String? = nil, client: String? = nil) {
            self.version = version
            self.alpn = alpn
            self.sni = sni
            self.client = client
        }
    }

    /// A body inline on the event, none, or one that follows in `chunk` events.
    package enum Body: Hashable, Sendable {
        case none
        case whole([UInt8])
        case streamed
    }

    package enum Party: String, Hashable, Sendable { case client, server, proxy }

    package enum How: String, Hashable, Sendable { case fin, rst, timeout, error }
}

extension TapeEvent.Kind {
    /// Bytes of the payload or body that the event carries.
    package var payloadCount: Int {
        switch self {
        case .request(_, _, let body), .response(_, _, let body, _, _, _): body.count
        case .chunk(_, _, let bytes), .ping(_, let bytes), .pong(_, let bytes): bytes.count
        case .message(_, _, let bytes, _, _), .part(_, _, _, let bytes, _): bytes.count
        case .open, .end, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop, .unknown: 0
        }
    }
}

extension TapeEvent.Body {
    fileprivate var count: Int {
        switch self {
        case .whole(let bytes): bytes.count
        case .none, .streamed: 0
        }
    }
}
