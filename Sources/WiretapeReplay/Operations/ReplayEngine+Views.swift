internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// The operations of the tape.
    mutating func book() -> OperationBook {
        let (book, isNew) = library.book()
        if isNew { secrets.learn(book.variables) }
        return book
    }

    /// A client that wants a session where the tape has operations only: those of each recorded client become one.
    mutating func mergeOperations(for head: RequestHead) {
        for codec in library.codecs where !codec.type.operationEnd.isEmpty {
            guard [.upgrade, .negotiate].contains(codec.type.kind(head)), candidates(for: head, codec).isEmpty else {
                continue
            }
            library.mergeOperations(of: codec, at: mapped(codec.type.route(head)), upstream: here)
        }
    }

    // MARK: Whose operations are whose

    /// The run of the session that the operation has been merged into, and its request there.
    private func merged(_ part: SessionLibrary.ID, in tapeRun: Int) -> (session: SessionRun, request: Int)? {
        for (merged, place) in library.merges(of: part) {
            guard let session = claims.tapeRuns[tapeRun].holders[merged] else { continue }
            let script = session.script
            let request = script.groups.lazy.compactMap(\.request).first {
                script.message($0)?.chain?.id == "\(place)"
            }
            if let request { return (session, request) }
        }
        return nil
    }

    /// Whether a run of the tape still has the operation. Chains of a session that is played as such are its client's.
    func isFree(_ operation: OperationBook.Operation, in tapeRun: Int) -> Bool {
        let holders = claims.tapeRuns[tapeRun].holders
        guard !claims.tapeRuns[tapeRun].isClosed, holders[operation.recorded] == nil else { return false }
        if let (session, request) = merged(operation.recorded, in: tapeRun) {
            return session.cursor.state[request] == .waiting
        }
        return library.sources(of: operation.recorded).allSatisfy { source in
            guard source != operation.recorded, let holder = holders[source] else { return true }
            return holder.recorded.isOperation
        }
    }

    /// What was taken by one client is not there for another.
    mutating func hold(_ recorded: SessionLibrary.ID, by session: SessionRun, in tapeRun: Int) {
        if let (other, request) = merged(recorded, in: tapeRun) { other.giveAway(request) }
        guard library.isMade(recorded) else { return }
        for source in library.sources(of: recorded) where claims.tapeRuns[tapeRun].holders[source] == nil {
            if library[recorded].isOperation { claims.hold(source, by: session, in: tapeRun) }
        }
        guard !library[recorded].isOperation else { return }
        for (place, source) in library.sources(of: recorded).enumerated()
        where claims.tapeRuns[tapeRun].holders[source] != nil {
            let script = session.script
            let request = script.groups.lazy.compactMap(\.request).first {
                script.message($0)?.chain?.id == "\(place)"
            }
            if let request { session.giveAway(request) }
        }
    }
}
