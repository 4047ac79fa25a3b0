extension ReplayEngine {
    /// The session that a request without a token gets: the oldest interrupted one of the same client, else the next
    /// unclaimed one, else one whose negotiation was never followed up. Answers the request itself when there is none.
    mutating func claim(
        for head: RequestHead, _ codec: CodecEntry, _ c: ConnectionID, into out: inout [ReplayAction]
    ) -> Int? {
        let fitting = candidates(for: head, codec)
        let identity = identity(head, c)
        let mine = runs.indices.filter { r in
            runs[r].identities.contains(identity) && runs[r].link == nil
                && fitting.contains { sessions[$0].number == runs[r].session.number }
        }
        if let r = mine.first(where: { runs[$0].failure != nil || (!runs[$0].isOver && !runs[$0].awaitsUpgrade) }) {
            switch reconnection(of: r) {
            case .goesOn:
                if runs[r].generation > 0 || !runs[r].attempts.isEmpty { runs[r].assigned = .identity }
                return r
            case .elsewhere: runs[r].isLeft = true
            case .refused:
                refuseReconnect(r, c, head, codec, into: &out)
                return nil
            }
        }
        if let next = unclaimed.first(where: { fitting.contains($0) }) {
            unclaimed.removeAll { $0 == next }
            let script = scripts[next] ?? Script(sessions[next], ignore: options.ignore)
            scripts[next] = script
            runs.append(SessionRun(sessions[next], script: script, at: now))
            remember(identity, of: runs.count - 1)
            return runs.count - 1
        }
        if let r = mine.first(where: { !runs[$0].isOver }) { return r }
        exhausted(c, head, codec, identity, into: &out)
        return nil
    }

    mutating func remember(_ identity: String, of r: Int) {
        if !runs[r].identities.contains(identity) { runs[r].identities.append(identity) }
    }

    /// Indices of the sessions whose route, stable query and subprotocol agree with the request.
    func candidates(for head: RequestHead, _ codec: CodecEntry) -> [Int] {
        let route = mapped(codec.type.route(head))
        guard let onRoute = routes[route] else { return [] }
        let query = SessionRoute.stableQuery(head, codec)
        let kind = codec.type.kind(head)
        let offered = head.headers.all("Sec-WebSocket-Protocol").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks() }
        return onRoute.filter { recorded in
            guard recorded.codec == codec.id, query == (kind == .negotiate ? recorded.negotiate : recorded.upgrade)
            else {
                return false
            }
            guard kind == .upgrade, let chosen = recorded.subprotocol else { return true }
            return offered.contains(chosen)
        }.map(\.index)
    }

    func subprotocol(of session: RecordedSession) -> String? {
        session.opening.response?.headers.first("Sec-WebSocket-Protocol")
    }

    /// `--route` applied.
    func mapped(_ route: String) -> String {
        options.routes.first { $0.from == route }?.to ?? route
    }

    /// Who asks: a pseudonym of the credential, else address and agent.
    func identity(_ head: RequestHead, _ c: ConnectionID) -> String {
        let credentials = head.headers.all("Authorization") + head.headers.all("Cookie")
        guard credentials.isEmpty else {
            var hash = StableHash()
            for credential in credentials { hash.combine(credential) }
            return "credential \(String(hash.value, radix: 16).prefix(8))"
        }
        let agent = head.headers.first("User-Agent") ?? "no agent"
        return "\(peers[c]?.address?.host ?? "unknown") \(agent)"
    }

    // MARK: Nothing on the tape

    /// No recorded session has that route: a divergence.
    mutating func miss(_ c: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]) {
        let text = missText(head)
        diverged("wiretape: \(text)", into: &out)
        refuse(c, head, 404, text, into: &out)
    }

    /// All sessions of the route are taken. A failed attempt belongs to the client's last session.
    private mutating func exhausted(
        _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, _ identity: String,
        into out: inout [ReplayAction]
    ) {
        let kind = codec.type.kind(head)
        if let r = runs.indices.last(where: { runs[$0].identities.contains(identity) && runs[$0].link == nil }) {
            let opensAttempt = runs[r].beginAttempt(at: now, origin: origin ?? now)
            if let hit = judge(head, kind, opensAttempt: opensAttempt, of: r), hit.place != .after {
                return carryOut(hit, on: c, head, kind, of: r, into: &out)
            }
            runs[r].addStep(.init(request: kind.rawValue, status: 404, time: elapsed), failed: "replay", at: now)
        }
        let count = candidates(for: head, codec).count
        let text =
            "no session left on \(tapeName) for \(head.method) \(head.path): "
            + (count == 1 ? "its only one is taken" : "all \(count) are taken") + " (--when-exhausted refuse)."
        out.append(.log("wiretape: \(text)"))
        refuse(c, head, 404, text, into: &out)
    }

    mutating func diverged(_ text: String, into out: inout [ReplayAction]) {
        if divergences.count < ReplayEngine.mostDivergences { divergences.append(text) }
        out.append(.log(text))
    }

    /// What the tape has instead.
    private func missText(_ head: RequestHead) -> String {
        var text = "no session on \(tapeName) for \(head.method) \(head.path)."
        var routes: [String] = []
        for session in sessions where !routes.contains(session.route) { routes.append(session.route) }
        guard !routes.isEmpty else { return text + " It has none at all." }
        let listed = routes.prefix(8).map { route in
            let served = sessions.filter { $0.route == route }
            let asked = served.lazy.compactMap(\.negotiate?.request).first.map { "\($0.method) \($0.path), " } ?? ""
            let count = served.count == 1 ? "" : " (\(served.count) sessions)"
            return "\(asked)\(served[0].opening.request.method) \(route)\(count)"
        }
        text += " It has: \(listed.joined(separator: ", "))"
        text += routes.count > 8 ? " and \(routes.count - 8) more." : "."
        guard let asked = codecs.first?.type.route(head), asked.hasPrefix("/"), !routes.contains(asked) else {
            return text
        }
        return text + " Accept with --route '\(asked)=\(NearestName.find(asked, among: routes) ?? routes[0])'."
    }
}
