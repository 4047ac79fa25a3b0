import Foundation
import Testing

/// More clients than there are file descriptors, in front of the tool as a process.
@Suite(.waitsForPrograms) struct DescriptorTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private var client: URL { Binary.folder.appendingPathComponent("sample-client") }

    /// The tool with so many descriptors.
    private func run(_ limit: Int, _ arguments: [String]) throws -> Running {
        try Running(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "ulimit -n \(limit) && exec \"$0\" \"$@\"", Binary.wiretape.path] + arguments + ["--json"],
            in: scratch.url)
    }

    /// What so many clients were answered, which are there until it is let go.
    private func crowd(_ url: String, _ kind: String, _ count: Int) throws -> Running {
        let script = Binary.root.appendingPathComponent("Tests/Fixtures/slow-clients.py").path
        return try Running(
            URL(fileURLWithPath: "/usr/bin/env"), ["python3", script, url, kind, "\(count)"], in: scratch.url)
    }

    @Test(arguments: [64, 256], ["record", "proxy"])
    func aGoodClientIsServedBesideSlowOnes(_ limit: Int, _ command: String) throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let output = command == "record" ? ["--output", scratch.path("a.tape")] : []
        let relay = try run(limit, [command, "--upstream", hub.url] + output)
        let slow = try crowd(relay.url, "heads", 300)
        #expect(!slow.url.contains("502"))
        for _ in 0..<3 {
            let good = try Binary.run(client, [relay.url + "/chat", "--say", "one"])
            #expect(good.code == 0, "\(good.err)")
        }
        // More sockets than places: those that are let in have their upstream, the others are told.
        let sockets = try crowd(relay.url, "sockets", limit)
        #expect(sockets.url.contains("101:") && sockets.url.contains("503:"))
        #expect(!sockets.url.contains("502") && !sockets.url.contains("end"), "\(sockets.url)")
        let end = try relay.stop()
        #expect(end.code == 0, "\(end.err)")
        #expect(end.err.contains("(\(limit) file descriptors, ulimit -n raises the limit): answered 503"))
        #expect(end.err.contains("connections were answered 503: all "))
        #expect(!end.err.contains("cannot reach") && !end.err.contains("descriptors are in use"), "\(end.err)")
    }

    @Test func aReplayIsServedBesideSlowOnesAndIsNoPass() throws {
        try Running.recordChat(to: scratch.path("chat.tape"), in: scratch.url)
        let replay = try run(
            64, ["replay", scratch.path("chat.tape"), "--speed", "instant", "--until", "signal", "--clients", "9"])
        let slow = try crowd(replay.url, "heads", 100)
        #expect(slow.url.contains("503:"))
        let good = try Binary.run(client, [replay.url + "/chat", "--say", "one", "--say", "two", "--say", "three"])
        #expect(good.code == 0, "\(good.err)")
        let end = try replay.stop()
        #expect(end.code == 1 && end.err.contains("connections were answered 503: all "), "\(end.err)")
    }

    /// Not one descriptor is left, by no fault of the clients': who is there is served, who comes waits, and nothing spins.
    @Test func withoutAnyDescriptorClientsWait() throws {
        try Running.recordChat(to: scratch.path("chat.tape"), in: scratch.url)
        let replay = try Running("wiretape", ["replay", scratch.path("chat.tape"), "--json"], in: scratch.url)
        let script = Binary.root.appendingPathComponent("Tests/Fixtures/no-descriptors.py").path
        let told = try Running(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["python3", script, replay.url, "\(replay.process.processIdentifier)"], in: scratch.url)
        #expect(told.url == "404 calm 404")
        let end = try replay.stop()
        #expect(end.err.split(separator: "\n").count { $0.contains("accept on") } == 1, "\(end.err)")
    }

    /// The time-outs of the command line.
    @Test(arguments: ["proxy", "replay"]) func timeOutsAreOptions(_ command: String) throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        try Running.recordChat(to: scratch.path("chat.tape"), in: scratch.url)
        let what = command == "proxy" ? ["--upstream", hub.url] : [scratch.path("chat.tape")]
        let short = try run(1024, [command] + what + ["--head-timeout", "100ms", "--idle-timeout", "off"])
        #expect(try crowd(short.url, "heads", 3).url == "408:3")
        let endless = try run(1024, [command] + what + ["--head-timeout", "off"])
        #expect(try crowd(endless.url, "heads", 3).url == "")
        for wrong in ["0", "0s", "soon"] {
            let refused = try Binary.run(Binary.wiretape, [command] + what + ["--idle-timeout", wrong])
            #expect(refused.code == 64 && refused.verdict.contains("no time-out; write 250ms, 2s or 1m, or off"))
        }
    }
}
