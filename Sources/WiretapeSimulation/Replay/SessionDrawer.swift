internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Draws one recorded session: what a hub and its client might have said, in an order that their protocol allows.
struct SessionDrawer {
    private let limits: DrawnTape.Limits
    private let entry: CodecEntry
    private let number: Int
    private var codec: any FrameCodec
    private var entries: [RecordedSession.Entry] = []
    private var time: UInt64
    private let opened: UInt64
    private var frame = 0
    private var line = 0
    /// Open calls of the client.
    private var calls: [Call] = []
    private var nextID = 0
    /// Questions of the server that wait for an answer.
    private var questions: [String] = []
    private var nextQuestion = 1

    private struct Call {
        var id: String
        var isStream = false
        var isCancelled = false
        /// Uploads that go on.
        var uploads: [String] = []
    }

    init(
        _ random: inout SplitMix64, _ codec: CodecEntry, _ limits: DrawnTape.Limits, number: Int, start: UInt64
    ) {
        self.limits = limits
        self.number = number
        entry = codec
        time = start
        opened = start
        self.codec = codec.type.init(StreamOpening(request: RequestHead(method: "GET", target: "/")))
        nextID = random.below(3)
    }

    mutating func session(route: String, isLast: Bool, _ random: inout SplitMix64) -> RecordedSession {
        pause(&random)
        let name = limits.isPacked ? "messagepack" : "json"
        say(.toServer, #"{"protocol":"\#(name)","version":\#(limits.isStateful ? 2 : 1)}"#)
        pause(&random)
        say(.toClient, "{}")
        for _ in 0..<limits.greetings { say(.toClient, #"{"type":1,"target":"Welcome","arguments":[\#(marker())]}"#) }
        for _ in 0..<random.draw(in: limits.lines) {
            pause(&random)
            step(&random)
        }
        while let call = calls.indices.last, !limits.hasOpenEnds || random.below(4) > 0 {
            pause(&random)
            finish(call, &random)
        }
        while let question = questions.popLast() {
            pause(&random)
            say(.toServer, #"{"type":3,"invocationId":"\#(question)","result":\#(marker())}"#)
        }
        // A server completes the streams that were cancelled, unless the connection is lost before.
        while let call = calls.firstIndex(where: \.isCancelled), random.below(8) > 0 {
            pause(&random)
            finish(call, &random)
        }
        // Uploads that nobody ended stay so: the client has nothing more to say.
        pause(&random)
        end(isLast: isLast, &random)
        return made(route)
    }

    // MARK: Steps

    private mutating func step(_ random: inout SplitMix64) {
        switch random.below(16) {
        case 0, 1, 2: invoke(&random)
        case 3: say(.toServer, #"{"type":1,"target":"Tell","arguments":[\#(argument(&random))]}"#)
        case 4: stream()
        case 5: upload(&random)
        case 6, 7, 8: push(&random)
        case 9: ask(&random)
        case 10 where !questions.isEmpty:
            let question = questions.remove(at: random.below(questions.count))
            say(.toServer, #"{"type":3,"invocationId":"\#(question)","result":\#(marker())}"#)
        default:
            guard !calls.isEmpty else { return push(&random) }
            goOn(random.below(calls.count), &random)
        }
    }

    private mutating func invoke(_ random: inout SplitMix64) {
        let id = newID()
        say(
            .toServer,
            #"{"type":1,"invocationId":"\#(id)","target":"Echo","arguments":[\#(argument(&random))]}"#)
        calls.append(Call(id: id))
    }

    private mutating func stream() {
        let id = newID()
        say(.toServer, #"{"type":4,"invocationId":"\#(id)","target":"Counter","arguments":[\#(marker())]}"#)
        calls.append(Call(id: id, isStream: true))
    }

    private mutating func upload(_ random: inout SplitMix64) {
        let uploads = (0...random.below(2)).map { _ in newID() }
        let id = newID()
        let list = uploads.map { "\"\($0)\"" }.joined(separator: ",")
        say(
            .toServer,
            #"{"type":1,"invocationId":"\#(id)","target":"Sum","arguments":[\#(marker())],"streamIds":[\#(list)]}"#)
        calls.append(Call(id: id, uploads: uploads))
    }

    private mutating func push(_ random: inout SplitMix64) {
        let text = #"{"type":1,"target":"Tick","arguments":[\#(marker())]}"#
        // Now and then as a part of the frame before.
        say(.toClient, text, joins: random.below(4) == 0)
    }

    private mutating func ask(_ random: inout SplitMix64) {
        let id = "s\(nextQuestion)"
        nextQuestion += 1
        say(.toClient, #"{"type":1,"invocationId":"\#(id)","target":"Name","arguments":[\#(marker())]}"#)
        questions.append(id)
    }

    /// What comes next in an open call.
    private mutating func goOn(_ i: Int, _ random: inout SplitMix64) {
        let call = calls[i]
        if let upload = call.uploads.first, random.below(4) > 0 {
            if random.below(3) == 0 {
                calls[i].uploads.removeFirst()
                say(.toServer, #"{"type":3,"invocationId":"\#(upload)"}"#)
            } else {
                say(.toServer, #"{"type":2,"invocationId":"\#(upload)","item":\#(marker())}"#)
            }
        } else if call.isStream, random.below(3) > 0 {
            if !call.isCancelled, random.below(6) == 0 {
                calls[i].isCancelled = true
                say(.toServer, #"{"type":5,"invocationId":"\#(call.id)"}"#)
            } else {
                say(.toClient, #"{"type":2,"invocationId":"\#(call.id)","item":\#(marker())}"#)
            }
        } else {
            finish(i, &random)
        }
    }

    private mutating func finish(_ i: Int, _ random: inout SplitMix64) {
        let call = calls.remove(at: i)
        let outcome: String
        switch random.below(6) {
        case 0: outcome = ""
        case 1: outcome = #","error":"failed \#(marker())""#
        default: outcome = call.isStream ? "" : ",\"result\":\(marker())"
        }
        say(.toClient, #"{"type":3,"invocationId":"\#(call.id)"\#(outcome)}"#, joins: random.below(6) == 0)
    }

    private mutating func end(isLast: Bool, _ random: inout SplitMix64) {
        switch random.below(isLast && limits.hasOpenEnds ? 8 : 5) {
        case 0: add(.ending(.disconnect))
        case 1: add(.ending(.reset))
        case 2: add(.ending(.close(code: [1000, 1001, 1011, 4000][random.below(4)], reason: "bye")))
        case 3, 4:
            say(.toClient, #"{"type":7,"allowReconnect":true}"#)
            add(.ending(.close(code: 1000, reason: "")))
        case 5:
            say(.toServer, #"{"type":7}"#)
            say(.toClient, #"{"type":7}"#)
            add(.ending(.close(code: 1000, reason: "")))
        default: break
        }
    }

    // MARK: Parts

    private mutating func newID() -> String {
        defer { nextID += 1 }
        return "\(nextID)"
    }

    /// A number that stands nowhere else on the tape.
    private mutating func marker() -> Int {
        line += 1
        return number * 1_000 + line
    }

    private mutating func argument(_ random: inout SplitMix64) -> Int {
        // Equal within the session only: a client's first message may choose its session.
        limits.hasEquals && random.below(3) == 0 ? number * 1_000 + 998 + random.below(2) : marker()
    }

    private mutating func pause(_ random: inout SplitMix64) {
        if random.below(3) > 0 { time += random.next() % (limits.gap + 1) }
    }

    private mutating func say(_ direction: Direction, _ json: String, joins: Bool = false) {
        var messages: [Message] = []
        let text = Array(json.utf8)
        if limits.isPacked, let value = try? JSONValue(parsing: json), value["type"] != nil {
            codec.decode(HubPack.bytes(of: value).span, .binary, direction, into: &messages)
        } else {
            codec.decode(entry.type.framed(text).span, .text, direction, into: &messages)
        }
        let joined = joins && entries.last.map { $0.time == time && EntrySide.isServers($0) } ?? false
        if !joined { frame += 1 }
        for message in messages { add(.message(message)) }
    }

    private mutating func add(_ what: RecordedSession.What) {
        entries.append(
            RecordedSession.Entry(event: UInt64(entries.count + 10), time: time, connection: 1, frame: frame, what))
    }

    private func made(_ route: String) -> RecordedSession {
        // The last four characters tell which session it is; the replay varies ids from their first on.
        let digits = String(10_000 + number).dropFirst()
        let ids = ServerIDs(connectionID: "publicAAAAAAAAAAAA\(digits)", token: "secretAAAAAAAAAAAA\(digits)")
        let upgrade = RequestHead(
            method: "GET", target: "\(route)?id=\(ids.token)", headers: [HeaderField("Upgrade", "websocket")])
        let negotiate = RequestHead(method: "POST", target: "\(route)/negotiate?negotiateVersion=1")
        let granted = limits.isStateful ? "{\"useStatefulReconnect\":true}" : "{}"
        return RecordedSession(
            number: number, codec: entry, writer: codec, transport: .ws, route: route,
            opening: StreamOpening(request: upgrade, response: ResponseHead(status: 101)),
            negotiate: StreamOpening(
                request: negotiate, response: ResponseHead(status: 200), responseBody: Array(granted.utf8)),
            serverIDs: ids, connections: [1], entries: entries,
            opened: opened)
    }
}

private enum EntrySide {
    static func isServers(_ entry: RecordedSession.Entry) -> Bool {
        if case .message(let message) = entry.what {
            message.direction == .toClient && message.role != .handshake
        } else {
            false
        }
    }
}
