internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// A session of the tape, or one made of those: they stand behind them.
    func recorded(_ session: Int) -> RecordedSession {
        session < sessions.count ? sessions[session] : views[session - sessions.count].session
    }

    /// The sessions of the tape that it is made of.
    func sources(of session: Int) -> [Int] {
        session < sessions.count ? [session] : views[session - sessions.count].sources
    }

    /// The operations of the tape, worked out once.
    mutating func book() -> OperationBook {
        if let operations { return operations }
        var book = OperationBook()
        for (i, session) in sessions.enumerated() where session.isOperation {
            if let request = session.request { book.add(i, request, options.ignore) }
        }
        for (i, session) in sessions.enumerated() where ReplayEngine.hasParts(session) {
            for part in session.parts {
                views.append(SessionView(session: part, sources: [i]))
                table.add(partOf: i)
                if let request = part.request { book.add(sessions.count + views.count - 1, request, options.ignore) }
            }
        }
        operations = book
        secrets.learn(book.variables)
        return book
    }

    /// Whether the chains of the session can be served by themselves.
    private static func hasParts(_ session: RecordedSession) -> Bool {
        !session.isOperation && session.refusal == nil && !session.codec.type.operationEnd.isEmpty
            && session.writer.transports.contains { $0 != session.transport }
    }

    /// A client that wants a session where the tape has operations only: those of each recorded client become one.
    mutating func mergeOperations(for head: RequestHead) {
        for codec in codecs where !codec.type.operationEnd.isEmpty {
            guard [.upgrade, .negotiate].contains(codec.type.kind(head)), candidates(for: head, codec).isEmpty else {
                continue
            }
            let path = mapped(codec.type.route(head))
            var order: [String] = []
            var sources: [String: [Int]] = [:]
            for (i, session) in sessions.enumerated() {
                guard session.isOperation, session.codec.id == codec.id, session.route == path, session.refusal == nil,
                    table.isServed(table.routeOf[i], at: here)
                else { continue }
                let request = session.opening.request
                let client = "\(request.credential ?? "") \(request.headers.first("User-Agent") ?? "")"
                if sources[client] == nil { order.append(client) }
                sources[client, default: []].append(i)
            }
            for client in order {
                let mine = sources[client] ?? []
                let merged = RecordedSession.merging(mine.map { sessions[$0] })
                views.append(SessionView(session: merged, sources: mine))
                table.add(merged)
            }
        }
    }

    // MARK: Whose operations are whose

    /// The run of the session that the operation has been merged into, and its request there.
    private func merged(_ session: Int, in tapeRun: Int) -> (run: Int, request: Int)? {
        guard session < sessions.count, sessions[session].isOperation else { return nil }
        for (i, view) in views.enumerated() where !view.session.isOperation {
            guard let r = claims.tapeRuns[tapeRun].holders[sessions.count + i],
                let place = view.sources.firstIndex(of: session)
            else { continue }
            let script = runs[r].script
            let request = script.groups.lazy.compactMap(\.request).first {
                script.message($0)?.chain?.id == "\(place)"
            }
            if let request { return (r, request) }
        }
        return nil
    }

    /// Whether a run of the tape still has the operation. Chains of a session that is played as such are its client's.
    func isFree(_ operation: OperationBook.Operation, in tapeRun: Int) -> Bool {
        let holders = claims.tapeRuns[tapeRun].holders
        guard !claims.tapeRuns[tapeRun].isClosed, holders[operation.session] == nil else { return false }
        if let (r, request) = merged(operation.session, in: tapeRun) { return runs[r].state[request] == .waiting }
        return sources(of: operation.session).allSatisfy { source in
            guard source != operation.session, let holder = holders[source] else { return true }
            return runs[holder].session.isOperation
        }
    }

    /// What was taken by one client is not there for another.
    mutating func hold(_ session: Int, as claim: Int, in tapeRun: Int) {
        if let (r, request) = merged(session, in: tapeRun) { runs[r].giveAway(request) }
        guard session >= sessions.count else { return }
        for source in sources(of: session) where claims.tapeRuns[tapeRun].holders[source] == nil {
            if recorded(session).isOperation { claims.hold(source, by: claim, in: tapeRun) }
        }
        guard !recorded(session).isOperation else { return }
        for (place, source) in sources(of: session).enumerated()
        where claims.tapeRuns[tapeRun].holders[source] != nil {
            let script = runs[claim].script
            let request = script.groups.lazy.compactMap(\.request).first {
                script.message($0)?.chain?.id == "\(place)"
            }
            if let request { runs[claim].giveAway(request) }
        }
    }
}

extension RecordedSession {
    /// The client's request of an operation; of a refused one as its opening has it.
    fileprivate var request: Message? {
        for entry in entries {
            if case .message(let message) = entry.what, message.role == .request { return message }
        }
        var reader = codec.type.init(opening)
        let payload = codec.type.payload(of: opening)
        var messages: [Message] = []
        reader.decode(payload.span, .text, .toServer, into: &messages)
        return messages.first { $0.role == .request }
    }
}
