internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapePlayback
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeWire

extension ControlServer {
    /// Does what a request asks for.
    func perform(_ request: ControlRequest, on connection: ControlConnection) throws(ControlError) -> ControlReply {
        switch request.operation {
        case .page(.getIndex): return .file(PageFile.index)
        case .page(.getPageFile):
            let name = request.name("file")
            guard let file = PageFile.named(name) else { throw .unknown("the page has no '\(Summary.line(name))'") }
            return .file(file)
        case .process(.getHealth): return .json(.object([.init("ok", .bool(true))]), status: 200)
        case .process(.getMetrics): return .text(metrics, type: "text/plain; version=0.0.4; charset=utf-8")
        case .runs(let operation): return try perform(operation, request, on: connection)
        case .look(let operation):
            let (number, run) = try run(of: request)
            return try look(operation, request, at: run, number, on: connection)
        case .rules(let operation): return try rules(operation, request, of: try run(of: request).run)
        case .act(let operation): return try act(operation, request, on: try run(of: request).run)
        case .step(let operation): return try step(operation, request, of: try run(of: request).run)
        case .clock(let operation): return try clock(operation, request, of: try run(of: request).run)
        }
    }

    private func perform(
        _ operation: RunOperation, _ request: ControlRequest, on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        switch operation {
        case .listReplays: return list([.replay])
        case .listRecordings: return list([.record, .proxy])
        case .createReplay: return try createReplay(request, on: connection)
        case .createRecording: return try createRecording(request, on: connection)
        case .deleteReplay: return try delete(request, [.replay], on: connection)
        case .deleteRecording: return try delete(request, [.record, .proxy], on: connection)
        }
    }

    // MARK: Looking

    private func look(
        _ operation: LookOperation, _ request: ControlRequest, at run: any ControlledRun, _ number: Int,
        on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        switch operation {
        case .getStatus: return .json(status(number, run), status: 200)
        case .listSessions:
            let sessions = run.report().sessions.map { session($0, of: run) }
            return .json(.object([.init("sessions", .array(sessions))]), status: 200)
        case .getSession:
            let found = try find(request.name("id"), in: run)
            let report = run.report().sessions.first { $0.session == found.session && $0.run == found.run }
            guard let report else { throw .unknown("there is no session '\(found.id)'") }
            return .json(session(report, of: run), status: 200)
        case .listMessages: return try messages(request, of: run)
        case .findMessages: return try foundMessages(request, of: run)
        case .listConnections:
            return .json(.object([.init("connections", .array(run.connections.map(\.json)))]), status: 200)
        case .streamEvents: return try events(request, of: run, number, on: connection)
        case .addMark:
            let text = try request.members(["text"]).required("text")
            guard 1...1_024 ~= text.unicodeScalars.count else { throw .bad("'text' has 1 to 1024 characters") }
            run.mark(text)
            return .json(.object([.init("n", .number(run.journal.latest)), .init("text", .string(text))]), status: 201)
        case .getObserved: return .json(observed.json(of: number), status: 200)
        case .addObserved:
            try observed.add(try Self.ids(request), to: number)
            return .json(observed.json(of: number), status: 200)
        case .expect: return try expect(request, of: run)
        case .getReport: return try report(request, of: run)
        case .wait: return try wait(request, for: run, number, on: connection)
        }
    }

    private func status(_ number: Int, _ run: any ControlledRun) -> JSONValue {
        let (plan, fired) = run.rules
        let sessions = run.sessions
        return .object(
            [.init("id", .number(number)), .init("kind", .string(run.kind.rawValue))] + run.place + [
                .init("sessions", .number(sessions.count)),
                .init("finished_sessions", .number(sessions.count { $0.isFinished })),
                .init("divergences", .number(run.journal.tally.divergences)),
                .init("connections", .number(run.connections.count)), .init("rules", .number(plan.rules.count)),
                .init("fired", .number(fired.values.reduce(0, +))), .init("last_event", .number(run.journal.latest)),
                .init("clock", run.clock.map(\.json) ?? .null),
            ])
    }

    private func session(_ session: ReplayReport.Session, of run: any ControlledRun) -> JSONValue {
        let own = run.connections.filter { $0.session == session.session && $0.run == session.run }
        let members: [JSONValue.Member] = [
            .init("id", .string(session.run == 1 ? "\(session.session)" : "\(session.session).\(session.run)")),
            .init("name", run.name(ofSession: session.session).map(JSONValue.string) ?? .null),
            .init("paused", run.isPaused(session: session.session).map(JSONValue.bool) ?? .null),
            .init("connections", .array(own.map { .number($0.id) })),
        ]
        return .object(members + (session.json.mappingTexts(run.masked).members ?? []))
    }

    /// A session that a client has begun, by its id or its name.
    func find(_ id: String, in run: any ControlledRun) throws(ControlError) -> ControlledSession {
        let sessions = run.sessions
        if let one = sessions.first(where: { $0.id == id }) { return one }
        if let one = sessions.first(where: { run.name(ofSession: $0.session) == id }) { return one }
        let known =
            sessions.isEmpty
            ? "no client has begun one" : "there is \(sessions.prefix(8).map(\.id).joined(separator: ", "))"
        throw .unknown("there is no session '\(Summary.line(id))': \(known)")
    }

    private func messages(_ request: ControlRequest, of run: any ControlledRun) throws(ControlError) -> ControlReply {
        let session = try find(request.name("id"), in: run)
        let after = try request.queryNumber("after") ?? 0
        let most = Int(clamping: try request.queryNumber("limit") ?? 1_000)
        guard 1...1_000 ~= most else { throw .bad("'limit' is 1 to 1000") }
        var found: [JSONValue] = []
        var next = after
        var isMore = false
        for entry in run.journal.entries(after: after)
        where entry.event == "message" && entry.session == session.session && entry.run == session.run {
            guard found.count < most else {
                isMore = true
                break
            }
            next = entry.number
            guard let members = (try? JSONValue(parsing: entry.text))?.members else { continue }
            found.append(.object([.init("n", .number(entry.number))] + members))
        }
        return .json(
            .object([
                .init("messages", .array(found)), .init("next", .number(next)), .init("more", .bool(isMore)),
                // What came before that number is kept no more.
                .init("oldest", .number(run.journal.oldest)),
            ]), status: 200)
    }

    /// Which messages a selector means, by the numbers of their events; as many are looked at as take the loop little time.
    private func foundMessages(
        _ request: ControlRequest, of run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        guard let words = request.queryText("where") else { throw .bad("the query needs 'where', a selector") }
        let selector = try Self.selector(words, "where")
        let after = try request.queryNumber("after") ?? 0
        var counted = Int(clamping: try request.queryNumber("counted") ?? 0)
        var next = after
        var found: [JSONValue] = []
        for entry in run.journal.entries(after: after).prefix(Self.mostLookedAt) {
            next = entry.number
            guard let message = entry.message, selector.matches(message) else { continue }
            counted += 1
            if selector.occurrence?.contains(counted) ?? true { found.append(.number(entry.number)) }
        }
        return .json(
            .object([
                .init("numbers", .array(found)), .init("next", .number(next)), .init("counted", .number(counted)),
                .init("more", .bool(next < run.journal.latest)), .init("oldest", .number(run.journal.oldest)),
            ]), status: 200)
    }

    private static let mostLookedAt = 5_000

    private static let eventNames: Set<String> = [
        "ready", "attempt", "connected", "message", "fault", "divergence", "disconnected", "finished", "mark", "end",
    ]

    private func events(
        _ request: ControlRequest, of run: any ControlledRun, _ number: Int, on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        var types: Set<String>?
        if let text = request.queryText("types") {
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            for name in names where !Self.eventNames.contains(name) {
                throw .bad(
                    "there is no event '\(Summary.line(name))'\(NearestName.hint(name, among: Self.eventNames.sorted()))"
                )
            }
            types = Set(names)
        }
        let resumed = connection.lastEventID.flatMap { UInt64($0) }.map { min($0, 1 << 53) }
        let after = try request.queryNumber("after") ?? resumed ?? run.journal.latest
        return .events(EventSubscription(run: number, after: min(after, run.journal.latest), types: types))
    }

    private static func ids(_ request: ControlRequest) throws(ControlError) -> [String] {
        let body = try request.members(["id", "ids"])
        func text(_ value: JSONValue) throws(ControlError) -> String {
            switch value {
            case .string(let text):
                guard 1...256 ~= text.unicodeScalars.count else { throw .bad("an id has 1 to 256 characters") }
                return text
            case .number where value.wholeNumber != nil: return "\(value.wholeNumber ?? 0)"
            case .null, .bool, .array, .object, .number:
                throw .bad("an id is a text or a whole number, found \(value.shortText)")
            }
        }
        var ids: [String] = []
        if let one = body["id"] { ids.append(try text(one)) }
        if let several = body["ids"] {
            guard let items = several.array, !items.isEmpty else {
                throw .bad("'ids' is an array of texts that is not empty")
            }
            for item in items { ids.append(try text(item)) }
        }
        guard !ids.isEmpty else { throw .bad("the body needs 'id' or 'ids'") }
        return ids
    }

    private func expect(_ request: ControlRequest, of run: any ControlledRun) throws(ControlError) -> ControlReply {
        let text = try request.members(["policy"]).required("policy")
        let expectation: Expectation
        do {
            expectation = try Expectation.parse(text)
        } catch {
            throw .bad("'policy': \(error)")
        }
        let judgements = try run.expect(expectation)
        return .json(
            .object([
                .init("policy", .string(expectation.text)), .init("met", .bool(judgements.allSatisfy(\.met))),
                .init("judgements", .array(judgements.map { $0.json.mappingTexts(run.masked) })),
            ]), status: 200)
    }

    private func report(_ request: ControlRequest, of run: any ControlledRun) throws(ControlError) -> ControlReply {
        let report = run.report()
        switch request.queryText("format") ?? "json" {
        case "json": return .json(report.json.mappingTexts(run.masked), status: 200)
        case "text": return .text(run.masked(report.text), type: "text/plain; charset=utf-8")
        case "junit": return .text(report.junit(suite: run.kind.rawValue, masked: run.masked), type: "application/xml")
        case "html": return .file(PageFile(report: report.html(of: run.kind.rawValue, masked: run.masked)))
        default: throw .bad("'format' is json, text, junit or html")
        }
    }

    // MARK: Waiting

    private func wait(
        _ request: ControlRequest, for run: any ControlledRun, _ number: Int, on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        let body = try request.members(["for", "timeout", "after", "session"])
        let words = try body.required("for")
        let time = try body.duration("timeout") ?? 10_000_000_000
        guard time <= 600_000_000_000 else { throw .bad("'timeout' is 10m at most") }
        let after = try body.number("after", 0...(1 << 53)) ?? 0
        var session: Int?
        if let id = body["session"] {
            guard let number = id.wholeNumber, number > 0 else {
                throw .bad("'session' is the number of a session, from 1")
            }
            session = number
        }
        let goal: PendingWait.Goal
        if words == "finished" {
            goal = .finished
        } else if Self.eventNames.contains(words), words != "message" {
            goal = .event(words)
        } else {
            goal = .message(try Self.selector(words, "for"))
        }
        wait(
            PendingWait(
                run: number, goal: goal, words: Summary.line(words), time: time, session: session,
                after: UInt64(clamping: after)), within: time, on: connection)
        return .later
    }

    // MARK: Runs

    private func list(_ kinds: [ControlledRunKind]) -> ControlReply {
        let found = runs.filter { kinds.contains($0.value.kind) }.sorted { $0.key < $1.key }
        return .json(
            .object([.init("runs", .array(found.map { summary($0.key, $0.value) }))]), status: 200)
    }

    private func createReplay(
        _ request: ControlRequest, on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        let body = try request.members(["tape", "options"])
        let order = RunOrder(
            kind: .replay, tape: try Self.path(body), upstream: nil, options: try Self.options(body["options"]))
        try make(order, on: connection)
        return .later
    }

    private func createRecording(
        _ request: ControlRequest, on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        let body = try request.members(["tape", "upstream", "options"])
        let order = RunOrder(
            kind: .record, tape: try Self.path(body), upstream: try body.required("upstream"),
            options: try Self.options(body["options"]))
        try make(order, on: connection)
        return .later
    }

    private static func path(_ body: ControlBody) throws(ControlError) -> String {
        let path = try body.required("tape")
        guard !path.isEmpty, path != "-", !path.hasPrefix("--"), !path.utf8.contains(0) else {
            throw .bad("'tape' is the path of a file")
        }
        return path
    }

    /// `{"speed":"instant","allow-unplayed":true,"fault":["…","…"]}`.
    private static func options(_ value: JSONValue?) throws(ControlError) -> [(name: String, value: String?)] {
        guard let value else { return [] }
        guard let members = value.members else { throw .bad("'options' is an object, found \(value.kindName)") }
        var options: [(name: String, value: String?)] = []
        func add(_ name: String, _ value: JSONValue) throws(ControlError) {
            switch value {
            case .bool(true): options.append((name, nil))
            case .bool(false): break
            case .string(let text), .number(let text): options.append((name, text))
            case .null, .array, .object:
                throw .bad("the option '\(Summary.line(name))' is a text, a number or true, found \(value.kindName)")
            }
        }
        for member in members {
            if let items = member.value.array {
                for item in items { try add(member.name, item) }
            } else {
                try add(member.name, member.value)
            }
        }
        return options
    }

    private func delete(
        _ request: ControlRequest, _ kinds: [ControlledRunKind], on connection: ControlConnection
    ) throws(ControlError) -> ControlReply {
        guard let number = Int(request.name("id")) else {
            throw .unknown("there is no run '\(Summary.line(request.name("id")))'")
        }
        try end(number, kinds, on: connection)
        return .later
    }
}

extension ControlledClock {
    var json: JSONValue {
        .object([
            .init("mode", .string(isManual ? "manual" : "running")),
            .init("scale", .number(scale == scale.rounded() && scale < 1e15 ? "\(Int(scale))" : "\(scale)")),
            .init("t_ms", .number(DurationText.milliseconds(elapsed))),
        ])
    }
}
