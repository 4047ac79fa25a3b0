import Foundation
import Testing
import WiretapeWire

/// The tape of a run: who did what on it, and that `diff` takes what rules did for what it is. With real clients: the sample
/// client over WebSockets, and a small one over event streams and long polling.
@Suite(.waitsForPrograms) struct RunTapeTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        try Running.recordChat(to: tape, in: scratch.url)
    }

    private var tape: String { scratch.path("chat.tape.gz") }
    private var folder: String { scratch.path("out") }

    private func play(_ rule: String, over transport: String) throws -> Binary.Run {
        let words =
            transport == "ws"
            ? [client, "--say", "one", "--say", "two", "--say", "three", "--reconnect", "0s,0s,0s,0s"]
            : [
                "python3", Binary.root.appendingPathComponent("Tests/Fixtures/restarting-client.py").path, "{url}",
                transport, "one", "two", "three",
            ]
        return try Binary.run(
            Binary.wiretape,
            [
                "replay", tape, "--speed", "instant", "--patience", "2s", "--transports", transport, "--seed", "1",
                "--timeout", "15s", "--report", folder, "--fault", rule, "--",
            ] + words)
    }

    /// Every action on messages, ends in every place, and what is done to requests and connections.
    private static let rules = [
        "drop on Welcome", "duplicate on ReceiveMessage[1]", #"replace(/arguments/0="bob") on ReceiveMessage[1]"#,
        #"inject("{\"type\":1,\"target\":\"More\",\"arguments\":[]}") after ReceiveMessage[1]"#,
        "delay(20ms) on ReceiveMessage[2]", "reorder on ReceiveMessage[1]", "truncate(9) on ReceiveMessage[2]",
        "truncate(9) + reset on ReceiveMessage[2]", "corrupt(utf8) + reset on Welcome",
        "reset after ReceiveMessage[2]", "reset before ReceiveMessage[2]", "close(1001) after ReceiveMessage[2]",
        "disconnect after ReceiveMessage[1]", "stall(both, 100ms) + reset after ReceiveMessage[1]",
        "throttle(8kB/s) after handshake", "outage(10ms, cut=1001) after Completion[1] max=1",
        "expire + reset after ReceiveMessage[2]", "reset on SendMessage[2]", "reset after handshake[1]",
        "respond(503) on connect[retry=1] since handshake=0s", "delay(20ms) on negotiate[1]",
    ]

    @Test(arguments: ["ws", "sse", "lp"]) func whatRulesDidIsNoDifference(_ transport: String) throws {
        var passed = 0
        for rule in Self.rules {
            let run = try play(rule, over: transport)
            guard run.code == 0 else { continue }
            passed += 1
            let there = try Binary.run("diff", tape, folder)
            #expect(there.code == 0, "\(rule) over \(transport): \(there.out)")
            let back = try Binary.run("diff", folder, tape)
            #expect(back.code == 0, "\(rule) over \(transport): \(back.out)")
        }
        // Not every client gets over all of it: those that do are enough to say something.
        #expect(passed >= 14, "\(passed) of \(Self.rules.count) passed over \(transport)")
    }

    @Test func whatTheClientDidIsADifferenceAllTheSame() throws {
        let run = try Binary.run(
            Binary.wiretape,
            [
                "replay", tape, "--speed", "instant", "--on-divergence", "ignore", "--report", folder, "--fault",
                "reset after ReceiveMessage[2]", "--", client, "--say", "one", "--say", "2", "--say", "three",
                "--reconnect", "0s",
            ])
        #expect(run.code == 0, "\(run.err)")
        let diff = try Binary.run("diff", tape, folder)
        #expect(diff.code == 2)
        #expect(diff.out.contains(#"Invocation SendMessage("ada", "2")"#), "\(diff.out)")
    }

    @Test func anInjectedEndIsCalledWhatItIs() throws {
        let rule = "reset after ReceiveMessage[2]"
        #expect(try play(rule, over: "ws").code == 0)
        let shown = try Binary.run("inspect", scratch.path("out/actual.tape")).out
        #expect(shown.contains("reset by fault '\(rule)'"), "\(shown)")
        #expect(shown.contains("fault '\(rule)': reset at event "), "\(shown)")
        #expect(!shown.contains("reset by the server"))
        #expect(shown.contains("carries session 1 of the tape, run 1"))
        let close = "close(4001, \"away\") after ReceiveMessage[2]"
        #expect(try play(close, over: "ws").code == 0)
        let closed = try Binary.run("inspect", scratch.path("out/actual.tape")).out
        #expect(closed.contains("close frame 4001 \"away\""), "\(closed)")
        #expect(closed.contains("fault '\(close)': close(4001, \"away\") at event "), "\(closed)")
    }

    @Test func aRuleIsToldAsItCounts() throws {
        _ = try play("reset after ReceiveMessage[2]", over: "ws")
        let text = try String(contentsOfFile: scratch.path("out/report.txt"), encoding: .utf8)
        #expect(text.contains("attempt 1 at ReceiveMessage[2] (server message "), "\(text)")
        let json = try JSONValue(parsing: String(contentsOfFile: scratch.path("out/report.json"), encoding: .utf8))
        #expect(json.value(at: "/faults/0/counted")?.string?.hasPrefix("ReceiveMessage[2] (server message ") == true)
    }

    @Test func requestsThatAFilterAsksForAreInJSON() throws {
        let run = try Binary.run("inspect", tape, "--filter", "request", "--format", "json")
        let rows = try run.out.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(rows.map { $0["method"]?.string } == ["POST", "GET"], "\(run.out)")
        #expect(rows.first?["target"]?.string == "/chat/negotiate?negotiateVersion=1")
        #expect(run.verdict.contains("2 rows shown"))
        // Without a filter there are messages only.
        let all = try Binary.run("inspect", tape, "--format", "json")
        #expect(!all.out.contains(#""type":"request""#) && all.out.contains("SendMessage"))
    }

    @Test(arguments: [#"{"d":"<","jsn":1}"#, #"{"d":"<","b64":"!!"}"#, #"{"d":"<","json":{"type":6},}"#])
    func whatReplayRefusesCannotBeReplayed(_ line: String) throws {
        let path = scratch.path("bad.tape")
        let head = #"{"tape":1,"protocol":"signalr","route":"/chat"}"#
        let text = head + "\n" + #"{"d":">","json":{"type":1,"target":"Send","arguments":[]}}"# + "\n" + line + "\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try Binary.run("replay", path, "--", "true").code == 4)
        let run = try Binary.run("validate", path)
        #expect(run.code == 4 && !run.out.contains("can be replayed"), "\(run.out)")
        #expect(run.out.contains("cannot be replayed: it stands on a tape with lines that cannot be read"))
        let json = try Binary.run("validate", "--json", path)
        #expect(json.out.contains(#""replayable":false"#))
    }
}
