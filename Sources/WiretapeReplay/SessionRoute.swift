internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// Recorded sessions that the same requests ask for: path, protocol, subprotocol and stable query agree. Worked out once.
struct SessionRoute: Sendable {
    /// What the requests look like.
    struct Look: Hashable, Sendable {
        /// The upstream whose listeners serve it; nil: every listener.
        var upstream: String?
        var codec: String
        var subprotocol: String?
        /// Those of other dialects in which its sessions can be served.
        var others: [String] = []
        /// Whether a server has answered that: a client that offers none is served where none did.
        var isAnswered: Bool
        /// Its sessions are single exchanges.
        var isOperation: Bool
        /// Negotiations that send the client elsewhere, in order, and the session's own one.
        var negotiations: [Place]
        /// The request that opens the transport.
        var opening: Place
    }

    struct Place: Hashable, Sendable {
        var path: String
        var query: StableQuery
    }

    let look: Look
    /// Where the session begins.
    let path: String
    /// In recorded order.
    var sessions: [SessionLibrary.ID] = []

    init(_ look: Look, path: String) {
        self.look = look
        self.path = path
    }

    static func look(of session: RecordedSession, _ upstreams: Upstreams, _ ignore: [IgnoreRule] = []) -> Look {
        let type = session.codec.type
        let place = { (request: RequestHead, path: String) in
            let ignored = StableQuery.ignored(ignore, request.method, [path, request.path])
            return Place(
                path: path,
                query: StableQuery(recorded: request, volatile: type.volatileQuery, ignoring: ignored))
        }
        // Without a redirect everything has the session's own path, which sparse tapes tell.
        let isRedirected = !session.redirects.isEmpty
        let own = { (request: RequestHead) in isRedirected ? type.route(request) : session.route }
        let opening = place(session.opening.request, own(session.opening.request))
        return Look(
            upstream: upstreams.home(of: session.upstream), codec: session.codec.id,
            subprotocol: session.subprotocol,
            others: session.subprotocol == nil ? [] : session.writer.otherSubprotocols,
            isAnswered: session.opening.response != nil,
            isOperation: session.isOperation,
            negotiations: session.redirects.map { place($0.request, type.route($0.request)) }
                + [session.negotiate.map { place($0.request, own($0.request)) } ?? opening],
            opening: opening)
    }
}
