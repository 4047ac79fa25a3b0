import Testing
import WiretapeBytes
import WiretapeFaults
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// A replay as a conversation in virtual time: clients say something, time passes, and what the engine did is compared.
final class Playbook {
    var engine: ReplayEngine
    private(set) var now = WireInstant(nanoseconds: 1_000_000_000)
    /// What each connection got that was not looked at yet.
    private var got: [ConnectionID: [String]] = [:]
    private(set) var logs: [String] = []
    private var last: ConnectionID = 0
    /// Whether the kernel takes and acknowledges everything at once.
    var kernelTakes = true
    var peerAcknowledges = true
    private(set) var untaken: [(ConnectionID, UInt64)] = []
    private(set) var unacknowledged: [(ConnectionID, UInt64)] = []
    /// Connections on which a message was cut short: the kernel never gets the rest.
    private var limited: Set<ConnectionID> = []
    /// The host of the next clients.
    var host = "10.0.0.1"
    var agent = "test"
    /// The name of the listener that they come to.
    var listener: String?
    /// And the upstream that it stands for.
    var upstream: String?
    private let recorded: [RecordedSession]

    convenience init(
        _ exchanges: [RecordedExchange], upstreams: [String] = [], faults: [String] = [],
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        try self.init([], exchanges: exchanges, upstreams: Upstreams(upstreams), faults: faults, change)
    }

    convenience init(
        _ sessions: [RecordedSession], exchanges: [RecordedExchange] = [], upstreams: [String],
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        try self.init(sessions, exchanges: exchanges, upstreams: Upstreams(upstreams), change)
    }

    init(
        _ sessions: [RecordedSession], exchanges: [RecordedExchange] = [], upstreams: Upstreams = Upstreams(),
        speed: ReplayOptions.Speed = .factor(1),
        faults: [String] = [], plan: FaultPlan = FaultPlan(),
        seed: UInt64 = 1, _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        var options = ReplayOptions()
        options.speed = speed
        // These tapes are short: what comes first is what is looked at.
        options.greeting = .off
        change(&options)
        var plan = plan
        for fault in faults { plan.append(try FaultRule(parsing: fault, from: RuleSource(file: "--fault"))) }
        recorded = sessions
        engine = ReplayEngine(
            sessions: sessions, exchanges: exchanges, upstreams: upstreams, tapeName: "chat.tape",
            options: options, faults: plan, seed: seed)
    }

    // MARK: Clients

    /// A connection with one request.
    func request(
        _ method: String, _ target: String, _ headers: [HeaderField] = [], body: [UInt8] = []
    ) -> ConnectionID {
        last += 1
        var out: [ReplayAction] = []
        engine.opened(
            last, from: Address(host: host, port: 5000), name: listener, upstream: upstream, at: now,
            into: &out)
        perform(&out)
        ask(last, method, target, headers, body: body)
        return last
    }

    /// A further request on a connection.
    func ask(
        _ c: ConnectionID, _ method: String, _ target: String, _ headers: [HeaderField] = [], body: [UInt8] = []
    ) {
        var out: [ReplayAction] = []
        let head = RequestHead(
            method: method, target: target, headers: [HeaderField("User-Agent", agent)] + headers)
        engine.request(c, head, body: body, at: now, into: &out)
        perform(&out)
    }

    /// Asks for a new credential on the connection of that token. Nil: the request names no connection.
    func refresh(_ path: String, _ token: String?) -> ConnectionID {
        request("POST", path, token.map { [HeaderField("X-SignalR-Connection-Token", $0)] } ?? [])
    }

    /// Negotiates; the token that was answered, nil for a refusal, whose connection is left in `refused`.
    func negotiate(_ route: String = "/chat") -> String? {
        let c = request("POST", "\(route)/negotiate?negotiateVersion=1")
        guard let answer = got[c]?.last, answer.hasPrefix("200 "),
            let body = try? JSONValue(parsing: String(answer.dropFirst(4))),
            let token = body["connectionToken"]?.string
        else {
            refused = c
            return nil
        }
        lastToken = token
        return token
    }

    private(set) var lastToken = ""

    private(set) var refused: ConnectionID = 0

    func upgrade(_ token: String?, _ route: String = "/chat") -> ConnectionID {
        request(
            "GET", token.map { "\(route)?id=\($0)" } ?? route,
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
    }

    /// Negotiates, upgrades and sends the handshake; what was answered so far is dropped.
    func start(_ route: String = "/chat") throws -> ConnectionID {
        let token: String = try #require(negotiate(route))
        let c = upgrade(token, route)
        send(c, #"{"protocol":"json","version":1}"#)
        pass(ms: 1)
        let opening = take(c)
        try #require(opening.prefix(2) == ["101", "{}"], "\(opening)")
        got[c] = Array(opening.dropFirst(2))
        return c
    }

    func send(_ c: ConnectionID, _ records: String) {
        var out: [ReplayAction] = []
        engine.message(c, .text, TestTape.bytes(records).span, at: now, into: &out)
        perform(&out)
    }

    func sendBytes(_ c: ConnectionID, _ opcode: Opcode, _ bytes: [UInt8]) {
        var out: [ReplayAction] = []
        engine.message(c, opcode, bytes.span, at: now, into: &out)
        perform(&out)
    }

    func close(_ c: ConnectionID, _ how: ClientEnd = .fin) {
        var out: [ReplayAction] = []
        engine.clientClosed(c, how, at: now, into: &out)
        perform(&out)
    }

    // MARK: Time and kernel

    /// Lets time pass, waking the engine whenever it asks for it.
    func pass(ms: UInt64) {
        let target = now.advanced(by: ms * 1_000_000)
        var idle = 0
        while let wake = engine.nextWake, wake <= target, idle < 10_000 {
            idle = wake > now ? 0 : idle + 1
            now = max(now, wake)
            var out: [ReplayAction] = []
            engine.wake(at: now, into: &out)
            perform(&out)
        }
        #expect(idle < 10_000, "the engine asks for the same wake-up again and again")
        now = target
        var out: [ReplayAction] = []
        engine.wake(at: now, into: &out)
        perform(&out)
    }

    func takeAll() {
        var out: [ReplayAction] = []
        let waiting = untaken.filter { !limited.contains($0.0) }
        untaken = []
        for (c, ticket) in waiting { engine.handedOver(c, ticket: ticket, at: now, into: &out) }
        perform(&out)
    }

    func acknowledge(complete: Bool = true) {
        var out: [ReplayAction] = []
        let waiting = unacknowledged
        unacknowledged = []
        for (c, ticket) in waiting {
            engine.acknowledged(c, ticket: ticket, complete: complete, at: now, into: &out)
        }
        perform(&out)
    }

    /// Any other input of the engine.
    func act(_ input: (inout ReplayEngine, WireInstant, inout [ReplayAction]) -> Void) {
        var out: [ReplayAction] = []
        input(&engine, now, &out)
        perform(&out)
    }

    private func perform(_ actions: inout [ReplayAction]) {
        for action in actions {
            switch engine.spoken(action) {
            case .respond(let c, let answer, _, let ticket):
                if let ticket { untaken.append((c, ticket)) }
                got[c, default: []].append(
                    "\(answer.status) \(String(decoding: answer.body, as: UTF8.self).trimmingBlanks())")
                answers[c] = answer
            case .upgrade(let c, let headers, let accept, _):
                got[c, default: []].append(accept == nil ? "101" : "101 wrong")
                upgrades[c] = headers
            case .raw(let c, let bytes, let ticket):
                got[c, default: []].append("raw \(hexText(bytes))")
                if let ticket { untaken.append((c, ticket)) }
            case .limit(let c, let count):
                got[c, default: []].append("limit \(count)")
                limited.insert(c)
            case .pace(let c, let pace): got[c, default: []].append("pace \(pace)")
            case .hold(let c, let time): got[c, default: []].append("hold \(DurationText.describe(time))")
            case .stall(let c, let reads, let writes):
                got[c, default: []].append("stall\(reads ? " in" : "")\(writes ? " out" : "")")
            case .mute(let c, let isMuted): got[c, default: []].append(isMuted ? "mute" : "unmute")
            case .send(let c, _, let bytes, let ticket, _, let sizes):
                switch sizes {
                case .one, .sizes([]): break
                case .sizes(let sizes): got[c, default: []].append("frames of \(sizes)")
                case .atMost(let size): got[c, default: []].append("frames of at most \(size)")
                }
                got[c, default: []] += String(decoding: bytes, as: UTF8.self).split(separator: "\u{1e}").map(
                    String.init)
                frames[c, default: 0] += 1
                untaken.append((c, ticket))
            case .closeFrame(let c, let code, let reason):
                let text = "close \(code.map { "\($0)" } ?? "-") \(reason)"
                got[c, default: []].append(text.trimmingBlanks())
            case .disconnect(let c): got[c, default: []].append("FIN")
            case .reset(let c): got[c, default: []].append("RST")
            case .awaitAcknowledged(let c, let ticket): unacknowledged.append((c, ticket))
            case .note: break
            case .log(let text): logs.append(text)
            case .beginStream(let c, let answer):
                got[c, default: []].append("\(answer.status) …")
                answers[c] = answer
            case .piece(let c, let bytes, let ticket):
                got[c, default: []].append(String(decoding: bytes, as: UTF8.self))
                untaken.append((c, ticket))
            case .endStream(let c): got[c, default: []].append("end")
            case .passThrough(let c): got[c, default: []].append("through")
            }
        }
        actions = []
        if kernelTakes, !untaken.isEmpty { takeAll() }
        if peerAcknowledges, !unacknowledged.isEmpty { acknowledge() }
    }

    /// The last HTTP answer and the number of WebSocket messages of each connection.
    private(set) var answers: [ConnectionID: HTTPAnswer] = [:]
    private(set) var frames: [ConnectionID: Int] = [:]
    /// What upgrades were answered with.
    private(set) var upgrades: [ConnectionID: [HeaderField]] = [:]

    // MARK: Looking

    /// What the connection got since the last look.
    func take(_ c: ConnectionID) -> [String] { got.removeValue(forKey: c) ?? [] }

    /// The connection got exactly this since the last look; else both are shown side by side.
    func expect(
        _ c: ConnectionID, _ wanted: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let actual = take(c)
        guard actual != wanted else { return }
        var diff = "connection \(c) at \(now.nanoseconds / 1_000_000) ms\n"
        for i in 0..<max(actual.count, wanted.count) {
            let left = i < wanted.count ? wanted[i] : "-"
            let right = i < actual.count ? actual[i] : "-"
            diff += "\(left == right ? "  " : "≠ ")\(left.padded(60)) \(right)\n"
        }
        Issue.record("expected | got\n\(diff)", sourceLocation: sourceLocation)
    }

    /// A rule that has fired is none of those that cannot.
    func finish() -> ReplayReport {
        let report = engine.finish(at: now)
        let fired = Set(report.faults.map(\.rule))
        let hopeless = engine.faults.hopeless(in: recorded, tapeName: "chat.tape", options: engine.options)
        #expect(!hopeless.contains { fired.contains($0.rule) }, "\(hopeless.map(\.text))")
        return report
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
