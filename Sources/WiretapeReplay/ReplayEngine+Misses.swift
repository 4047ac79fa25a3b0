internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// Nothing on the tape answers the request: `--on-miss` says what it gets.
    mutating func miss(_ connection: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]) {
        miss(connection, head, missText(head), into: &out)
    }

    /// No session has the client's name.
    mutating func unknownName(
        _ name: String, _ connection: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]
    ) {
        let names = library.table.names(at: upstream(of: connection))
        let hint = NearestName.hint(name, among: names)
        let text =
            "no session of \(tapeName)\(atUpstream) is named '\(name)'. It has: \(listed(names))\(hint.isEmpty ? "." : hint)"
        miss(connection, head, text, into: &out)
    }

    private mutating func miss(
        _ connection: ConnectionID, _ head: RequestHead, _ text: String, into out: inout [ReplayAction]
    ) {
        switch options.routing.onMiss {
        case .passthrough: out.append(.passThrough(connection))
        case .record: _ = recordsAnew(connection, into: &out)
        case .status(let status):
            let answer = status == 204 || status == 304 ? HTTPAnswer(status: status) : plain(status, text)
            out.append(.respond(connection, answer.readable(by: head), thenClose: false))
        case .fail:
            unanswered(connection, head, 404, text, into: &out)
        }
    }

    /// What the tape lacks goes to the upstream, and comes onto the tape, under `auto --record-mode new-episodes`.
    /// - Returns: whether it does; then nothing else is to be done with the request.
    mutating func recordsAnew(_ connection: ConnectionID, into out: inout [ReplayAction]) -> Bool {
        guard options.routing.onMiss == .record else { return false }
        record.passOn()
        out.append(.passThrough(connection))
        return true
    }

    /// A request of a session that this run has begun with the upstream: nobody here gave its id out.
    mutating func recordsAnew(_ key: String, _ connection: ConnectionID, into out: inout [ReplayAction]) -> Bool {
        ids[key] == nil && recordsAnew(connection, into: &out)
    }

    /// A request that the tape cannot answer is a divergence, unless divergences are ignored. Under `stall` it gets
    /// nothing.
    mutating func unanswered(
        _ connection: ConnectionID, _ head: RequestHead, _ status: Int, _ text: String, into out: inout [ReplayAction]
    ) {
        if options.onDivergence == .ignore {
            out.append(.log("wiretape: \(text)"))
        } else {
            diverged("wiretape: \(text)", into: &out)
        }
        if options.onDivergence != .stall { refuse(connection, head, status, text, into: &out) }
    }

    /// All sessions of the route are taken. A failed attempt belongs to the client's last session.
    mutating func exhausted(
        _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, _ identity: String, _ routes: [Int],
        into out: inout [ReplayAction]
    ) {
        if recordsAnew(connection, into: &out) { return }
        let kind = codec.type.kind(head)
        let known = claims.clients[identity]?.sessions ?? []
        if kind == .negotiate, codec.type.reservesStreams,
            let session = known.last(where: { $0.isConnected && routes.contains(claims[$0].route) })
        {
            return reserveAgain(session, connection, head, codec, into: &out)
        }
        var isOwn = true
        if let session = known.last(where: { !$0.isConnected }) {
            let opensAttempt = session.beginAttempt(negotiates: kind == .negotiate, at: now, origin: start)
            if let hit = judge(head, kind, opensAttempt: opensAttempt, of: session), hit.place != .after {
                return carryOut(hit, on: connection, head, kind, of: session, into: &out)
            }
            if kind == .negotiate, let status = respondWithNextExchange(connection, head, into: &out) {
                return session.addStep(
                    .init(request: kind.rawValue, status: status, time: elapsed), failed: nil, at: now)
            }
            isOwn = !wasTaken(session)
            session.addStep(
                .init(request: kind.rawValue, status: 404, time: elapsed), failed: .replay,
                refusal: isOwn ? .noneLeft : nil, at: now)
        } else if kind == .negotiate, respondWithNextExchange(connection, head, into: &out) != nil {
            return
        }
        let count = routes.reduce(0) { $0 + library.table.routes[$1].sessions.count }
        let taken = count == 1 ? "its only one is taken" : "all \(count) are taken"
        let text =
            "no session left on \(tapeName) for \(head.method) \(head.path): \(taken)\(allRuns) "
            + "(--when-exhausted refuse)."
        if isOwn { refusedByReplay(text, into: &out) } else { out.append(.log("wiretape: \(text)")) }
        refuse(connection, head, 404, text, into: &out)
    }

    private var allRuns: String { options.clients == 1 ? "" : " in all \(options.clients) runs" }

    mutating func diverged(_ text: String, into out: inout [ReplayAction]) {
        record.diverged(text)
        out.append(.log(text))
    }

    // MARK: What the tape has instead

    /// The requests that the tape can answer.
    var everythingAsked: String {
        listed(servedPaths.map(described) + exchanges.places(at: here))
    }

    /// Where sessions begin, of those that the listener in question serves.
    private var servedPaths: [String] {
        var paths: [String] = []
        for (i, route) in library.table.routes.enumerated()
        where library.table.isServed(i, at: here) && !paths.contains(route.path) {
            paths.append(route.path)
        }
        return paths
    }

    /// Which upstream the listener stands for, where there are several.
    private var atUpstream: String { here.map { " at upstream '\($0)'" } ?? "" }

    private func missText(_ head: RequestHead) -> String {
        let what = exchanges.isEmpty ? "no session" : "no session or exchange"
        if let text = subprotocolText(head) ?? queryText(head) { return text }
        var text = "\(what) on \(tapeName)\(atUpstream) for \(head.method) \(head.path)."
        let paths = servedPaths
        let plain = exchanges.places(at: here)
        guard !paths.isEmpty || !plain.isEmpty else { return text + " It has none at all." }
        text += " It has: \(listed(paths.map(described) + plain))."
        guard let asked = library.codecs.first?.type.route(head), asked.hasPrefix("/"), !paths.contains(asked),
            let first = paths.first
        else { return text }
        let near = NearestName.find(asked, among: paths) ?? first
        return text + " Accept with --route '\(asked)=\(near)'."
    }

    /// The tape has WebSockets there, and the client speaks nothing that they could be translated into.
    private func subprotocolText(_ head: RequestHead) -> String? {
        let offered = head.offeredSubprotocols
        guard !offered.isEmpty, let codec = library.codecs.first(where: { $0.type.kind(head) == .upgrade }) else {
            return nil
        }
        let recorded = library.table.subprotocols(at: mapped(codec.type.route(head)), upstream: here)
        guard !recorded.isEmpty, !recorded.contains(where: offered.contains) else { return nil }
        return
            "no session on \(tapeName)\(atUpstream) for \(head.method) \(head.path) in a subprotocol that the client offers "
            + "(\(offered.joined(separator: ", "))). It has: \(recorded.joined(separator: ", "))."
    }

    /// The tape has sessions there, and none with the request's query.
    func queryText(_ head: RequestHead) -> String? {
        var nearest: (path: String, items: [StableQuery.Difference])?
        for codec in library.codecs {
            let path = mapped(codec.type.route(head))
            guard let found = library.table.differences(of: head, at: path, codec, upstream: here), !found.isEmpty,
                found.count < nearest?.items.count ?? .max
            else { continue }
            nearest = (path, found)
        }
        guard let (path, items) = nearest else { return nil }
        let shown = items.prefix(4)
        let more = items.count > shown.count ? "; and \(items.count - shown.count) more" : ""
        let rules = shown.map { "--ignore \(Summary.shellWord("\(path):?\($0.name)"))" }.joined(separator: " ")
        return "no session on \(tapeName)\(atUpstream) for \(head.method) \(head.path) with that query: "
            + "\(shown.map(\.description).joined(separator: "; "))\(more). Accept with \(rules)."
    }

    /// `POST /chat/negotiate, GET /chat (2 sessions)`.
    private func described(_ path: String) -> String {
        let routes = library.table.routes.indices.filter {
            library.table.routes[$0].path == path && library.table.isServed($0, at: here)
        }
        let served = routes.flatMap { library.table.routes[$0].sessions }.sorted()
        let asked = served.lazy.compactMap { library[$0].negotiate?.request }.first
        let count = served.count == 1 ? "" : " (\(served.count) sessions)"
        let opening = library[served[0]].opening.request.method
        return "\(asked.map { "\($0.method) \($0.path), " } ?? "")\(opening) \(path)\(count)"
    }

    private func listed(_ texts: [String]) -> String {
        texts.prefix(8).joined(separator: ", ") + (texts.count > 8 ? " and \(texts.count - 8) more" : "")
    }
}
