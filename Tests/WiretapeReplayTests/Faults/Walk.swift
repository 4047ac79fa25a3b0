import Testing
import WiretapeFaults
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A client that goes through everything that rules can be about: it connects, subscribes, speaks, leaves and comes back.
/// What it gets is noted with its time.
struct Walk: CustomStringConvertible {
    enum Kind { case session, operation }

    var transport: Transport
    var kind = Kind.session

    var description: String { kind == .operation ? "an operation" : transport.rawValue }

    /// The walks that come by a point.
    static func all(reaching point: String, needsUpgrade: Bool) -> [Walk] {
        let sockets = [Walk(transport: .ws)]
        switch point {
        case "tls": return []
        case "operation": return [Walk(transport: .http, kind: .operation)]
        case "poll": return [Walk(transport: .lp)]
        case "send": return [Walk(transport: .lp), Walk(transport: .sse)]
        case "stream": return [Walk(transport: .sse)]
        case "connect" where needsUpgrade: return [Walk(transport: .ws, kind: .session, skipsNegotiation: true)]
        default: return sockets
        }
    }

    var skipsNegotiation = false

    init(transport: Transport, kind: Kind = .session, skipsNegotiation: Bool = false) {
        self.transport = transport
        self.kind = kind
        self.skipsNegotiation = skipsNegotiation
    }

    static let sessions = [
        TestTape.renewable(
            TestTape.handshake
                + """
                10 < {"type":1,"target":"Tick","arguments":[1]}
                12 > {"type":4,"invocationId":"1","target":"Count","arguments":[]}
                14 < {"type":2,"invocationId":"1","item":1}
                20 < {"type":1,"target":"Tick","arguments":[2]}
                30 > {"type":1,"target":"Say","arguments":["x"]}
                40 < {"type":1,"target":"Tick","arguments":[3]}
                150 < {"type":1,"target":"Tick","arguments":[4]}
                """)
    ]

    static func rawSessions() throws -> [RecordedSession] {
        let lines = [
            #"{"tape":1}"#, #"{"t":0,"c":1,"e":"open"}"#,
            #"{"t":0,"c":1,"e":"request","x":1,"method":"GET","target":"/ws","headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#,
            #"{"t":0,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#,
            #"{"t":1,"c":1,"e":"message","d":"<","op":"text","text":"hello"}"#,
        ]
        return try AtmosphereTape.sessions(tape: lines.joined(separator: "\n") + "\n")
    }

    func run(_ rules: [FaultRule]) throws -> (lines: [String], report: ReplayReport) {
        let sessions = kind == .operation ? OperationTape.sessions(OperationTape.sse) : Walk.sessions
        let play = try Playbook(sessions, plan: FaultPlan(rules: rules)) { $0.onDivergence = .warn }
        var steps = Steps(play)
        if kind == .operation {
            for time in [0, 40] as [UInt64] {
                steps.pass(to: time)
                steps.watch(play.operate("sse", OperationTape.tick))
            }
        } else {
            connect(play, &steps)
            steps.pass(to: 15)
            speak(#"{"type":4,"invocationId":"1","target":"Count","arguments":[]}"#, play, &steps)
            steps.pass(to: 25)
            speak(#"{"type":1,"target":"Say","arguments":["x"]}"#, play, &steps)
            steps.pass(to: 45)
            if !skipsNegotiation { steps.watch(play.refresh("/chat/refresh", steps.token)) }
            steps.pass(to: 60)
            if transport == .ws, let socket = steps.carrier {
                play.close(socket, .closeFrame(code: 4000, reason: "bye"))
            }
            steps.pass(to: 90)
            connect(play, &steps)
        }
        steps.pass(to: 400)
        return (steps.lines, play.finish())
    }

    private func connect(_ play: Playbook, _ steps: inout Steps) {
        steps.token = "token-1"
        if !skipsNegotiation {
            let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
            steps.watch(c)
            if let body = play.answers[c].flatMap({ try? JSONValue(parsing: $0.body) }) {
                steps.token = body["connectionToken"]?.string ?? steps.token
            }
        }
        switch transport {
        case .ws:
            let socket = play.upgrade(skipsNegotiation ? nil : steps.token)
            steps.carrier = socket
            steps.watch(socket)
        case .sse:
            steps.watch(
                play.request("GET", "/chat?id=\(steps.token)", [HeaderField("Accept", "text/event-stream")]))
        default: steps.polls = "/chat?id=\(steps.token)"
        }
        steps.pass(by: 1)
        speak(#"{"protocol":"json","version":1}"#, play, &steps)
    }

    private func speak(_ text: String, _ play: Playbook, _ steps: inout Steps) {
        if transport == .ws, let socket = steps.carrier { return play.send(socket, text) }
        steps.watch(play.request("POST", "/chat?id=\(steps.token)", body: TestTape.bytes(text)))
    }

    /// Time, and what came in it.
    private struct Steps {
        let play: Playbook
        var lines: [String] = []
        var token = ""
        var carrier: ConnectionID?
        /// Where the next poll goes; the one that waits.
        var polls: String?
        private var poll: ConnectionID?
        private var watched: [ConnectionID] = []
        private var elapsed: UInt64 = 0

        init(_ play: Playbook) { self.play = play }

        mutating func watch(_ c: ConnectionID) {
            watched.append(c)
            note()
        }

        mutating func pass(to time: UInt64) { while elapsed < time { pass(by: 1) } }

        mutating func pass(by milliseconds: UInt64) {
            for _ in 0..<milliseconds {
                if let polls, poll == nil {
                    let c = play.request("GET", polls)
                    poll = c
                    watch(c)
                }
                play.pass(ms: 1)
                elapsed += 1
                note()
            }
        }

        private mutating func note() {
            for c in watched {
                let got = play.take(c)
                if c == poll, !got.isEmpty { poll = nil }
                for text in got {
                    let words = play.upgrades[c].map { " \($0.map(\.value))" } ?? ""
                    lines.append("\(elapsed) \(c) \(text)\(text.hasPrefix("101") ? words : "")")
                }
            }
        }
    }
}
