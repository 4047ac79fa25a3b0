import Foundation
import Testing
import WiretapeProtocol
import WiretapeTape

/// A recording on which no server has answered is no success, and says why.
@Suite(.waitsForPrograms, .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
struct RecordingOfNothingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// An address that refuses connections: nobody listens there any more.
    private func deadPort() throws -> String {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        _ = try hub.stop()
        return hub.url
    }

    private func record(_ upstream: String, _ script: String, _ options: [String] = []) throws -> Binary.Run {
        try Binary.run(
            Binary.wiretape,
            ["record", "--upstream", upstream, "--output", scratch.path("a.tape"), "--force"] + options
                + ["--", "/bin/sh", "-c", script])
    }

    @Test func aDeadServer() throws {
        let url = try deadPort()
        let run = try record(url, "for n in 1 2 3; do curl -s {url}/chat -m 5; done; exit 0")
        #expect(run.code == 1, "\(run.err)")
        let reason = "cannot reach \(url) (\(url.dropFirst(7)): connection refused)"
        // Said once as it comes, and counted in the last line.
        #expect(run.err.split(separator: "\n").count { $0 == "wiretape: \(reason)" } == 1, "\(run.err)")
        #expect(
            run.verdict.hasPrefix(
                "wiretape: failed (exit 1): no request was answered by an upstream: \(reason), 3 times; "),
            "\(run.verdict)")
        // What the client was told stands on the tape all the same.
        var reader = try TapeReader(path: scratch.path("a.tape"))
        var answers = 0
        while let next = try reader.next() {
            if case .response(x: _, _, _, interim: _, coding: _, proxy: true) = next.event.kind { answers += 1 }
        }
        #expect(answers == 3)
    }

    @Test func aDeadServerBehindRules() throws {
        let run = try record(
            try deadPort(), "curl -s {url}/chat -m 5; exit 0", ["--fault", "delay(1ms) on request"])
        #expect(run.code == 1, "\(run.err)")
        #expect(run.verdict.contains("no request was answered by an upstream: cannot reach "), "\(run.verdict)")
    }

    /// What a rule says in the server's place is not the server's.
    @Test func onlyRulesAnswered() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let run = try record(
            hub.url, "curl -s -X POST {url}/chat/negotiate?negotiateVersion=1 -m 5; exit 0",
            ["--fault", "respond(503) on request"])
        #expect(run.code == 1, "\(run.err)")
        #expect(
            run.verdict.contains("no request was answered by an upstream: no request was passed on"), "\(run.verdict)")
    }

    @Test func nobodyCame() throws {
        let run = try record(try deadPort(), "exit 0")
        #expect(run.code == 1, "\(run.err)")
        #expect(run.verdict.contains("no request was answered by an upstream: no client came"), "\(run.verdict)")
    }

    /// An error of the server is an answer of the server.
    @Test func anAnswerIsAnAnswer() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let run = try record(hub.url, "curl -s {url}/nowhere -m 5; exit 0")
        #expect(run.code == 0, "\(run.err)")
    }

    /// A server that takes the connection and says nothing.
    @Test(arguments: [[], ["--fault", "delay(1ms) on request"]])
    func aServerThatHangsUp(_ options: [String]) throws {
        let script = """
            import socket, sys
            s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
            print('{"url":"http://127.0.0.1:%d"}' % s.getsockname()[1], flush=True)
            while True:
                c, _ = s.accept(); c.recv(4096); c.close()
            """
        try script.write(toFile: scratch.path("mute.py"), atomically: true, encoding: .utf8)
        let server = try Running(
            URL(fileURLWithPath: "/usr/bin/python3"), [scratch.path("mute.py")], in: scratch.url)
        let run = try record(server.url, "curl -s {url}/ -m 5; exit 0", options)
        #expect(run.code == 1, "\(run.err)")
        #expect(run.err.contains("wiretape: \(server.url) closed the connection without an answer\n"), "\(run.err)")
        _ = try server.stop(SIGKILL)
    }

    @Test func theCommandsOwnCodeGoesFirst() throws {
        let run = try record(try deadPort(), "curl -s {url}/ -m 5; exit 7")
        #expect(run.code == 7)
        let both = "ended with 7; failed (exit 1): no request was answered by an upstream: cannot reach "
        #expect(run.verdict.contains(both), "\(run.verdict)")
    }

    /// A proxy records nothing, and says what it could not reach.
    @Test func theProxySaysIt() throws {
        let url = try deadPort()
        let run = try Binary.run(
            "proxy", "--upstream", url, "--quiet", "--", "/bin/sh", "-c", "curl -s {url}/ -m 5; exit 0")
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.hasPrefix("wiretape: cannot reach \(url) ("), "\(run.err)")
        #expect(run.verdict.contains("1 connection relayed; cannot reach \(url)"), "\(run.verdict)")
    }
}

/// A command that cannot be started is told with a shell's codes, and leaves nothing behind.
@Suite(.waitsForPrograms) struct CommandStartTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try NobodyTests.session.write(toFile: scratch.path("x.tape"), atomically: true, encoding: .utf8)
        try "no program\n".write(toFile: scratch.path("plain"), atomically: true, encoding: .utf8)
        try "#!/nonexistent/sh\n".write(toFile: scratch.path("script"), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path("script"))
    }

    enum Case: CaseIterable { case missing, missingFile, plain, folder, noInterpreter }

    private func command(_ one: Case) -> (String, Int32) {
        switch one {
        case .missing: ("wiretape-no-such-command", 127)
        case .missingFile: (scratch.path("nothing"), 127)
        case .plain: (scratch.path("plain"), 126)
        case .folder: (scratch.url.path, 126)
        // Found, and started, and then the system finds no interpreter.
        case .noInterpreter: (scratch.path("script"), 127)
        }
    }

    @Test(arguments: Case.allCases) func aRecordingLeavesNoTape(_ one: Case) throws {
        let (command, code) = command(one)
        let run = try Binary.run(
            "record", "--upstream", "http://127.0.0.1:9", "-o", scratch.path("a.tape"), "--", command)
        #expect(run.code == code, "\(run.err)")
        #expect(run.verdict.contains("cannot start '\(command)': "), "\(run.verdict)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("a.tape")))
    }

    @Test(arguments: Case.allCases) func aReplayLeavesNoTape(_ one: Case) throws {
        let (command, code) = command(one)
        let run = try Binary.run("replay", scratch.path("x.tape"), "--report", scratch.path("out"), "--", command)
        #expect(run.code == code, "\(run.err)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out/actual.tape")))
        let report = try String(contentsOfFile: scratch.path("out/report.json"), encoding: .utf8)
        #expect(report.contains(#""verdict":"failed""#))
    }

    @Test(arguments: Case.allCases) func proxyAndSweepSayTheSame(_ one: Case) throws {
        let (command, code) = command(one)
        #expect(try Binary.run("proxy", "--upstream", "http://127.0.0.1:9", "--", command).code == code)
        // What only the system finds out is a client that does not pass by itself.
        let sweep = try Binary.run("sweep", scratch.path("x.tape"), "--", command)
        #expect(sweep.code == (one == .noInterpreter ? 1 : code), "\(sweep.err)")
    }

    /// With `--force` an older tape is written over only by a recording that takes place.
    @Test func anOlderTapeIsKept() throws {
        try "precious".write(toFile: scratch.path("a.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run(
            "record", "--upstream", "http://127.0.0.1:9", "-o", scratch.path("a.tape"), "--force", "--",
            "wiretape-no-such-command")
        #expect(run.code == 127)
        #expect(try String(contentsOfFile: scratch.path("a.tape"), encoding: .utf8) == "precious")
    }
}
