internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// What belongs to what on a tape, and which of it stays in a cut: the first pass.
struct CutMap: Sendable {
    private let choice: CutChoice
    private let codecs: [CodecEntry]
    private var reader: SessionReader?
    private var decoded: [DecodedMessage] = []
    private var counter = CutChoice.Counter()
    private var clock = CutClock()
    private var exchanges: [Exchange.Name: Exchange] = [:]
    private var requests: [UInt64: Exchange.Name] = [:]
    /// Sessions that a connection carried outside of its exchanges: those of its WebSocket.
    private var sockets: [Place: Set<Int>] = [:]
    /// Sessions of which a message is chosen, and the chains of such messages.
    private var live: Set<Int> = []
    private var chains: Set<Link> = []
    private var keptConnections: Set<Place> = []
    private(set) var keptSessions: Set<Int> = []

    struct Place: Hashable {
        var take: Int
        var connection: UInt32
    }

    struct Link: Hashable {
        var session: Int
        var chain: Chain
    }

    struct Exchange {
        struct Name: Hashable {
            var place: Place
            var x: UInt32
        }

        var sessions: Set<Int> = []
        /// A session does not begin without it.
        var isOpening = false
        var isUpgrade = false
        var hasMessages = false
        var hasChosen = false
        /// Messages came in pieces of its body, each of which can go by itself.
        var isStream = false
        /// The answer's body has an order of its own, which no piece can be taken out of.
        var isMultipart = false
        /// Of the answer's head, or of the request while there is none.
        var time: UInt64
        var isKept = false
    }

    init(_ choice: CutChoice, codecs: [CodecEntry]) {
        self.choice = choice
        self.codecs = codecs
    }

    // MARK: Looking

    mutating func look(_ line: TapeLine) {
        switch line.what {
        case .header(let header):
            var reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
            reader.tellBelongings()
            self.reader = reader
        case .event(let event, let isUnframed): look(event, isUnframed: isUnframed, line)
        case .comment, .bad: break
        }
    }

    private mutating func look(_ event: TapeEvent, isUnframed: Bool, _ line: TapeLine) {
        let time = clock.read(event)
        let place = Place(take: clock.take, connection: event.connection)
        decoded.removeAll(keepingCapacity: true)
        reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
        let name = CutMap.exchange(of: event).map { Exchange.Name(place: place, x: $0) }
        switch event.kind {
        case .request:
            if let name {
                exchanges[name] = Exchange(time: time)
                requests[line.number] = name
            }
        case .response(_, let head, _, _, _, _):
            guard let name else { break }
            if isOrphan(name.x, at: place), stays(orphanAt: time) { keptConnections.insert(place) }
            exchanges[name]?.time = time
            if head.status == 101 { exchanges[name]?.isUpgrade = true }
            let type = head.headers.first("Content-Type").map { MediaType($0).name } ?? ""
            exchanges[name]?.isMultipart = type.hasPrefix("multipart/")
        case .open, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap,
            .missing, .stop, .unknown:
            break
        }
        for belonging in reader?.takeBelongings() ?? [] {
            guard let name = requests[belonging.request] else { continue }
            exchanges[name]?.sessions.insert(belonging.session)
            if belonging.isOpening { exchanges[name]?.isOpening = true }
        }
        for one in decoded { note(one, name, event, place, at: time) }
    }

    private mutating func note(
        _ one: DecodedMessage, _ name: Exchange.Name?, _ event: TapeEvent, _ place: Place, at time: UInt64
    ) {
        let isChosen = counter.chooses(one, at: time, choice)
        if isChosen {
            live.insert(one.session)
            if let chain = one.message.chain { chains.insert(Link(session: one.session, chain: chain)) }
        }
        guard let name else {
            sockets[place, default: []].insert(one.session)
            return
        }
        exchanges[name]?.sessions.insert(one.session)
        exchanges[name]?.hasMessages = true
        if isChosen { exchanges[name]?.hasChosen = true }
        guard case .chunk(_, .toClient, _) = event.kind, let isMultipart = exchanges[name]?.isMultipart else { return }
        exchanges[name]?.isStream = !isMultipart
    }

    /// The number of the exchange that the event is a part of.
    static func exchange(of event: TapeEvent) -> UInt32? {
        switch event.kind {
        case .request(let x, _, _), .response(let x, _, _, _, _, _), .chunk(let x, _, _), .end(let x, _, _): x
        case .open, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop,
            .unknown:
            nil
        }
    }

    // MARK: Deciding

    mutating func settle() throws(TapeEdit.Fault) {
        let sessions = reader?.finish() ?? []
        reader = nil
        keepSessions(sessions, wanted: try wanted(sessions))
        for (name, exchange) in exchanges where isKept(exchange, name) {
            exchanges[name]?.isKept = true
            keptConnections.insert(name.place)
        }
        for (place, used) in sockets where !used.isDisjoint(with: keptSessions) { keptConnections.insert(place) }
        guard !keptConnections.isEmpty || !keptSessions.isEmpty else {
            throw TapeEdit.Fault(
                line: 0, reason: "nothing on the tape is chosen; `wiretape inspect` shows what there is")
        }
        requests = [:]
    }

    /// The sessions that were asked for by number or name.
    private func wanted(_ sessions: [RecordedSession]) throws(TapeEdit.Fault) -> Set<Int> {
        var wanted = choice.sessions ?? []
        for name in choice.names.sorted() {
            let named = sessions.filter { $0.name == name }.map(\.number)
            guard !named.isEmpty else {
                let known = sessions.compactMap(\.name)
                throw TapeEdit.Fault(
                    line: 0,
                    reason: "no session is called '\(name)'"
                        + (known.isEmpty ? "; none has a name" : "; the names are \(known.joined(separator: ", "))"))
            }
            wanted.formUnion(named)
        }
        let count = sessions.last?.number ?? 0
        if let stranger = wanted.sorted().first(where: { $0 < 1 || $0 > count }) {
            throw TapeEdit.Fault(line: 0, reason: "there is no session \(stranger): the tape has \(count)")
        }
        return wanted
    }

    private mutating func keepSessions(_ sessions: [RecordedSession], wanted: Set<Int>) {
        var upgrades: [UInt32: [Place]] = [:]
        for (name, exchange) in exchanges where exchange.isUpgrade {
            upgrades[name.place.connection, default: []].append(name.place)
        }
        for session in sessions {
            if choice.hasSessions, !wanted.contains(session.number) { continue }
            let needsMessages = choice.hasTimes || choice.hasMessages
            let isLive = live.contains(session.number)
            let isOpenedInTime = session.opened.map { choice.isInTime($0) } ?? false
            if !needsMessages || isLive || !choice.hasMessages && isOpenedInTime { keptSessions.insert(session.number) }
            guard keptSessions.contains(session.number), session.transport == .ws else { continue }
            // A socket on which nothing was said: it carries the session all the same.
            for connection in session.connections {
                for place in upgrades[connection] ?? [] where sockets[place] == nil {
                    sockets[place] = [session.number]
                }
            }
        }
    }

    private func isKept(_ exchange: Exchange, _ name: Exchange.Name) -> Bool {
        if exchange.isUpgrade, let used = sockets[name.place] { return !used.isDisjoint(with: keptSessions) }
        guard !exchange.sessions.isEmpty else {
            return !choice.hasSessions && !choice.hasMessages && choice.isInTime(exchange.time)
        }
        guard !exchange.sessions.isDisjoint(with: keptSessions) else { return false }
        if exchange.isOpening || exchange.isStream || exchange.hasChosen { return true }
        return !exchange.hasMessages && !choice.hasMessages && choice.isInTime(exchange.time)
            || !choice.hasTimes && !choice.hasMessages
    }

    // MARK: Telling

    /// Whether the question to an answer stands nowhere before it: a capture did not see it.
    func isOrphan(_ x: UInt32, at place: Place) -> Bool { exchanges[Exchange.Name(place: place, x: x)] == nil }

    /// Whether what belongs to no question, and so to no session, stays.
    func stays(orphanAt time: UInt64) -> Bool { !choice.hasSessions && !choice.hasMessages && choice.isInTime(time) }

    func isKept(_ x: UInt32, at place: Place) -> Bool { exchanges[Exchange.Name(place: place, x: x)]?.isKept ?? false }

    func isStream(_ x: UInt32, at place: Place) -> Bool {
        exchanges[Exchange.Name(place: place, x: x)]?.isStream ?? false
    }

    /// Whether all messages stay or none.
    func isUndivided(_ x: UInt32, at place: Place) -> Bool {
        exchanges[Exchange.Name(place: place, x: x)]?.isMultipart ?? false
    }

    func isKept(_ place: Place) -> Bool { keptConnections.contains(place) }

    /// Whether the message stays.
    /// - Parameter isChosen: by itself.
    func stays(_ one: DecodedMessage, isChosen: Bool) -> Bool {
        guard keptSessions.contains(one.session) else { return false }
        if isChosen || one.message.role == .handshake { return true }
        guard let chain = one.message.chain, chains.contains(Link(session: one.session, chain: chain)) else {
            return one.message.opens.contains { chains.contains(Link(session: one.session, chain: $0)) }
        }
        return choice.selector != nil || one.message.role == .request
    }
}

/// The clock of a tape: of later takes, behind the last time of the earlier ones.
struct CutClock: Sendable {
    private(set) var take = 0
    /// What the take's times begin behind.
    private(set) var offset: UInt64 = 0
    private var last: UInt64 = 0

    mutating func read(_ event: TapeEvent) -> UInt64 {
        if case .take = event.kind {
            take += 1
            offset = last
            return last
        }
        let (sum, overflow) = event.time.addingReportingOverflow(offset)
        last = max(last, overflow ? .max : sum)
        return last
    }
}
