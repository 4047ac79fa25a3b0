internal import WiretapeMessages
package import WiretapeWire

extension SessionReader {
    /// How long a negotiation that sent its client on waits for the client to follow, in nanoseconds.
    private static let redirectTime: UInt64 = 60_000_000_000

    /// A negotiation with its whole answer. False when it is none.
    mutating func negotiated(_ exchange: Exchange, at place: Place) -> Bool {
        let opening = exchange.opening
        for entry in codecs where entry.type.kind(opening.request) == .negotiate {
            guard entry.type.claim(opening) >= .likely else { continue }
            let before = redirects(to: opening.request, entry, at: place)
            let redirects = before.map(\.opening)
            let asked = before + recorded(negotiation: exchange, entry, at: place)
            if let redirection = entry.type.redirection(opening) {
                redirected.append(
                    Redirected(codec: entry.id, redirection: redirection, chain: asked, time: place.time))
                if redirected.count > SessionReader.exchangeLimit { forget(redirected.prefix(redirected.count / 2)) }
            } else if let key = entry.type.sessionKey(opening), (200..<300).contains(opening.response?.status ?? 200) {
                remember(
                    Prospect(
                        negotiation: opening, redirects: redirects, ids: entry.type.serverIDs(opening), asked: asked),
                    Key(codec: entry.id, key: key))
            } else {
                let prospect = Prospect(negotiation: opening, redirects: redirects, asked: asked)
                refuse(entry, .http, opening, prospect, at: place)
            }
            return true
        }
        return false
    }

    private mutating func remember(_ prospect: Prospect, _ key: Key) {
        if let index = session(named: key), building[index].session.negotiate == nil {
            // The answer was written behind the stream that it led to.
            building[index].session.negotiate = prospect.negotiation
            building[index].session.redirects = prospect.redirects
            building[index].session.serverIDs = prospect.ids
            for request in prospect.asked { belongs(request.event, index, isOpening: true) }
            return
        }
        var prospect = prospect
        if let stranger = strangers[key] { prospect.carrier = stranger.carrier }
        strangers[key] = nil
        prospects[key] = prospect
    }

    /// The negotiations that sent a client to this request, taken away. One that gave the credential that is shown comes
    /// first, then the oldest.
    package mutating func redirects(to request: RequestHead, _ entry: CodecEntry, at place: Place) -> [RecordedExchange]
    {
        guard !redirected.isEmpty else { return [] }
        forget(redirected.prefix { place.time > $0.time && place.time - $0.time > SessionReader.redirectTime })
        let route = entry.type.route(request)
        let items = request.query
        let fitting = redirected.indices.filter { i in
            guard redirected[i].codec == entry.id else { return false }
            let wanted = RequestHead(method: "GET", target: redirected[i].redirection.target)
            guard entry.type.route(wanted) == route else { return false }
            return wanted.query.allSatisfy { item in
                entry.type.volatileQuery.contains { equalIgnoringCase($0, item.name) }
                    || items.contains { $0.name == item.name && $0.value == item.value }
            }
        }
        let shown = fitting.first { i in
            guard let credential = redirected[i].redirection.credential else { return false }
            return items.contains { $0.value == credential }
                || request.headers.all("Authorization").contains { $0.hasSuffix(" " + credential) }
        }
        guard let i = shown ?? fitting.first else { return [] }
        return redirected.remove(at: i).chain
    }

    // MARK: What nothing followed

    /// The negotiation as an ordinary exchange.
    private func recorded(negotiation: Exchange, _ entry: CodecEntry, at place: Place) -> [RecordedExchange] {
        guard let response = negotiation.opening.response else { return [] }
        var exchange = recorded(negotiation, response, at: place)
        exchange.isNegotiation = true
        exchange.volatileQuery = entry.type.volatileQuery
        return [exchange]
    }

    /// Negotiations that nothing has followed yet, in no order.
    var unfollowed: [RecordedExchange] {
        guard keepsEntries else { return [] }
        let alone = prospects.values.filter { $0.carrier.opening == nil && !$0.isRefused }
        return alone.flatMap(\.asked) + redirected.flatMap(\.chain)
    }

    /// Nothing that comes now follows the oldest of those that were sent on.
    private mutating func forget(_ oldest: ArraySlice<Redirected>) {
        if keepsEntries { plain += oldest.flatMap(\.chain).map { Plain(exchange: $0, names: []) } }
        redirected.removeFirst(oldest.count)
    }

    // MARK: Refusals

    /// An opening that was answered with something else.
    /// - Parameter name: of the negotiation that it followed; nil for a WebSocket without one.
    mutating func refused(_ exchange: Exchange, by name: Name?, at place: Place) {
        if let name {
            // The negotiation stays: a client may try again with its token.
            guard let prospect = prospects[name.key] else { return }
            prospects[name.key]?.isRefused = true
            let transport: Transport =
                switch name.kind {
                case .stream, .poll: name.codec.type.transport(exchange.opening.request)
                case .negotiate, .upgrade, .send, .operation, .end, .refresh, .preflight, .other: .ws
                }
            return refuse(name.codec, transport, exchange.opening, prospect, at: place)
        }
        let claims = codecs.filter { $0.type.kind(exchange.opening.request) == .upgrade }
        guard let entry = claims.max(by: { $0.type.claim(exchange.opening) < $1.type.claim(exchange.opening) }) else {
            return
        }
        let before = redirects(to: exchange.opening.request, entry, at: place)
        let prospect = Prospect(redirects: before.map(\.opening), asked: before)
        refuse(entry, .ws, exchange.opening, prospect, at: place)
        building[building.count - 1].isGuessed = true
    }

    mutating func refuse(
        _ entry: CodecEntry, _ transport: Transport, _ opening: StreamOpening, _ prospect: Prospect, at place: Place
    ) {
        guard let response = opening.response else { return }
        let index = begin(entry, transport, opening, prospect, at: place)
        building[index].session.refusal = .init(
            response, body: Array(opening.responseBody.prefix(SessionReader.bodyLimit)))
    }
}
