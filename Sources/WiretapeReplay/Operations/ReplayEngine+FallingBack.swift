internal import WiretapeAttempts
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeWire

/// Clients that get no connection for a session, and ask for its operations one by one instead.
extension ReplayEngine {
    /// The run of a session that the client of an operation was refused before: it goes on as that operation, and the attempts that
    /// failed are the first of the operation's.
    /// - Parameters:
    ///   - equal: the operations that the client may mean.
    ///   - turn: those of which the first that is left comes next.
    /// - Returns: nil when the client has not been refused a session with such an operation.
    mutating func fallenBack(
        _ equal: [OperationBook.Operation], _ turn: [OperationBook.Operation], _ message: Message,
        _ opening: StreamOpening, _ connection: ConnectionID
    ) -> SessionRun? {
        for session in refused(opening.request, connection) {
            guard let one = next(of: session, turn), equal.contains(where: { $0.recorded == one.recorded }),
                leaves(session, for: one, message, opening),
                let other = session.reassigned(as: library[one.recorded], script(of: one.recorded), options)
            else { continue }
            session.become(other)
            claims.move(session, to: one.recorded, library.table)
            claims.decide(session)
            hold(one.recorded, by: session, in: claims[session].tapeRun)
            session.assign(by: .identity)
            return session
        }
        return nil
    }

    /// Sessions that may be that client's and never had a connection, though it was tried: the client's own ones first. Programs
    /// have one library for WebSockets and another one for requests, which call themselves differently, so that the address has
    /// to do.
    private mutating func refused(_ head: RequestHead, _ connection: ConnectionID) -> [SessionRun] {
        let name = name(head, connection)
        let failed = runs.neverConnected().filter { session in
            session.attempts.last?.outcome != nil && !session.isOver && claims[session].name == name
        }
        guard !failed.isEmpty else { return [] }
        let identity = identity(head, connection)
        let host = "\(peers[connection]?.address?.host ?? "unknown") "
        let names = names
        let isKnown = { (session: SessionRun) in session.client.identities.contains(identity) }
        return failed.filter(isKnown)
            + failed.filter { session in
                !isKnown(session)
                    && session.client.identities.contains { (names.place(of: $0) ?? $0).hasPrefix(host) }
            }
    }

    /// The first of those operations that is left in the session's run of the tape, when it is one of the session's.
    private func next(of session: SessionRun, _ turn: [OperationBook.Operation]) -> OperationBook.Operation? {
        let claim = claims[session]
        let sources = library.sources(of: claim.recorded)
        let isOwn = { (one: OperationBook.Operation) in
            library.sources(of: one.recorded).allSatisfy(sources.contains)
        }
        let first = turn.first { one in
            claims.tapeRuns[claim.tapeRun].holders[one.recorded] == nil
                && (isOwn(one) || isFree(one, in: claim.tapeRun))
        }
        return first.flatMap { isOwn($0) ? $0 : nil }
    }

    /// Whether the client that asks for the operation does without the session. A client may have streams over its session and
    /// single answers beside it: asking for one of these says nothing where the session has streams as well.
    private func leaves(
        _ session: SessionRun, for one: OperationBook.Operation, _ message: Message, _ opening: StreamOpening
    ) -> Bool {
        let recorded = library[one.recorded]
        let carriers = recorded.codec.type.carriers(
            of: message, for: opening.request, recorded: recorded.transport)
        guard let carrier = carriers.first(where: options.transports.contains) else { return false }
        return carrier != .http
            || library.sources(of: claims[session].recorded).allSatisfy { library[$0].transport == .http }
    }
}
