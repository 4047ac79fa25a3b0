package import WiretapeWire

extension Attempt {
    /// The end of the attempt's connection, or of the attempt that got none.
    package struct End: Hashable, Sendable {
        package var time: UInt64
        package var by: Party
        package var how: Manner
        /// Why, where that is more than who and how: `client timeout 30s`.
        package var reason: String?

        package init(time: UInt64, by: Party, how: Manner, reason: String? = nil) {
            self.time = time
            self.by = by
            self.how = how
            self.reason = reason
        }

        /// Whether `time` is when the connection ended. False if the client gave up a silent connection without a close frame or FIN:
        /// then `time` is when the client reconnected.
        package var isDated: Bool { how != .givenUp }

        /// For people: `server: close 1000 (client timeout 30s)`.
        package var text: String { "\(by.text): \(how.text)" + (reason.map { " (\($0))" } ?? "") }
    }
}

extension Attempt.End {
    /// Who ended it.
    package enum Party: Hashable, Sendable {
        case client
        /// The tape's server, or that of live traffic.
        case server
        /// The replay by itself: the session diverged, or there is none.
        case replay
        /// The proxy by itself, which waits no longer for live traffic.
        case proxy
        /// The proxy, because what it would have to put together takes too much memory.
        case memory
        /// The rule of that name.
        case fault(String)

        /// As reports name it: `client`, `server`, `replay`, `wiretape`, `memory`, `fault:NAME`.
        package var text: String {
            switch self {
            case .client: "client"
            case .server: "server"
            case .replay: "replay"
            case .proxy: "wiretape"
            case .memory: "memory"
            case .fault(let rule): "fault:\(rule)"
            }
        }

        package var isRule: Bool {
            switch self {
            case .fault: true
            case .client, .server, .replay, .proxy, .memory: false
            }
        }
    }

    /// How it ended.
    package enum Manner: Hashable, Sendable {
        case reset
        case fin
        /// A close frame; nil: without a code.
        case close(UInt16?)
        /// An answer of that status.
        case status(Int)
        /// The client's own request that ends a session over HTTP.
        case farewell
        /// The client asked for another connection in its place.
        case replaced
        /// The client waited no longer for a connection that went silent.
        case givenUp
        /// The client polled no more.
        case timeout
        /// The client negotiated, and did not come.
        case noConnection
        /// The server forgot the session.
        case expired
        /// No answer came, or one that is none.
        case cut
        case malformed
        /// The TLS handshake failed.
        case tls

        package init(_ end: ConnectionEnd) {
            switch end {
            case .reset: self = .reset
            case .fin: self = .fin
            case .close(let code, _): self = .close(code)
            }
        }

        package init(_ end: ClientEnd) {
            switch end {
            case .closeFrame(let code, _): self = .close(code)
            case .fin: self = .fin
            case .rst: self = .reset
            }
        }

        /// As reports name it: `reset`, `fin`, `close`, `close 1011`, `503`, `given up`.
        package var text: String {
            switch self {
            case .reset: "reset"
            case .fin: "fin"
            case .close(let code): code.map { "close \($0)" } ?? "close"
            case .status(let status): "\(status)"
            case .farewell: "end"
            case .replaced: "replaced"
            case .givenUp: "given up"
            case .timeout: "timeout"
            case .noConnection: "no connection"
            case .expired: "expired"
            case .cut: "cut"
            case .malformed: "malformed"
            case .tls: "tls"
            }
        }
    }
}
