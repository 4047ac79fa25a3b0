internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Knows which causes have come in each run of the tape, and for which of them a server message still waits.
///
/// A session waits only once for a source that stays away: ``giveUp(_:for:in:_:)`` gives up all causes of that source until it shows up.
struct CauseTable: Sendable {
    private let recorded: RecordedCauses
    /// The number of each exchange's method and path.
    private let places: [Int]
    /// The method of each exchange.
    private let methods: [String]
    private let operations: Set<SessionLibrary.ID>
    /// The line range of each session, from its first cause to its last message or ending.
    private let spans: [SessionLibrary.ID: ClosedRange<Int32>]
    /// All runs of the tape share the plain requests of the first run.
    private let sharesRequests: Bool
    /// A session also waits for causes that were over when it began on the tape (`--causality tape`).
    private let waitsForPast: Bool
    private var runs: [Progress] = []
    /// Runs in which a source was given up, and those in which a session waits.
    private var givingUp: Set<Int> = []
    private var waiting: Set<Int> = []

    /// A source of causes. A session gives up a source that stays away as a whole.
    enum Source: Hashable, Sendable {
        /// Requests of one method and path.
        case requests(place: Int)
        /// A session that a client has.
        case session(SessionLibrary.ID)
        /// No client has asked for it in this run.
        case unseen(Unseen)
    }

    enum Unseen: Hashable, Sendable {
        case requests(method: String)
        case sessions
        /// Sessions that are a single request and its response.
        case operations
    }

    /// The state of one cause in a run.
    private enum Standing {
        /// The session itself did it.
        case own
        /// The time at which it came. Nil if that is unknown or nothing waits for it any more.
        case settled(WireInstant?)
        case open(Source)
    }

    /// One run of the tape.
    private struct Progress {
        /// Every cause before this index is settled for all sessions.
        var settled = 0
        /// The time at which each exchange's request came last.
        var requests: [Int: WireInstant] = [:]
        var seen: Set<Int> = []
        var givenUp: Set<Source> = []
        var sessions: [SessionID: Session] = [:]
        /// Sessions that wait for a cause, with the time at which the wait began.
        var waiting: [SessionID: WireInstant] = [:]
    }

    /// The position of a session among the causes.
    private struct Session {
        let played: SessionLibrary.ID
        /// The recorded sessions that it consists of.
        let own: [SessionLibrary.ID]
        /// The line on which it begins.
        let begin: Int32
        /// No cause before this index holds it back.
        var position = 0
    }

    init(_ sessions: [RecordedSession], _ exchanges: [RecordedExchange], _ options: ReplayOptions) {
        sharesRequests = options.clients == 1
        waitsForPast = options.causality == .tape
        recorded = RecordedCauses(sessions, exchanges)
        var numbers: [String: Int] = [:]
        places = exchanges.map { exchange in
            let place = "\(exchange.request.method) \(exchange.upstream ?? "") \(exchange.request.path)"
            let number = numbers[place] ?? numbers.count
            numbers[place] = number
            return number
        }
        methods = exchanges.map(\.request.method)
        spans = CauseTable.spans(recorded.all, sessions)
        operations = Set(sessions.indices.filter { sessions[$0].isOperation }.map { SessionLibrary.ID(place: $0) })
    }

    private static func spans(
        _ causes: [RecordedCauses.Cause], _ sessions: [RecordedSession]
    ) -> [SessionLibrary.ID: ClosedRange<Int32>] {
        var spans: [SessionLibrary.ID: ClosedRange<Int32>] = [:]
        for cause in causes {
            switch cause.what {
            case .request: break
            case .opening(let id), .message(let id): spans[id] = (spans[id]?.lowerBound ?? cause.line)...cause.line
            }
        }
        for (place, session) in sessions.enumerated() {
            let id = SessionLibrary.ID(place: place)
            guard let span = spans[id], let last = session.lastLine else { continue }
            spans[id] = span.lowerBound...max(span.upperBound, Int32(clamping: last))
        }
        return spans
    }

    var isEmpty: Bool { recorded.all.isEmpty }

    subscript(cause: Int) -> RecordedCauses.Cause { recorded.all[cause] }

    // MARK: What happens

    /// The request of that exchange has come.
    mutating func came(request exchange: Int, in run: Int, at now: WireInstant) {
        guard !isEmpty else { return }
        begin(run)
        runs[run].requests[exchange] = now
        runs[run].seen.insert(places[exchange])
        for other in sharesRequests ? Array(givingUp) : [run] {
            runs[other].givenUp.remove(.requests(place: places[exchange]))
        }
    }

    /// The client of a session has said something.
    mutating func spoke(_ session: SessionLibrary.ID, in run: Int) {
        guard run < runs.count, !runs[run].givenUp.isEmpty else { return }
        runs[run].givenUp.remove(.session(session))
    }

    /// The recorded session that a session plays. Nil if ``plays(_:_:_:in:)`` was not called for it.
    func played(by session: SessionID, in run: Int) -> SessionLibrary.ID? {
        run < runs.count ? runs[run].sessions[session]?.played : nil
    }

    /// The session plays `played` from now on, which consists of the recorded sessions `own`.
    mutating func plays(
        _ played: SessionLibrary.ID, _ own: [SessionLibrary.ID], _ session: SessionID, in run: Int
    ) {
        guard !isEmpty else { return }
        begin(run)
        let begin = own.compactMap { spans[$0]?.lowerBound }.min() ?? 0
        runs[run].sessions[session] = Session(played: played, own: own, begin: begin)
    }

    /// The run gives up the source of that cause.
    mutating func giveUp(_ cause: Int, for session: SessionID?, in run: Int, _ claims: Claims) {
        guard case .open(let source) = standing(of: cause, for: session, in: run, claims) else { return }
        runs[run].givenUp.insert(source)
        givingUp.insert(run)
    }

    /// No cause up to that line of the tape holds the session back any more.
    mutating func forgive(upTo line: Int32, for session: SessionID, in run: Int) {
        let place = recorded.first(behind: line)
        guard let position = runs[run].sessions[session]?.position, position < place else { return }
        runs[run].sessions[session]?.position = place
    }

    // MARK: What is waited for

    /// The first open cause before a message of a session.
    /// - Parameters:
    ///   - after: only causes behind this line count.
    ///   - line: the line of the message.
    mutating func firstOpen(
        after: Int32 = 0, before line: Int32, for session: SessionID, in run: Int, _ claims: Claims
    ) -> Int? {
        guard !isEmpty, let (position, begin) = runs[run].sessions[session].map({ ($0.position, $0.begin) }) else {
            return nil
        }
        settle(in: run, claims)
        var at = max(position, after == 0 ? runs[run].settled : recorded.first(behind: after))
        defer { if after == 0 { runs[run].sessions[session]?.position = at } }
        while at < recorded.all.count, recorded.all[at].line < line {
            switch standing(of: at, for: session, in: run, claims) {
            case .own, .settled: break
            case .open(let source):
                if !runs[run].givenUp.contains(source), !isPast(at, source, begin) { return at }
            }
            at += 1
        }
        return nil
    }

    /// Passes over the settled causes at the beginning of the tape.
    private mutating func settle(in run: Int, _ claims: Claims) {
        while runs[run].settled < recorded.all.count {
            guard case .settled = standing(of: runs[run].settled, for: nil, in: run, claims) else { return }
            runs[run].settled += 1
        }
    }

    /// Whether no client has asked for the source in this run, and the source was over when the session began on the tape. A client that
    /// begins with the session has left it out.
    private func isPast(_ cause: Int, _ source: Source, _ begin: Int32) -> Bool {
        guard case .unseen = source, !waitsForPast else { return false }
        return switch recorded.all[cause].what {
        case .request: recorded.all[cause].line < begin
        case .opening(let id), .message(let id): spans[id].map { $0.upperBound < begin } ?? false
        }
    }

    /// The first open cause between a plain request and its response. Requests that change nothing at a server do not count.
    mutating func firstOpen(whileAnswering exchange: RecordedExchange, in run: Int, _ claims: Claims) -> Int? {
        guard !isEmpty, run < runs.count else { return nil }
        var at = recorded.first(behind: Int32(clamping: exchange.line))
        while at < recorded.all.count, recorded.all[at].time < exchange.answered {
            switch standing(of: at, for: nil, in: run, claims) {
            case .own, .settled: break
            case .open(let source):
                if !runs[run].givenUp.contains(source), mayChangeSomething(at) { return at }
            }
            at += 1
        }
        return nil
    }

    private func mayChangeSomething(_ cause: Int) -> Bool {
        switch recorded.all[cause].what {
        case .request(let exchange): !["GET", "HEAD", "OPTIONS"].contains(methods[exchange])
        case .opening: false
        case .message: true
        }
    }

    /// The last cause that came, among the few that precede a line. Nil if none of them came.
    func latest(before line: Int32, for session: SessionID?, in run: Int, _ claims: Claims) -> Anchor? {
        guard !isEmpty, run < runs.count else { return nil }
        let end = recorded.first(from: line)
        var found: Anchor?
        for cause in recorded.all.indices[max(0, end - CauseTable.near)..<end] {
            guard case .settled(let at?) = standing(of: cause, for: session, in: run, claims) else { continue }
            let anchor = Anchor(at: at, recorded: recorded.all[cause].time)
            found = found?.later(anchor) ?? anchor
        }
        return found
    }

    /// The number of causes that ``latest(before:for:in:_:)`` looks at.
    private static let near = 8

    // MARK: Who waits

    /// The session waits for a cause.
    /// - Returns: the time at which the wait began.
    mutating func waits(_ session: SessionID, in run: Int, at now: WireInstant) -> WireInstant {
        let since = runs[run].waiting[session] ?? now
        runs[run].waiting[session] = since
        waiting.insert(run)
        return since
    }

    mutating func waitsNoMore(_ session: SessionID, in run: Int) {
        guard run < runs.count, !runs[run].waiting.isEmpty else { return }
        runs[run].waiting[session] = nil
        if runs[run].waiting.isEmpty { waiting.remove(run) }
    }

    /// The sessions that wait, in the order of claiming.
    /// - Parameter run: all runs if nil.
    func waiting(in run: Int?) -> [SessionID] {
        guard let run else { return waiting.flatMap { runs[$0].waiting.keys }.sorted() }
        guard run < runs.count, !runs[run].waiting.isEmpty else { return [] }
        return runs[run].waiting.keys.sorted()
    }

    // MARK: Looking

    private mutating func begin(_ run: Int) {
        while runs.count <= run { runs.append(Progress()) }
    }

    private func standing(of cause: Int, for session: SessionID?, in run: Int, _ claims: Claims) -> Standing {
        switch recorded.all[cause].what {
        case .request(let exchange):
            let asked = sharesRequests ? 0 : run
            if let at = runs[asked].requests[exchange] { return .settled(at) }
            let place = places[exchange]
            return .open(
                runs[asked].seen.contains(place)
                    ? .requests(place: place) : .unseen(.requests(method: methods[exchange])))
        case .opening(let id):
            return standing(of: id, for: session, in: run, claims) { holder in
                holder.generation > 0 ? .settled(holder.claimedAt) : nil
            }
        case .message(let id):
            return standing(of: id, for: session, in: run, claims) { holder in
                switch holder.cursor.said(onLine: recorded.all[cause].line) {
                case .awaited: nil
                case .came(let at): .settled(at)
                case .settled: .settled(nil)
                }
            }
        }
    }

    /// - Parameter look: the state of the cause in the session that a client plays. Nil if it has not come.
    private func standing(
        of id: SessionLibrary.ID, for session: SessionID?, in run: Int, _ claims: Claims,
        _ look: (SessionRun) -> Standing?
    ) -> Standing {
        if let session, runs[run].sessions[session]?.own.contains(id) == true { return .own }
        guard run < claims.tapeRuns.count, let holder = claims.tapeRuns[run].holders[id] else {
            return .open(.unseen(operations.contains(id) ? .operations : .sessions))
        }
        return look(holder) ?? (holder.isOver ? .settled(nil) : .open(.session(id)))
    }
}
