import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// What each `--on-reconnect` promises, record by record from the client's side, over each transport, with and without
/// stateful reconnect, for connections that the client loses and that a rule ends.
@Suite struct ReconnectPromiseTests {
    private static let tape = """
        {"c":1,"d":">","json":{"type":4,"invocationId":"0","target":"Counter","arguments":[]}}
        {"c":1,"d":"<","after":"100ms","json":{"type":2,"invocationId":"0","item":1}}
        {"c":1,"d":"<","after":"100ms","json":{"type":1,"target":"Tick","arguments":[1]}}
        {"c":1,"d":"<","after":"100ms","json":{"type":2,"invocationId":"0","item":2}}
        {"c":1,"d":"<","after":"100ms","json":{"type":1,"target":"Tick","arguments":[2]}}
        {"c":1,"d":"<","after":"100ms","json":{"type":2,"invocationId":"0","item":3}}
        {"c":1,"d":"<","after":"100ms","json":{"type":1,"target":"Tick","arguments":[3]}}
        {"c":1,"d":"<","after":"100ms","json":{"type":3,"invocationId":"0"}}
        {"c":1,"d":"<","after":"100ms","json":{"type":1,"target":"Tick","arguments":[4]}}
        {"c":2,"d":"<","after":"100ms","json":{"type":1,"target":"Tock","arguments":[1]}}
        {"c":2,"d":"<","after":"100ms","json":{"type":1,"target":"Tock","arguments":[2]}}
        """

    static let policies: [ReplayOptions.OnReconnect] = [
        .resume, .lose(1), .lose(2), .lose(99), .rewind(1), .rewind(2), .rewind(99), .live, .restart, .next, .refuse,
    ]

    /// How the connection is lost in the middle.
    enum Loss: String, CaseIterable, Sendable {
        case clientResets, clientEnds, ruleResets, ruleEnds

        var fault: [String] {
            switch self {
            case .clientResets, .clientEnds: []
            case .ruleResets: ["reset after StreamItem[2]"]
            case .ruleEnds: ["disconnect after StreamItem[2]"]
            }
        }

        /// What the client sees of it.
        var seen: [String] {
            switch self {
            case .clientResets, .clientEnds: []
            case .ruleResets: ["RST"]
            case .ruleEnds: ["FIN"]
            }
        }
    }

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }
    private func tock(_ n: Int) -> String { #"{"type":1,"target":"Tock","arguments":[\#(n)]}"# }
    private func item(_ n: Int, _ id: String) -> String { #"{"type":2,"invocationId":"\#(id)","item":\#(n)}"# }
    private func end(_ id: String) -> String { #"{"type":3,"invocationId":"\#(id)"}"# }
    private func stream(_ id: String) -> String {
        #"{"type":4,"invocationId":"\#(id)","target":"Counter","arguments":[]}"#
    }

    /// The first half, a loss, and half the time until the client is back: 550 ms after it began.
    private func begin(
        _ policy: ReplayOptions.OnReconnect, _ transport: Transport, _ loss: Loss, version: Int = 1
    ) throws -> (NetworkStage, RecordClient) {
        let stage = try NetworkStage(Self.tape, faults: loss.fault) { $0.onReconnect = policy }
        let client = RecordClient(stage, transport, version: version)
        try client.connect()
        client.say(stream("4"))
        let start = stage.loop.now
        stage.run(ms: 350)
        #expect(client.take() == [item(1, "4"), tick(1), item(2, "4")] + loss.seen)
        if loss == .clientResets || loss == .clientEnds { client.cut(reset: loss == .clientResets) }
        stage.run(ms: 550 - stage.loop.now.since(start) / 1_000_000)
        return (stage, client)
    }

    /// By `docs/replay.md`; the client asks for its stream again, as 7.
    private func promised(_ policy: ReplayOptions.OnReconnect) -> [String]? {
        let all = [item(1, "7"), tick(1), item(2, "7"), tick(2), item(3, "7"), tick(3), end("7"), tick(4)]
        switch policy {
        case .resume: return Array(all[3...])
        case .lose(let n): return all[3...].filter { !isLost($0, n) }
        // A stream's items come when it is asked for again.
        case .rewind(let n): return n > 3 ? [all[1], all[0]] + all[2...] : Array(all[(3 - n)...])
        case .live: return Array(all[5...])
        case .restart: return all
        case .next: return [tock(1), tock(2)]
        case .refuse: return nil
        }
    }

    /// The next pushes after the loss.
    private func isLost(_ record: String, _ n: Int, _ id: String = "7") -> Bool {
        [tick(2), item(3, id), tick(3), tick(4)].prefix(n).contains(record)
    }

    @Test(arguments: policies, [Transport.ws, .sse, .lp])
    func theClientGetsWhatThePolicyPromises(_ policy: ReplayOptions.OnReconnect, _ transport: Transport) throws {
        for loss in Loss.allCases {
            let (stage, client) = try begin(policy, transport, loss)
            guard let promised = promised(policy) else {
                #expect(client.negotiate() == 404)
                #expect(client.refusal == "session 1 of chat.tape is not resumed (--on-reconnect refuse)\n")
                #expect(stage.finish().unclaimed == [2])
                continue
            }
            try client.connect()
            if policy != .next { client.say(stream("7")) }
            stage.run(ms: 3_000)
            #expect(client.take() == promised, "\(loss)")
            let report = stage.finish()
            #expect(report.verdict == .pass, "\(loss): \(report.reasons)")
            #expect(report.sessions.map(\.finished) == (policy == .next ? [false, true] : [true]))
            #expect(report.sessions.allSatisfy { $0.abandoned == 0 || policy == .next })
            let end = try #require(report.sessions[0].attempts.first?.ended)
            #expect(loss.fault.isEmpty ? end.by == .client : end.by.isRule)
            client.close()
        }
    }

    /// The server's acknowledgement of the client's one message, a second after it.
    private func withoutAcks(_ records: [String]) -> [String] { records.filter { $0 != #"{"type":8,"sequenceId":1}"# } }

    private func sequence(_ n: Int) -> String { #"{"type":9,"sequenceId":\#(n)}"# }

    /// Stateful reconnect: what was not acknowledged comes again under its own numbers, nothing is asked again, and what the
    /// policy leaves out or says twice comes behind that. Policies that begin anew have forgotten the connection.
    @Test(arguments: policies, Loss.allCases)
    func withStatefulReconnect(_ policy: ReplayOptions.OnReconnect, _ loss: Loss) throws {
        let (stage, client) = try begin(policy, .ws, loss, version: 2)
        try client.open()
        let kept = [sequence(1), item(1, "4"), tick(1), item(2, "4")]
        let rest = [tick(2), item(3, "4"), tick(3), end("4"), tick(4)]
        var promised = kept + rest
        switch policy {
        case .resume, .live: break
        case .lose(let n): promised = kept + rest.filter { !isLost($0, n, "4") }
        case .rewind(let n): promised = kept + kept.dropFirst().suffix(n) + rest
        case .restart, .next, .refuse:
            #expect(client.take() == [] && client.refusal.isEmpty == false)
            #expect(client.status == 404)
            guard policy != .refuse else {
                #expect(client.negotiate() == 404)
                return client.close()
            }
            try client.connect()
            if policy == .restart { client.say(stream("7")) }
            stage.run(ms: 3_000)
            #expect(withoutAcks(client.take()) == self.promised(policy))
            #expect(stage.finish().verdict == .pass)
            return client.close()
        }
        client.say(sequence(2))
        stage.run(ms: 3_000)
        #expect(withoutAcks(client.take()) == promised)
        let report = stage.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].attempts.count == 2)
        client.close()
    }
}
