import Foundation
import Testing
import WiretapeWire

/// A replay that no client played is no pass.
@Suite(.waitsForPrograms) struct NobodyTests {
    let scratch: Scratch
    /// A WebSocket at /ws on which the client says "hello", and an ordinary request beside it.
    let tape: String

    init() throws {
        scratch = try Scratch()
        tape = scratch.path("two.tape")
        try (NobodyTests.session + NobodyTests.exchange).write(toFile: tape, atomically: true, encoding: .utf8)
    }

    static let session = """
        {"tape":1,"started":"2026-11-20T17:28:00Z"}
        {"t":0,"c":1,"e":"open"}
        {"t":1,"c":1,"e":"request","x":1,"method":"GET","target":"/ws?room=1","headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":2,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":3,"c":1,"e":"message","d":">","op":"text","text":"hello"}

        """
    static let exchange = """
        {"t":8,"c":3,"e":"open"}
        {"t":9,"c":3,"e":"request","x":1,"method":"GET","target":"/api/users","headers":[]}
        {"t":10,"c":3,"e":"response","x":1,"status":200,"headers":[["Content-Type","application/json"]],"text":"[]"}

        """

    func replay(_ tape: String, _ options: [String], _ command: [String]) throws -> Binary.Run {
        try Binary.run(Binary.wiretape, ["replay", tape] + options + ["--"] + command)
    }

    func shell(_ script: String) -> [String] { ["/bin/sh", "-c", script] }

    @Test func aCommandThatNeverComesDiverges() throws {
        let run = try replay(tape, ["--report", scratch.path("out")], ["/bin/true"])
        #expect(run.code == 2)
        #expect(
            run.verdict
                == "wiretape: diverged (exit 2): nobody came to two.tape: no session was claimed. It listens for GET /ws, "
                + "GET /api/users; no request came. Exit 2; --allow-unplayed permits it.")
        let report = try JSONValue(parsing: String(contentsOfFile: scratch.path("out/report.json"), encoding: .utf8))
        #expect(report["verdict"]?.string == "diverged")
        #expect(report["reasons"]?.array?.count == 1)
        // Dashboards that read JUnit alone must not be green.
        let xml = try String(contentsOfFile: scratch.path("out/report.xml"), encoding: .utf8)
        #expect(xml.contains(#"<testsuites tests="1" failures="1""#), "\(xml)")
    }

    @Test func itMayBeAllowed() throws {
        let run = try replay(tape, ["--allow-unplayed"], ["/bin/true"])
        #expect(run.code == 0, "\(run.err)")
        #expect(run.verdict.hasPrefix("wiretape: pass (exit 0): "))
    }

    @Test func theCommandsOwnCodeGoesFirst() throws {
        let run = try replay(tape, [], shell("exit 3"))
        #expect(run.code == 3)
        #expect(run.verdict.contains("ended with 3; diverged (exit 2): nobody came to two.tape"), "\(run.verdict)")
    }

    @Test func anInterruptedReplayThatNobodyPlayedDiverges() throws {
        let server = try Running("wiretape", ["replay", tape, "--json"], in: scratch.url)
        let end = try server.stop(SIGINT)
        #expect(end.code == 2, "\(end.err)")
        #expect(end.err.contains("no request came"))
    }

    /// Below `ignore` no divergence counts, and there is none: nobody came is something else.
    @Test(arguments: ["fail", "ignore", "warn"]) func divergencesAreNotWhatCounts(_ how: String) throws {
        #expect(try replay(tape, ["--on-divergence", how], ["/bin/true"]).code == 2)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func whatCameInsteadIsNamed() throws {
        let run = try replay(
            tape, ["--on-miss", "204"], shell("curl -s {url}/v2/ws {url}/v2/ws?token=secret {url}/other -m 5; exit 0"))
        #expect(run.code == 2, "\(run.err)")
        #expect(run.verdict.contains("instead came GET /v2/ws (2 times), GET /other"), "\(run.verdict)")
        #expect(!run.verdict.contains("secret"))
    }

    /// The ordinary requests around a session do not make it played.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func ordinaryRequestsAloneAreNotTheSession() throws {
        let run = try replay(tape, [], shell("curl -s {url}/api/users -m 5"))
        #expect(run.code == 2, "\(run.err)")
        #expect(run.out.hasPrefix("[]"))
        #expect(run.verdict.contains("instead came GET /api/users"), "\(run.verdict)")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func aTapeOfOrdinaryRequestsIsPlayedByOne() throws {
        let path = scratch.path("plain.tape")
        try ("{\"tape\":1}\n" + NobodyTests.exchange).write(toFile: path, atomically: true, encoding: .utf8)
        let nobody = try replay(path, [], ["/bin/true"])
        #expect(nobody.code == 2)
        #expect(
            nobody.verdict.contains(
                "nobody came to plain.tape: no request was answered. It listens for GET /api/users; no request came"),
            "\(nobody.verdict)")
        #expect(try replay(path, [], shell("curl -s {url}/api/users -m 5")).code == 0)
    }

    /// A long tape is read while its listeners are open already: whichever comes first, the end or the tape.
    @Test func nobodyCameToALongTape() throws {
        let path = scratch.path("long.tape")
        var text = NobodyTests.session
        for n in 0..<2_000 {
            text +=
                "{\"t\":\(10 + n),\"c\":1,\"e\":\"message\",\"d\":\"<\",\"op\":\"text\",\"text\":\"message \(n)\"}\n"
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let run = try replay(path, [], ["/bin/true"])
        #expect(run.code == 2)
        #expect(run.verdict.contains("nobody came to long.tape: "), "\(run.verdict)")
        #expect(try replay(path, ["--allow-unplayed"], ["/bin/true"]).code == 0)
    }

    /// A connection without a request that can be read, as of a client that speaks TLS to a plain listener.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func connectionsWithoutARequestAreCounted() throws {
        let run = try replay(tape, [], shell("curl -sk https://${WIRETAPE_URL#http://}/ws -m 5; exit 0"))
        #expect(run.code == 2)
        #expect(
            run.verdict.contains("no request came; 1 connection brought no request that could be read"),
            "\(run.verdict)")
    }
}
