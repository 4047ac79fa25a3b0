internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapePlayback
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeWire

// What changes a run: its rules, its connections, its time.

extension ControlServer {
    static let source = RuleSource(file: "request")

    static func selector(_ text: String, _ what: String) throws(ControlError) -> Selector {
        do {
            return try Selector(parsing: text, from: source)
        } catch {
            throw .bad("'\(what)': \(error.message), at character \(error.source.column)")
        }
    }

    // MARK: Rules

    func rules(
        _ operation: RuleOperation, _ request: ControlRequest, of run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        let (plan, _) = run.rules
        switch operation {
        case .listFaults: break
        case .addFaults:
            var all = plan
            all.append(try Self.plan(request))
            guard all.rules.count <= FaultPlan.mostRules else {
                throw .conflict("a plan has at most \(FaultPlan.mostRules) rules")
            }
            try run.setRules(all, restarting: false)
        case .replaceFaults: try run.setRules(try Self.plan(request), restarting: true)
        case .deleteFaults: try run.setRules(FaultPlan(), restarting: true)
        case .resetFaults:
            _ = try request.members([])
            try run.setRules(plan, restarting: true)
        case .getFault:
            let rule = try Self.rule(request.name("name"), in: plan)
            return .json(rule.json(fired: run.rules.fired), status: 200)
        case .putFault: return try put(request, into: plan, of: run)
        case .deleteFault:
            let rule = try Self.rule(request.name("name"), in: plan)
            try run.setRules(
                FaultPlan(seed: plan.seed, rules: plan.rules.filter { $0.name != rule.name }), restarting: false)
        }
        let (now, fired) = run.rules
        let status = operation == .addFaults ? 201 : 200
        return .json(
            .object([
                .init("seed", now.seed.map { .number($0) } ?? .null),
                .init("rules", .array(now.rules.map { $0.json(fired: fired) })),
            ]), status: status)
    }

    private func put(
        _ request: ControlRequest, into plan: FaultPlan, of run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        let name = request.name("name")
        guard name.utf8.count <= 1_024 else { throw .bad("the name of a rule has at most 1024 bytes") }
        let given = try Self.plan(request)
        guard given.rules.count == 1, var rule = given.rules.first else { throw .bad("the body is one rule") }
        rule.name = name
        var rules = plan.rules
        let known = rules.firstIndex { $0.name == name }
        if let known { rules[known] = rule } else { rules.append(rule) }
        guard rules.count <= FaultPlan.mostRules else {
            throw .conflict("a plan has at most \(FaultPlan.mostRules) rules")
        }
        try run.setRules(FaultPlan(seed: plan.seed, rules: rules), restarting: false)
        return .json(rule.json(fired: run.rules.fired), status: known == nil ? 201 : 200)
    }

    /// A plan, a rule, or a list of rules.
    private static func plan(_ request: ControlRequest) throws(ControlError) -> FaultPlan {
        do {
            let plan = try FaultPlan(json: request.body, file: source.file)
            return plan
        } catch {
            throw .bad("the plan, line \(error.source.line), character \(error.source.column): \(error.message)")
        }
    }

    private static func rule(_ name: String, in plan: FaultPlan) throws(ControlError) -> FaultRule {
        if let rule = plan.rules.first(where: { $0.name == name }) { return rule }
        throw .unknown(
            "there is no rule '\(Summary.line(name))'\(NearestName.hint(name, among: plan.rules.map(\.name)))")
    }

    // MARK: Connections

    func act(
        _ operation: ActOperation, _ request: ControlRequest, on run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        let text = request.name("id")
        guard let id = ConnectionID(text), "\(id)" == text else {
            throw .unknown("there is no open connection '\(Summary.line(text))'")
        }
        try run.act(try Self.act(operation, request), on: id)
        return .json(.object([.init("ok", .bool(true)), .init("connection", .number(id))]), status: 200)
    }

    private static func act(_ operation: ActOperation, _ request: ControlRequest) throws(ControlError) -> LiveAct {
        switch operation {
        case .closeConnection:
            let body = try request.members(["code", "reason"])
            let code = try body.number("code", 0...65_535).map { UInt16($0) } ?? 1000
            let reason = try body.text("reason") ?? ""
            guard reason.utf8.count <= 123 else { throw .bad("'reason' has at most 123 bytes") }
            return .end(.close(code: code, reason: reason), text: "close(\(code))")
        case .resetConnection:
            _ = try request.members([])
            return .end(.reset, text: "reset")
        case .disconnectConnection:
            _ = try request.members([])
            return .end(.disconnect, text: "disconnect")
        case .resumeConnection:
            _ = try request.members([])
            return .resume
        case .stallConnection:
            let body = try request.members(["side", "for"])
            let side = try body.text("side") ?? "both"
            guard ["both", "reads", "writes"].contains(side) else { throw .bad("'side' is both, reads or writes") }
            let time = try body.duration("for")
            let stall = Stall(reads: side != "writes", writes: side != "reads", duration: time)
            let words = [side] + (time.map { [DurationText.describe($0)] } ?? [])
            return .stall(stall, text: "stall(\(words.joined(separator: ", ")))")
        case .injectMessage:
            return .inject(try injected(request))
        }
    }

    /// `{"message":{…}}`, `{"text":"…"}` or `{"hex":"…"}`.
    private static func injected(_ request: ControlRequest) throws(ControlError) -> MessageEdit {
        let body = try request.members(["message", "text", "hex"])
        guard body.members.count == 1 else { throw .bad("the body has one of 'message', 'text' and 'hex'") }
        if let message = body["message"] { return .text(message.text) }
        if let text = try body.text("text") { return .text(text) }
        let digits = Array(try body.required("hex").utf8)
        var bytes: [UInt8] = []
        guard digits.count % 2 == 0 else { throw .bad("'hex' has two digits for each byte") }
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = hexDigit(digits[i]), let low = hexDigit(digits[i + 1]) else {
                throw .bad("'hex' has digits from 0 to f only")
            }
            bytes.append(high << 4 | low)
        }
        return .bytes(bytes)
    }

    // MARK: Time

    func clock(
        _ operation: ClockOperation, _ request: ControlRequest, of run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        switch operation {
        case .getClock: break
        case .changeClock:
            let body = try request.members(["mode", "advance"])
            guard !body.members.isEmpty else { throw .bad("the body needs 'mode' or 'advance'") }
            let mode = try body.text("mode")
            let time = try body.duration("advance")
            if let mode {
                guard ["manual", "running"].contains(mode) else { throw .bad("'mode' is manual or running") }
                try run.setClock(isManual: mode == "manual")
            }
            if let time { try run.advanceClock(by: time) }
        }
        guard let clock = run.clock else { throw .conflict("only a replay has a clock") }
        return .json(clock.json, status: 200)
    }

    func step(
        _ operation: StepOperation, _ request: ControlRequest, of run: any ControlledRun
    ) throws(ControlError) -> ControlReply {
        let session = try find(request.name("id"), in: run)
        try run.step(try Self.order(operation, request), session: session.session)
        let isPaused = run.isPaused(session: session.session).map(JSONValue.bool) ?? .null
        return .json(.object([.init("session", .number(session.session)), .init("paused", isPaused)]), status: 200)
    }

    private static func order(_ operation: StepOperation, _ request: ControlRequest) throws(ControlError) -> StepOrder {
        switch operation {
        case .pauseSession:
            _ = try request.members([])
            return .pause
        case .resumeSession:
            _ = try request.members([])
            return .resume
        case .advanceSession:
            let body = try request.members(["by", "until"])
            guard body.members.count < 2 else { throw .bad("'by' and 'until' cannot stand beside each other") }
            if let text = try body.text("until") { return .until(try selector(text, "until")) }
            return .by(try body.number("by", 0...1_000_000) ?? 1)
        }
    }
}

extension FaultRule {
    func json(fired: [String: Int]) -> JSONValue {
        .object([
            .init("name", .string(name)), .init("fault", .string(inline)), .init("optional", .bool(optional)),
            .init("fired", .number(fired[name] ?? 0)),
        ])
    }
}

extension OpenConnection {
    var json: JSONValue {
        .object([
            .init("id", .number(id)), .init("from", from.map { .string($0.description) } ?? .null),
            .init("session", session.map { .number($0) } ?? .null), .init("run", run.map { .number($0) } ?? .null),
            .init("transport", transport.map { .string($0.rawValue) } ?? .null), .init("stalled", .bool(isStalled)),
        ])
    }
}
