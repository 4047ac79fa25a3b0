import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport

/// Rules that cannot fire are known before anybody is answered, and rules that can are not taken for them.
@Suite struct HopelessRuleTests {
    /// Six ticks, three questions, and a session with two ticks more.
    private static let sessions: [RecordedSession] = {
        let ticks = (1...6).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
        let asked = (1...3).map { #"\#($0 * 10 + 5) > {"type":1,"target":"Ask","arguments":[\#($0)]}"# }
        let both =
            #"70 < {"type":1,"target":"Both","arguments":[]}"# + "\n"
            + #"71 > {"type":1,"target":"Both","arguments":[]}"#
        return [
            TestTape.session(TestTape.handshake + (ticks + asked + [both]).joined(separator: "\n")),
            TestTape.session(TestTape.handshake + ticks.prefix(2).joined(separator: "\n"), number: 2, route: "/other"),
        ]
    }()

    private static func reasons(
        _ rules: [String], _ sessions: [RecordedSession] = sessions, _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws -> [String] {
        var options = ReplayOptions()
        change(&options)
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        return plan.hopeless(in: sessions, tapeName: "t.tape", options: options).map { one in
            let text = one.text.split(separator: " cannot fire: ", maxSplits: 1).last.map(String.init) ?? ""
            return text.replacing(". Exit 5; 'optional: true' allows it.", with: "")
        }
    }

    @Test(arguments: [
        ("reset after Tikc", "'Tikc' is not on t.tape; nearest is 'Tick' (8 times)"),
        ("reset after Tikc[1, direction=toClient]", "'Tikc' is not on t.tape; nearest is 'Tick' (8 times)"),
        ("reset after Frobnicate", "'Frobnicate' is not on t.tape, which has Ask, Both, Handshake, Invocation, Tick"),
        ("reset after mesage", "'mesage' is not on t.tape; nearest is the point 'message'"),
        ("drop on message[target=Tikc]", "no message of t.tape has target=Tikc; nearest is 'Tick' (8 times)"),
        (
            "drop on message[type=Invokation]",
            "no message of t.tape has type=Invokation; nearest is 'Invocation' (13 times)"
        ),
        ("reset after Tick[99]", "'Tick' comes 6 times in a session of t.tape, and number 99 was asked for"),
        ("drop on Tick[7..9]", "'Tick' comes 6 times in a session of t.tape, and number 7 was asked for"),
        ("reset after Tick[every 7]", "'Tick' comes 6 times in a session of t.tape, and number 7 was asked for"),
        (
            "reset after Tick[7, per=connection]",
            "'Tick' comes 6 times in a session of t.tape, and number 7 was asked for"
        ),
        (
            "reset after Both[2, direction=toClient]",
            "'Both' comes once in a session of t.tape, and number 2 was asked for"
        ),
        ("reset after Tick in session=3", "t.tape has sessions 1 to 2, and session 3 was asked for"),
        ("respond(503) on connect[protocol=signlr]", "no session of t.tape speaks 'signlr'; nearest is 'signalr'"),
        ("reset after message[protocol=graphql]", "no session of t.tape speaks 'graphql'; it has signalr"),
    ])
    func cannotFire(_ rule: String, _ wanted: String) throws {
        #expect(try Self.reasons([rule]) == [wanted])
    }

    @Test(arguments: [
        // What the tape has, and what a client may say that nobody recorded.
        "reset after Tick[6]", "reset after Tick[6|99]", "drop on Ask[99]", "reset after Both[2]",
        "reset after New[direction=toServer]", "drop on message[target=New, direction=toServer]",
        // The protocol's own, which nobody has to have recorded.
        "delay(5s) on Ping", "reset after Completion", "drop on CancelInvocation[2]", "reset after message[type=close]",
        "reset after Handshake[3]",
        // What comes more often than it was recorded.
        "reset after Tick[7, per=run]", "respond(503) on connect[retry=9]", "reset after message[99]",
        "refuse on accept[99]", "respond(500) on request[path=/nowhere]", "respond(500) on request[method=PUT]",
        "inject(\"New\") after Tick[1]", "reset after Tick in session=2..9",
    ])
    func mayFire(_ rule: String) throws {
        #expect(try Self.reasons([rule]) == [])
    }

    /// What replay and clients say by themselves is no surprise; a name that only a client may say is warned of.
    @Test func namesOfTheProtocolAreNotWarnedOf() throws {
        var plan = FaultPlan()
        for rule in ["drop on Ping", "reset after Completion", "drop on New[direction=toServer]"] {
            plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault")))
        }
        #expect(
            plan.unknownNames(in: Self.sessions, tapeName: "t.tape").map(\.description) == [
                "--fault: 1:9: 'New' never occurs on t.tape"
            ])
    }

    /// What makes more messages than the tape has.
    @Test func numbersAreKnownOnlyWhereNothingMakesMore() throws {
        let rule = "reset after Tick[7]"
        #expect(try Self.reasons([rule]).count == 1)
        for other in ["duplicate on Tick[1]", "drop on Ask[1]", "inject(\"x\") after Tick[1]"] {
            #expect(try Self.reasons([other, rule]) == [], "\(other)")
        }
        #expect(try Self.reasons([rule]) { $0.onReconnect = .rewind(2) } == [])
        #expect(try Self.reasons([rule]) { $0.onReconnect = .restart } == [])
        #expect(try Self.reasons([rule]) { $0.clients = 2 } == [])
        #expect(try Self.reasons([rule]) { $0.whenExhausted = .repeat } == [])
        #expect(try Self.reasons([rule]) { $0.greeting = .named(["Tick"]) } == [])
        #expect(try Self.reasons([rule]) { $0.onReconnect = .lose(2) }.count == 1)
        #expect(try Self.reasons(["reset after Tikc"]) { $0.onReconnect = .restart }.count == 1)
    }

    @Test func ofATapeWithoutSessions() throws {
        #expect(try Self.reasons(["reset after Tick"], []) == ["'Tick' is not on t.tape, which has no messages"])
        #expect(try Self.reasons(["respond(503) on request"], []) == [])
    }

    @Test func namesOfManyAreCutShort() throws {
        let many = (1...12).map { #"\#($0) < {"type":1,"target":"Name-of-its-own-\#($0)","arguments":[]}"# }
        let tape = TestTape.session(TestTape.handshake + many.joined(separator: "\n"))
        let text = try #require(try Self.reasons(["reset after X"], [tape]).first)
        #expect(text.hasSuffix(" and 6 more"), "\(text)")
    }

    /// A long tape is kept as scripts, or as names only.
    @Test func longTapesAreKnownAsFarAsTheyAreKept() throws {
        let (sessions, events) = try Recordings.read("chat")
        var names: [String: Int] = [:]
        for isCold in [false, true] {
            let kept = sessions.map { session in
                var builder = ScriptBuilder(session, ignore: [])
                for entry in session.entries { builder.add(entry) }
                var bare = session
                bare.entries = []
                guard isCold else { return builder.finish(bare, from: events) }
                let part = builder.cold(names: &names)
                return part.finish(bare, from: events, names: names)
            }
            let unknown = try Self.reasons(["reset after RecieveMessage"], kept)
            #expect(unknown == ["'RecieveMessage' is not on t.tape; nearest is 'ReceiveMessage' (7 times)"])
            #expect(try Self.reasons(["reset after ReceiveMessage[99]"], kept).count == (isCold ? 0 : 1))
            #expect(try Self.reasons(["reset after ReceiveMessage[7]", "drop on message[target=X]"], kept) == [])
        }
    }

    /// Whatever a recording has may be named, with the number that it has there.
    @Test(arguments: [
        "atmosphere-ws", "atmosphere-lp", "chat", "chat-lp", "eventflit", "eventflit-presence", "pusher", "pusher-lp",
        "pysher", "graphql-transport-ws", "graphql-ws-legacy", "graphql-sse", "graphql-multipart", "everything",
        "messagepack", "reconnect", "stateful", "signalrcore",
    ])
    func whatIsRecordedMayFire(_ name: String) throws {
        let sessions = try Recordings.sessions(name)
        var plan = FaultPlan()
        let source = RuleSource(file: "--fault")
        for session in sessions {
            var seen: [String: Int] = [:]
            for case .message(let message) in session.entries.map(\.what) {
                let brings = ![.reply, .part, .cancel].contains(message.role)
                let words = Set([message.type] + (brings ? [message.label, message.channel].compactMap(\.self) : []))
                for word in words where !word.isEmpty {
                    let key = "\(message.direction) \(word)"
                    seen[key, default: 0] += 1
                    let direction: Condition = .direction(message.direction)
                    for conditions in [[], [direction]] {
                        plan.append(
                            FaultRule(
                                name: "r", actions: [], place: .after,
                                selector: Selector(
                                    .label(word), conditions: conditions, occurrence: .set([seen[key] ?? 1])),
                                source: source))
                    }
                }
            }
        }
        plan.rules = plan.rules.enumerated().filter { $0.offset % max(1, plan.rules.count / 200) == 0 }.map(\.element)
        #expect(!plan.rules.isEmpty)
        #expect(plan.hopeless(in: sessions, tapeName: name, options: ReplayOptions()).map(\.text) == [])
    }

    @Test func namesThatTheProtocolsDoNotHave() throws {
        for name in ["atmosphere-ws", "eventflit", "pusher-lp", "graphql-transport-ws", "graphql-sse", "messagepack"] {
            let sessions = try Recordings.sessions(name)
            #expect(try Self.reasons(["reset after zzzzzzzzzz"], sessions).count == 1, "\(name)")
        }
        #expect(try Self.reasons(["reset after pusher:error"], try Recordings.sessions("pusher")) == [])
        #expect(
            try Self.reasons(["reset after zzz"], try Walk.rawSessions()) == ["'zzz' is not on t.tape, which has text"])
        let events = EventsTape.sessions(EventsTape.prices)
        #expect(try Self.reasons(["drop on pice"], events) == ["'pice' is not on t.tape; nearest is 'price' (5 times)"])
        #expect(try Self.reasons(["drop on comment", "drop on \"POST /v2/x\""], events) == [])
        #expect(try Self.reasons(["drop on price[6]"], events) == [], "a stream may be asked for again")
    }

    @Test func everyForeignWordLeadsToAFault() {
        let words = Set(Faults.all.map(\.word))
        for (foreign, own) in ForeignWords.actions { #expect(words.contains(own) && !words.contains(foreign)) }
        for foreign in ForeignWords.actions.keys { #expect(foreign == foreign.lowercased() && !foreign.contains("_")) }
    }

    @Test(arguments: [
        ("latency(5s) on Tick", "delay"), ("bandwidth(1) on Tick", "throttle"), ("reset_peer after Tick", "reset"),
        ("Timeout after Tick", "stall"), ("slicer(1) after Tick", "slice"), ("limit_data(5) on Tick", "truncate"),
        ("dely(5s) on Tick", "delay"),
    ])
    func unknownActionsNameWhatIsMeant(_ rule: String, _ wanted: String) {
        do throws(PlanError) {
            _ = try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))
            Issue.record("\(rule) is a rule")
        } catch {
            #expect(error.message.hasSuffix("is not a fault; did you mean '\(wanted)'?"), "\(error.message)")
        }
    }
}
