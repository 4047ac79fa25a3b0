internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The sessions of a tape as clients may ask for them: with their scripts, by their routes and beginnings, and taken apart or put
/// together where a client asks in another way than the recorded one did. Everything is worked out when it is first asked for.
struct SessionLibrary {
    /// Which of its sessions it is. They are in recorded order; those that were made of others come behind those of the tape.
    struct ID: Hashable, Comparable, Sendable {
        /// From 0 on.
        let place: Int

        static func < (a: ID, b: ID) -> Bool { a.place < b.place }
    }

    /// Those of the tape.
    let sessions: [RecordedSession]
    /// The codecs of the tape in the order of its sessions.
    let codecs: [CodecEntry]
    /// What its sessions' requests look like.
    private(set) var table: RouteTable
    private let ignore: [IgnoreRule]
    /// Sessions made of recorded ones, numbered behind those of the tape: single operations of a session, or operations as one
    /// session.
    private(set) var views: [SessionView] = []
    private var operations: OperationBook?
    private var scripts: [ID: Script] = [:]
    /// How sessions begin, and the sessions of a route by that.
    private var fingerprints: [ID: OpeningFingerprint] = [:]
    private var sessionsByFirst: [Int: [UInt64: [ID]]] = [:]

    init(_ sessions: [RecordedSession], _ upstreams: Upstreams, ignoring ignore: [IgnoreRule]) {
        self.sessions = sessions
        self.ignore = ignore
        var codecs: [CodecEntry] = []
        for session in sessions where !codecs.contains(where: { $0.id == session.codec.id }) {
            codecs.append(session.codec)
        }
        self.codecs = codecs
        table = RouteTable(sessions, upstreams, ignoring: ignore)
    }

    /// A session of the tape, or one made of those.
    subscript(id: ID) -> RecordedSession {
        isMade(id) ? views[id.place - sessions.count].session : sessions[id.place]
    }

    /// Whether it is none of the tape.
    func isMade(_ id: ID) -> Bool { id.place >= sessions.count }

    /// Those of the tape.
    var recorded: [ID] { sessions.indices.map { ID(place: $0) } }

    /// The sessions of the tape that it is made of.
    func sources(of id: ID) -> [ID] {
        isMade(id) ? views[id.place - sessions.count].sources : [id]
    }

    /// Compiled once for all runs of the session.
    /// - Returns: the script, and whether it was compiled now.
    mutating func script(of id: ID) -> (script: Script, isNew: Bool) {
        if let known = scripts[id] { return (known, false) }
        let recorded = self[id]
        let script = recorded.digested.script ?? Script(recorded.whole, ignore: ignore)
        scripts[id] = script
        return (script, true)
    }

    // MARK: How sessions begin

    mutating func openingFingerprint(of id: ID) -> OpeningFingerprint {
        if let known = fingerprints[id] { return known }
        let made = OpeningFingerprint(self[id], ignore: ignore)
        fingerprints[id] = made
        return made
    }

    /// Sessions of a route by the first message of their client, in recorded order.
    mutating func firsts(on route: Int) -> [UInt64: [ID]] {
        if let known = sessionsByFirst[route] { return known }
        var byFirst: [UInt64: [ID]] = [:]
        for id in table.routes[route].sessions where self[id].refusal == nil {
            if let first = openingFingerprint(of: id).first { byFirst[first, default: []].append(id) }
        }
        sessionsByFirst[route] = byFirst
        return byFirst
    }

    // MARK: Operations

    /// The operations of the tape.
    /// - Returns: the book, and whether it was made now.
    mutating func book() -> (book: OperationBook, isNew: Bool) {
        if let operations { return (operations, false) }
        var book = OperationBook()
        for (i, session) in sessions.enumerated() where session.isOperation {
            if let request = session.request { book.add(ID(place: i), request, ignore) }
        }
        for (i, session) in sessions.enumerated() where SessionLibrary.hasParts(session) {
            for part in session.parts {
                views.append(SessionView(session: part, sources: [ID(place: i)]))
                table.add(partOf: ID(place: i))
                let id = ID(place: sessions.count + views.count - 1)
                if let request = part.request { book.add(id, request, ignore) }
            }
        }
        operations = book
        return (book, true)
    }

    /// Whether the chains of the session can be served by themselves.
    private static func hasParts(_ session: RecordedSession) -> Bool {
        !session.isOperation && session.refusal == nil && !session.codec.type.operationEnd.isEmpty
            && session.writer.transports.contains { $0 != session.transport }
    }

    /// A client wants a session where the tape has operations only: those of each recorded client become one.
    /// - Parameters:
    ///   - path: where it asks, as it is on the tape.
    ///   - upstream: the one that it asks; nil: any.
    mutating func mergeOperations(of codec: CodecEntry, at path: String, upstream: String?) {
        var order: [String] = []
        var sources: [String: [ID]] = [:]
        for id in recorded {
            let session = self[id]
            guard session.isOperation, session.codec.id == codec.id, session.route == path, session.refusal == nil,
                table.isServed(table.route(of: id), at: upstream)
            else { continue }
            let request = session.opening.request
            let client = "\(request.credential ?? "") \(request.headers.first("User-Agent") ?? "")"
            if sources[client] == nil { order.append(client) }
            sources[client, default: []].append(id)
        }
        for client in order {
            let mine = sources[client] ?? []
            let merged = RecordedSession.merging(mine.map { self[$0] })
            views.append(SessionView(session: merged, sources: mine))
            table.add(merged)
        }
    }

    /// The merged sessions that have that operation of the tape, and its place in each.
    func merges(of id: ID) -> [(merged: ID, place: Int)] {
        guard !isMade(id), self[id].isOperation else { return [] }
        return views.enumerated().compactMap { i, view in
            guard !view.session.isOperation, let place = view.sources.firstIndex(of: id) else { return nil }
            return (ID(place: sessions.count + i), place)
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
