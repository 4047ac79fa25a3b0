import Testing
import WiretapeFaults
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Every fault at every point in every place: refused with a sentence when it is loaded, or it fires and shows.
@Suite struct CombinationTests {
    private static let actions: [String: String] = [
        "delay": "delay(15ms)", "drop": "drop", "duplicate": "duplicate", "reorder": "reorder(1, 9ms)",
        "replace": #"replace("changed")"#, "inject": #"inject("more")"#, "corrupt": "corrupt(bytes=2)",
        "truncate": "truncate(3)", "disconnect": "disconnect", "reset": "reset", "close": "close(4001)",
        "stall": "stall(both, 12ms)", "mute": "mute(all, 12ms)", "throttle": "throttle(1kB/s, 12ms)",
        "slice": "slice(1, 1ms)", "respond": "respond(503)", "malformed": "malformed", "wrong-accept": "wrong-accept",
        "wrong-subprotocol": "wrong-subprotocol(x)", "redirect-loop": "redirect-loop", "refuse": "refuse",
        "outage": "outage(60ms)", "downgrade": "downgrade(ws, sse, lp)", "expire": "expire", "lifetime": "lifetime(4s)",
        "alert": "alert", "certificate": "certificate(expired)", "fragment": "fragment(2)",
    ]

    private static let points = FaultPoint.allCases.map(\.rawValue) + ["Tick"]

    /// - Returns: nil when it was refused.
    private func rule(_ action: String, _ place: String, _ point: String) -> FaultRule? {
        let since = point == "time" ? " since run=17ms" : ""
        do {
            return try FaultRule(
                parsing: "\(action) \(place) \(point)\(since)", from: RuleSource(file: "--fault"))
        } catch {
            #expect(error.message.contains(" ") && error.message.utf8.count > 20, "\(error)")
            #expect(error.source.column >= 1)
            return nil
        }
    }

    @Test(arguments: Faults.all.map(\.word)) func isRefusedOrHasAnEffect(_ word: String) throws {
        let action = try #require(Self.actions[word])
        var taken = 0
        for point in Self.points {
            for place in ["on", "before", "after"] {
                guard let rule = rule(action, place, point) else { continue }
                taken += 1
                // A handshake is none of the engine's connections: HandshakeTests has those.
                if point == "tls" { continue }
                // What only a server would see is refused when a replay begins.
                if !FaultPlan(rules: [rule]).problemsInReplay.isEmpty {
                    #expect(point == "subscribe")
                    continue
                }
                let text = "\(action) \(place) \(point)"
                let walks = Walk.all(reaching: point, needsUpgrade: word.hasPrefix("wrong"))
                try #require(!walks.isEmpty, "\(text) was loaded and cannot come")
                for walk in walks {
                    let plain = try walk.run([])
                    let (lines, report) = try walk.run([rule])
                    #expect(report.unfired.isEmpty, "\(text) over \(walk): \(report.unfired.map(\.text))")
                    // What a session has lost is not heard until it is asked for.
                    let isLater =
                        word == "expire" || word == "downgrade" && walk.transport != .ws
                        || word == "lifetime" && walk.kind == .operation
                    guard !isLater, !report.faults.isEmpty else { continue }
                    #expect(lines != plain.lines, "\(text) over \(walk) changed nothing")
                }
            }
        }
        #expect(taken > 0)
    }

    /// What the table of `docs/faults.md` has is loaded, and what it has not is not.
    @Test func theTableIsWhatIsLoaded() {
        let wanted: [String: (on: String, after: String)] = [
            "respond": ("connect request negotiate upgrade poll send stream operation refresh", ""),
            "alert": ("tls", ""), "certificate": ("tls", ""),
            "stall": (
                "accept tls connect request negotiate upgrade poll send stream operation refresh handshake subscribe message time Tick",
                "accept connect request negotiate upgrade poll send stream operation refresh handshake subscribe message time Tick"
            ),
            "wrong-accept": ("connect request upgrade", ""),
            "refuse": ("accept tls connect request negotiate upgrade poll send stream operation refresh", "accept"),
            "close": (
                "handshake subscribe message close time Tick", "upgrade handshake subscribe message close time Tick"
            ),
            "drop": ("handshake subscribe message close Tick", ""),
            "corrupt": ("handshake subscribe message Tick", ""),
            "fragment": ("handshake subscribe message Tick", ""),
            "truncate": (
                "connect request negotiate upgrade poll send stream operation refresh handshake subscribe message Tick",
                ""
            ),
            "inject": ("handshake subscribe message time Tick", "handshake subscribe message time Tick"),
            "mute": (
                "upgrade poll stream handshake subscribe message time Tick",
                "upgrade poll stream handshake subscribe message time Tick"
            ),
        ]
        for (word, places) in wanted {
            let action = Self.actions[word] ?? word
            for (place, points) in [("on", places.on), ("after", places.after)] {
                let loaded = Self.points.filter { rule(action, place, $0) != nil }
                #expect(Set(loaded) == Set(points.split(separator: " ").map(String.init)), "\(word) \(place)")
            }
        }
    }

    @Test(arguments: [
        ("reset after tls", "--fault: 1:1: rules about a handshake stand in it; write 'on tls'"),
        (
            "throttle(1kB/s) on tls",
            "--fault: 1:1: throttle is not for a TLS handshake: alert, certificate, delay, stall, reset and disconnect are"
        ),
        ("alert on accept", "--fault: 1:1: alert is for TLS handshakes; write 'on tls'"),
        (
            "certificate(expired) + reset on tls",
            "--fault: 1:1: 'reset' ends the handshake before 'certificate(expired)' is shown"
        ),
        (
            "certificate on tls",
            "--fault: 1:1: certificate needs what is wrong with it: expired, not-yet-valid, wrong-name, unknown-ca, self-signed"
        ),
        ("alert on tls[attempt=2]", "--fault: 1:10: 'tls' is before any request: nobody knows its session or attempt"),
        ("drop on subscribe[direction=toClient]", "--fault: 1:9: subscriptions go to the server"),
        ("reset on negotiate[transport=ws]", "--fault: 1:10: 'negotiate' comes before the client chooses a transport"),
        ("reset on upgrade[transport=sse]", "--fault: 1:10: 'upgrade' is never over sse"),
        (
            "corrupt(rsv) on message[transport=sse|lp]",
            "--fault: 1:17: 'corrupt(rsv)' needs WebSocket frames; write transport=ws, or no transport"
        ),
        (
            "fragment(2) on message[transport=sse]",
            "--fault: 1:16: 'fragment(2)' needs WebSocket frames; write transport=ws, or no transport"
        ),
        (
            "reset on connect since handshake=2s",
            "--fault: 1:10: 'connect' opens the connection that 'since handshake' counts from; write 'since run'"
        ),
        ("reset on accept[2, per=connection]", "--fault: 1:10: 'accept' comes once a connection: count it per run"),
        (
            "reorder + reset on Tick",
            "--fault: 1:1: nothing comes before 'reset' that a message with 'reorder' could let pass"
        ),
        (
            "duplicate(3) + truncate(2) on Tick",
            "--fault: 1:1: a message that is cut short cannot have 'duplicate(3)' too"
        ),
        (
            "wrong-accept + respond(503) on upgrade",
            "--fault: 1:1: 'respond(503)' takes the place of the answer that 'wrong-accept' is about"
        ),
        (
            "refuse after connect",
            "--fault: 1:1: refuse stands in the place of the answer; write 'on connect', or 'reset after connect'"
        ),
        (
            "mute after negotiate",
            "--fault: 1:1: no keepalives begin at 'negotiate'; write 'mute after upgrade' or 'mute after handshake'"
        ),
        ("corrupt before Tick", "--fault: 1:1: corrupt is done to the thing itself; write 'on Tick'"),
        ("downgrade(http) on connect", "--fault: 1:11: 'http' is not a transport to take away: ws, sse, lp, stream"),
        ("reset after Tick[type=A, type=B]", "--fault: 1:26: a second 'type'"),
    ])
    func impossibleTogether(_ text: String, _ wanted: String) {
        do {
            let rule = try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
            Issue.record("read as \(rule.inline)")
        } catch {
            #expect("\(error)" == wanted)
        }
    }

    /// Without a listener that speaks TLS, or an authority that issues, such rules are refused, unless they are optional.
    @Test func rulesAboutTLSNeedIt() throws {
        func problems(_ rule: String, optional: Bool = false, hasTLS: Bool, issues: Bool) throws -> [String] {
            let text = #"{"fault":"\#(rule)","optional":\#(optional)}"#
            let plan = try FaultPlan(json: Array(text.utf8), file: "p")
            return plan.problemsOfTLS(hasTLS: hasTLS, issues: issues).map(\.message)
        }
        #expect(
            try problems("alert on tls", hasTLS: false, issues: false) == [
                "no listener speaks TLS, so there is no handshake that 'alert on tls' could meet; add --tls or write "
                    + "--listen https://HOST:PORT"
            ])
        #expect(try problems("alert on tls", optional: true, hasTLS: false, issues: false) == [])
        #expect(try problems("alert on tls", hasTLS: true, issues: false) == [])
        #expect(try problems("certificate(expired) on tls", hasTLS: true, issues: false).count == 1)
        #expect(try problems("certificate(expired) on tls", hasTLS: true, issues: true) == [])
        #expect(try problems("certificate(self-signed) on tls", hasTLS: true, issues: false) == [])
        #expect(try problems("refuse on accept", hasTLS: false, issues: false) == [])
    }

    /// What a rule changes before it ends the connection is seen.
    @Test func aChangeBeforeAnEndIsSeen() throws {
        let walk = Walk(transport: .ws)
        for (text, wanted) in [
            (#"replace("changed") + reset on Tick[2]"#, "changed"), ("duplicate + disconnect on Tick[2]", "[2]"),
        ] {
            let rule = try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
            let (lines, report) = try walk.run([rule])
            #expect(lines.contains { $0.contains(wanted) }, "\(lines)")
            #expect(report.faults.count == 1 && report.unfired.isEmpty)
        }
    }

    @Test func aClientsMessagesAreNoServersInAReplay() throws {
        let rule = try FaultRule(parsing: "duplicate on Say", from: RuleSource(file: "--fault"))
        let (_, report) = try Walk(transport: .ws).run([rule])
        #expect(report.faults.isEmpty)
        #expect(
            report.unfired.map(\.text) == [
                "wiretape: rule 'duplicate on Say' (--fault) never fired: its conditions were never met; what it does to "
                    + "messages of the client needs a server, and a replay has none. Exit 5; 'optional: true' allows it."
            ])
    }

    @Test func whatNoProtocolOfTheTapeHas() throws {
        let raw = try Walk.rawSessions()
        var plan = FaultPlan()
        for text in ["drop on subscribe", "reset after handshake", "reset after message[2]"] {
            plan.append(try FaultRule(parsing: text, from: RuleSource(file: "--fault")))
        }
        let hopeless = plan.hopeless(in: raw, tapeName: "raw.tape", options: ReplayOptions())
        #expect(
            hopeless.map(\.text) == [
                "wiretape: rule 'drop on subscribe' (--fault) cannot fire: 'subscribe' never comes: raw has no "
                    + "subscriptions. Exit 5; 'optional: true' allows it.",
                "wiretape: rule 'reset after handshake' (--fault) cannot fire: 'handshake' never comes: raw has none. "
                    + "Exit 5; 'optional: true' allows it.",
            ])
        #expect(plan.hopeless(in: Walk.sessions, tapeName: "walk.tape", options: ReplayOptions()).isEmpty)
    }
}
