import Foundation
import Testing
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// `record` and `proxy` as processes, between the sample hub and the sample client.
@Suite(.waitsForPrograms) struct RecordCommandTests {
    let scratch: Scratch
    let hub: Running

    init() throws {
        scratch = try Scratch()
        hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
    }

    var client: String { Binary.folder.appendingPathComponent("sample-client").path }

    /// Targets of what the hub sent, as they stand on the tape.
    func pushes(_ tape: String) throws -> [String] {
        var reader = try TapeReader(path: scratch.path(tape))
        var found: [String] = []
        while let next = try reader.next() {
            guard case .message(.toClient, _, let bytes, _, _) = next.event.kind else { continue }
            for part in String(decoding: bytes, as: UTF8.self).split(separator: "\u{1E}") {
                guard let message = try? JSONValue(parsing: String(part)) else { continue }
                if let target = message["target"]?.string { found.append(target) }
            }
        }
        let isStopped = reader.isStopped
        #expect(isStopped)
        return found
    }

    @Test(arguments: ["chat.tape", "chat.tape.gz"], [1, 3])
    func recordsWhatTheCommandDoes(_ tape: String, threads: Int) throws {
        let run = try Binary.run(
            "record", "--upstream", hub.url, "--output", scratch.path(tape), "--threads", "\(threads)", "--json", "--",
            client, "{url}/chat", "--say", "one", "--say", "two")
        #expect(run.code == 0, "\(run.err)")
        #expect(try pushes(tape) == ["Welcome", "ReceiveMessage", "ReceiveMessage"])
        #expect(run.verdict.hasPrefix("wiretape: done (exit 0): "))
        #expect(!run.err.contains("WARNING"))
        #expect(run.out.hasPrefix("{\"event\":\"ready\",\"url\":\"http://127.0.0.1:"))
    }

    @Test func theCommandFindsItsEnvironment() throws {
        let script =
            "test \"$WIRETAPE_URL\" = {url} && test \"$WIRETAPE_WS_URL\" = \"ws${WIRETAPE_URL#http}\" && "
            + "test \"${WIRETAPE_CONTROL-unset}\" = ''"
        let run = try Binary.run("proxy", "--upstream", hub.url, "--", "/bin/sh", "-c", script)
        #expect(run.code == 0, "\(run.err)")
    }

    @Test func theCommandsExitCodeIsOurs() throws {
        let run = try Binary.run("proxy", "--upstream", hub.url, "--", "/bin/sh", "-c", "exit 7")
        #expect(run.code == 7)
        #expect(run.verdict.hasPrefix("wiretape: failed (exit 7): the command '/bin/sh' ended with 7; "))
    }

    @Test func timeIsLimited() throws {
        let run = try Binary.run("proxy", "--upstream", hub.url, "--timeout", "200ms", "--", "/bin/sleep", "60")
        #expect(run.code == 124)
        #expect(run.verdict == "wiretape: timeout (exit 124): --timeout 200ms is over; 0 connections relayed")
    }

    @Test(arguments: [(SIGINT, 0), (SIGTERM, 143)] as [(Int32, Int32)])
    func aSignalFinishesTheTape(_ signal: Int32, _ code: Int32) throws {
        let recorder = try Running(
            "wiretape", ["record", "--upstream", hub.url, "-o", scratch.path("a.tape.gz"), "--json"], in: scratch.url)
        let run = try Binary.run(URL(fileURLWithPath: client), [recorder.url + "/chat", "--say", "one"])
        #expect(run.code == 0, "\(run.err)")
        let end = try recorder.stop(signal)
        #expect(end.code == code, "\(end.err)")
        #expect(try pushes("a.tape.gz") == ["Welcome", "ReceiveMessage"])
    }

    @Test func anOlderTapeIsKept() throws {
        try "precious".write(toFile: scratch.path("a.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run("record", "--upstream", hub.url, "-o", scratch.path("a.tape"), "--", "/bin/true")
        #expect(run.code == 1)
        #expect(run.verdict.contains("exists already; --force overwrites it"))
        #expect(try String(contentsOfFile: scratch.path("a.tape"), encoding: .utf8) == "precious")
        let forced = try Binary.run(
            "record", "--upstream", hub.url, "-o", scratch.path("a.tape"), "--force", "--", client)
        #expect(forced.code == 0, "\(forced.err)")
    }

    @Test func aPortInUseIsFoundBeforeTheTapeIsWritten() throws {
        let port = hub.url.split(separator: ":").last ?? ""
        let run = try Binary.run(
            "record", "--upstream", hub.url, "-o", scratch.path("a.tape"), "--listen", "127.0.0.1:\(port)")
        #expect(run.code == 1)
        #expect(run.verdict.contains("address already in use"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("a.tape")))
    }

    @Test func aMissingCertificateFileIsFoundBeforeTheTapeIsWritten() throws {
        let run = try Binary.run(
            "record", "--upstream", "https://127.0.0.1:9", "--upstream-ca", "/nonexistent.pem", "-o",
            scratch.path("a.tape"))
        #expect(run.code == 1)
        #expect(run.verdict == "wiretape: failed (exit 1): --upstream-ca: /nonexistent.pem: No such file or directory")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("a.tape")))
    }

    @Test(arguments: [
        (["record"], "record needs --output FILE"),
        (["proxy", "--upstream", "http://a", "--upstream", "http://b"], "two upstreams are called 'main'"),
        (["proxy", "--upstream", "http://a", "--fault", "rest on connect"], "did you mean 'reset'?"),
        (
            ["proxy", "--upstream", "http://a", "--fault", "reset on connect", "--threads", "2"],
            "rules, reports and events are of one loop"
        ),
        (["proxy", "--upstream", "http://a", "--control", "x"], "names no port"),
        (["proxy", "--upstream", "http://a", "--upstream-ca", "x", "--insecure-upstream"], "contradict"),
        (["recrod"], "unknown command 'recrod'; did you mean 'record'?"),
        (["check"], "'check' is planned and not built yet"),
    ])
    func mistakesAreUsageErrors(_ words: [String], _ text: String) throws {
        let run = try Binary.run(Binary.wiretape, words)
        #expect(run.code == 64)
        #expect(run.verdict.hasPrefix("wiretape: usage (exit 64): "))
        #expect(run.verdict.contains(text), "\(run.verdict)")
    }
}
