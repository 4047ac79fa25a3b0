internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// The ordinary requests of a tape with their answers, found by what a client asks.
struct ExchangeBook: Sendable {
    let recorded: [RecordedExchange]
    /// Those whose applications make side requests.
    private let codecs: [CodecEntry]
    private let upstreams: Upstreams
    /// Worked out with the first request: most tapes are never asked for it.
    private var index: Index?
    /// Answers whose recorded delay has not passed.
    private var underWay: [UnderWay] = []
    /// Responses that the kernel has not taken yet or, after the client's FIN, that the client has not acknowledged yet.
    private var leaving: [ConnectionID: [(ticket: UInt64, answer: UnderWay)]] = [:]
    /// Answers from the tape that were delivered.
    private(set) var played = 0
    /// Requests whose clients left before the response arrived, for the report.
    private(set) var givenUp = KeptTexts()
    /// Indices of these requests in ``recorded``.
    private(set) var left: Set<Int> = []
    /// What came and is not on the tape, for the report.
    private(set) var unexpected = KeptTexts()

    init(_ recorded: [RecordedExchange], _ codecs: [CodecEntry] = [], _ upstreams: Upstreams = Upstreams()) {
        self.recorded = recorded
        self.codecs = codecs
        self.upstreams = upstreams
    }

    var isEmpty: Bool { recorded.isEmpty }

    // MARK: Answers

    /// An answer was delivered.
    mutating func deliver() { played += 1 }

    /// An answer leaves.
    mutating func leaves(_ answer: UnderWay, _ ticket: UInt64) {
        leaving[answer.connection, default: []].append((ticket, answer))
    }

    /// The kernel has taken this response and all earlier ones.
    mutating func handedOver(_ connection: ConnectionID, _ ticket: UInt64) {
        guard let waiting = leaving[connection] else { return }
        let rest = waiting.filter { $0.ticket > ticket }
        played += waiting.count - rest.count
        leaving[connection] = rest.isEmpty ? nil : rest
    }

    /// Whether a client waits for a response on the connection.
    func isAnswering(_ connection: ConnectionID) -> Bool {
        leaving[connection] != nil || underWay.contains { $0.connection == connection }
    }

    /// Removes and returns the responses that the client of a connection did not receive.
    mutating func takeUndelivered(on connection: ConnectionID) -> [UnderWay] {
        guard !underWay.isEmpty || !leaving.isEmpty else { return [] }
        let lost = (leaving.removeValue(forKey: connection) ?? []).map(\.answer)
        let waiting = underWay.filter { $0.connection == connection }
        if !waiting.isEmpty { underWay.removeAll { $0.connection == connection } }
        return lost + waiting
    }

    /// The client left before its response arrived.
    mutating func giveUp(_ exchange: Int, _ asked: String) {
        left.insert(exchange)
        givenUp.append(asked)
    }

    /// What came is not on the tape.
    mutating func missed(_ asked: String) { unexpected.append(asked) }

    /// An answer leaves later.
    mutating func wait(_ answer: UnderWay) { underWay.append(answer) }

    /// Makes the answers due that wait for something on another connection.
    /// - Returns: whether there are any.
    mutating func lookAgain(at now: WireInstant) -> Bool {
        let held = underWay.indices.filter { underWay[$0].isHeld }
        for i in held { underWay[i].due = now }
        return !held.isEmpty
    }

    /// Whether answers are still to leave.
    var isAnswering: Bool { !underWay.isEmpty }

    /// When the first of them leaves.
    var nextAnswer: WireInstant? { underWay.lazy.map(\.due).min() }

    /// Those whose time has come, in its order.
    mutating func takeAnswers(by now: WireInstant) -> [UnderWay] {
        let due = underWay.filter { $0.due <= now }
        if !due.isEmpty { underWay.removeAll { $0.due <= now } }
        return due.sorted { $0.due < $1.due }
    }

    /// An answer and when it leaves.
    struct UnderWay: Sendable {
        let asked: WireInstant
        var due: WireInstant
        /// It waits for something on another connection.
        var isHeld = false
        let turn: Turn
        var connection: ConnectionID
        var answer: HTTPAnswer
        /// How the recorded exchange failed. Nil if it did not.
        var failure: RecordedExchange.Failure?
        var fate: RequestFate?
        var moment: FaultMoment
    }

    /// The position among the recorded responses to equal requests, and the run of the tape.
    struct Turn: Sendable {
        let list: Int
        let place: Int
        let tapeRun: Int
        /// Into ``recorded``.
        let exchange: Int
    }

    /// What the tape has for a request.
    enum Found: Hashable, Sendable {
        /// Nothing of that method and path.
        case nothing
        /// This list of equal requests.
        case list(Int)
        /// Nothing equal; the first recorded one of that method and path that was not played, else the last one.
        case different(nearest: Int)
    }

    private struct Index: Sendable {
        var lists: [[Int]] = []
        /// The list of each recorded exchange, and its place in it.
        var places: [(list: Int, place: Int)] = []
        var byKey: [ExchangeKey: Int] = [:]
        /// The first list of side requests that ask the same for whatever session.
        var bySideRequest: [ExchangeKey: Int] = [:]
        /// Recorded exchanges, and the sets of redacted query items among them, by method and path.
        var byPlace: [String: [Int]] = [:]
        var redacted: [String: [[String]]] = [:]

        func isPlayed(_ exchange: Int, _ played: (Int) -> Int) -> Bool {
            places[exchange].place < played(places[exchange].list)
        }
    }

    /// The methods and paths recorded at an upstream, in the order of their first request, at most 16.
    func places(at upstream: String?) -> [String] {
        var places: [String] = []
        for exchange in recorded where places.count < 16 {
            guard upstream == nil || self.upstream(of: exchange) == upstream else { continue }
            let place = "\(exchange.request.method) \(exchange.request.path)"
            if !places.contains(place) { places.append(place) }
        }
        return places
    }

    /// The upstream whose listeners serve an exchange; nil: every listener.
    func upstream(of exchange: RecordedExchange) -> String? { upstreams.home(of: exchange.upstream) }

    /// The book's place of a method and path: those of different upstreams are different ones.
    private static func located(_ place: String, at upstream: String?) -> String {
        upstream.map { "\($0) \(place)" } ?? place
    }

    // MARK: Finding

    /// - Parameters:
    ///   - path: the request's, as it is on the tape.
    ///   - upstream: that of the listener which was asked.
    ///   - recordedID: the recorded id of a session for a live one.
    mutating func find(
        _ head: RequestHead, at path: String, body: [UInt8], upstream: String? = nil, _ options: ReplayOptions,
        played: (Int) -> Int, recordedID: (String) -> String
    ) -> Found {
        let index = made(options)
        let upstream = upstream ?? upstreams.names.first
        var place = ExchangeBook.located("\(head.method) \(path)", at: upstream)
        if options.match != .off, let (sideRequest, _) = sideRequest(StreamOpening(request: head, requestBody: body)) {
            let key = ExchangeBook.key(sideRequest, recordedID(sideRequest.session), place: place)
            let any = ExchangeBook.key(sideRequest, nil, place: place)
            if let list = index.byKey[key] ?? index.bySideRequest[any] { return .list(list) }
        }
        if head.method == "HEAD", index.byPlace[place] == nil {
            place = ExchangeBook.located("GET \(path)", at: upstream)
        }
        guard let there = index.byPlace[place] else { return .nothing }
        for redacted in index.redacted[place] ?? [] {
            let key = ExchangeBook.key(head, place: place, path: path, body: body, redacted: redacted, options)
            guard let list = index.byKey[key] else { continue }
            guard options.match == .strict else { return .list(list) }
            guard let next = there.first(where: { !index.isPlayed($0, played) }), index.places[next].list != list
            else { return .list(list) }
            return .different(nearest: next)
        }
        return .different(nearest: there.first { !index.isPlayed($0, played) } ?? there[there.count - 1])
    }

    /// Equal recorded requests in their order.
    func list(_ list: Int) -> [Int] { index?.lists[list] ?? [] }

    /// Where a recorded exchange stands; nil while nothing was asked for.
    func place(of exchange: Int) -> (list: Int, place: Int)? { index?.places[exchange] }

    private mutating func made(_ options: ReplayOptions) -> Index {
        if let index { return index }
        var made = Index()
        for (i, exchange) in recorded.enumerated() {
            let head = exchange.request
            let place = ExchangeBook.located("\(head.method) \(head.path)", at: upstream(of: exchange))
            made.byPlace[place, default: []].append(i)
            let redacted = StableQuery(recorded: head, ignoring: exchange.ignored(options.ignore)).redacted
            if !(made.redacted[place] ?? []).contains(redacted) { made.redacted[place, default: []].append(redacted) }
            var key = ExchangeBook.key(
                head, place: place, path: head.path, body: exchange.requestBody, redacted: redacted, options)
            if options.match != .off, let (sideRequest, _) = sideRequest(exchange.opening) {
                key = ExchangeBook.key(sideRequest, sideRequest.session, place: place)
                let any = ExchangeBook.key(sideRequest, nil, place: place)
                if made.bySideRequest[any] == nil { made.bySideRequest[any] = made.byKey[key] ?? made.lists.count }
            }
            let list = made.byKey[key] ?? made.lists.count
            if list == made.lists.count {
                made.byKey[key] = list
                made.lists.append([])
            }
            made.places.append((list, made.lists[list].count))
            made.lists[list].append(i)
        }
        index = made
        return made
    }

    /// What a request is to the protocol of a session on the tape, beside its sessions.
    func sideRequest(_ exchange: StreamOpening) -> (SideRequest, any FrameCodec.Type)? {
        for codec in codecs {
            if let sideRequest = codec.type.sideRequest(exchange) { return (sideRequest, codec.type) }
        }
        return nil
    }

    private static func key(_ sideRequest: SideRequest, _ session: String?, place: String) -> ExchangeKey {
        let asked = JSONValue.array([sideRequest.meaning, session.map(JSONValue.string) ?? .null])
        let place = sideRequest.path.map { "\(place.prefix { $0 != " " }) \($0)" } ?? place
        return ExchangeKey(place: place, query: [], body: .json(asked.canonicalText))
    }

    /// Under `--match off` method and path are all.
    private static func key(
        _ head: RequestHead, place: String, path: String, body: [UInt8], redacted: [String], _ options: ReplayOptions
    ) -> ExchangeKey {
        guard options.match != .off else { return ExchangeKey(place: place, query: [], body: .none) }
        let rules = options.ignore.filter { [path, "\(head.method) \(path)", "*"].contains($0.label) }
        let items = StableQuery.stable(head).filter { !redacted.contains($0.name.lowercased()) }
        return ExchangeKey(
            place: place, query: items.map { "\($0.name)=\($0.value)" }.sorted(),
            body: ExchangeBody(body, head.headers, ignoring: rules))
    }
}
