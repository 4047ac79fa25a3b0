internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Clients that say which message of an operation they had last.
extension ReplayEngine {
    /// What may be meant first: the ones whose recorded client had had the same, then those in which that message stands.
    func inOrder(_ list: [OperationBook.Operation], behind id: String) -> [OperationBook.Operation] {
        let same = list.filter { one in
            let session = library[one.recorded]
            return session.codec.type.lastID(session.opening.request) == id
        }
        let knowing = list.filter { one in !same.contains { $0.recorded == one.recorded } && knows(one.recorded, id) }
        let first = Set((same + knowing).map(\.recorded))
        return same + knowing + list.filter { !first.contains($0.recorded) }
    }

    /// Whether a message of that id stands in the session.
    func knows(_ recorded: SessionLibrary.ID, _ id: String) -> Bool {
        library[recorded].entries.contains { entry in
            guard case .message(let message) = entry.what else { return false }
            return library[recorded].codec.type.id(of: message) == id
        }
    }

    /// The operations whose messages include `id`, although their request differs from the client's. Empty if an operation in `equal` contains
    /// that message, or was recorded with this `Last-Event-ID`.
    /// - Parameter all: the operations on the request's route.
    func operations(
        containing id: String, besides equal: [OperationBook.Operation], among all: [OperationBook.Operation]
    ) -> [SessionLibrary.ID] {
        let isKnown = equal.contains { one in
            let session = library[one.recorded]
            return session.codec.type.lastID(session.opening.request) == id || knows(one.recorded, id)
        }
        return isKnown ? [] : all.map(\.recorded).filter { knows($0, id) }
    }

    /// The client's latest run of one of these sessions that has no connection, or whose connection a rule has silenced. Drops the silenced
    /// connection.
    mutating func takeInterruptedRun(
        _ sessions: [SessionLibrary.ID], _ identity: String, into out: inout [ReplayAction]
    ) -> SessionRun? {
        guard !sessions.isEmpty else { return nil }
        let session = (claims.clients[identity]?.sessions ?? []).last { session in
            sessions.contains(claims[session].recorded) && !session.standing.isLeft
                && (!session.isConnected || isSilent(session))
        }
        if let session { forsake(session, into: &out) }
        return session
    }

    /// Whether an ordinary exchange is meant by a request that an operation equals, too: what is equal goes in recorded order,
    /// and the last of all is said again.
    /// - Parameter operation: the next operation; nil when none is left.
    mutating func goesFirst(
        _ opening: StreamOpening, before operation: SessionLibrary.ID?, _ equal: [OperationBook.Operation],
        _ connection: ConnectionID
    ) -> Bool {
        guard let (next, last) = equalExchange(opening.request, opening.requestBody, connection) else { return false }
        if let operation {
            guard let next else { return false }
            return exchanges.recorded[next].event < firstEvent(of: operation)
        }
        return next != nil || equal.allSatisfy { firstEvent(of: $0.recorded) < exchanges.recorded[last].event }
    }

    private func firstEvent(of recorded: SessionLibrary.ID) -> UInt64 { library[recorded].entries.first?.event ?? 0 }
}

extension Script {
    /// The last step of that id.
    func step(ofID id: String, _ session: RecordedSession) -> Int? {
        let type = session.codec.type
        return steps.indices.last { step in
            guard steps[step].direction == .toClient, steps[step].role != nil, let message = message(step) else {
                return false
            }
            return type.id(of: message) == id
        }
    }
}
