import Foundation
import Testing
import WiretapeWire

/// Two hubs behind one recorder, and the replay of both, whose clients find them by name.
@Suite(.waitsForPrograms) struct UpstreamCommandTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    /// Ada talks to `api`, then Bob to `chat-hub`.
    init() throws {
        scratch = try Scratch()
        let hubs = try (0..<2).map { _ in try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url) }
        let talk = "\(client) {url:api}/chat --user ada --say one && \(client) {url:chat-hub}/chat --user bob --say two"
        let run = try Binary.run(
            "record", "--upstream", "api=\(hubs[0].url)", "--upstream", "chat-hub=\(hubs[1].url)", "--output",
            scratch.path("two.tape.gz"), "--", "/bin/sh", "-c", talk)
        #expect(run.code == 0, "\(run.err)")
        for hub in hubs { _ = try hub.stop() }
    }

    private func replay(_ options: [String] = [], _ script: String) throws -> Binary.Run {
        let words = ["replay", scratch.path("two.tape.gz"), "--speed", "instant"] + options
        return try Binary.run(Binary.wiretape, words + ["--", "/bin/sh", "-c", script])
    }

    @Test func theSecondIsAskedFirst() throws {
        let talk = "\(client) {url:chat-hub}/chat --user bob --say two && \(client) {url:api}/chat --user ada --say one"
        let run = try replay(["--json", "--report", scratch.path("report.json")], talk)
        #expect(run.code == 0, "\(run.err)")
        let ready = try JSONValue(parsing: String(run.out.prefix { $0 != "\n" }))
        #expect(ready["urls"]?.members?.map(\.name) == ["api", "chat-hub"])
        #expect(ready["url"]?.string == ready.value(at: "/urls/api")?.string)
        let report = try JSONValue(parsing: String(contentsOfFile: scratch.path("report.json"), encoding: .utf8))
        #expect(report["sessions"]?.array?.map { $0["upstream"]?.string } == ["api", "chat-hub"])
        #expect(report["sessions"]?.array?.map { $0["finished"] } == [.bool(true), .bool(true)])
    }

    /// What Ada said is not there for the other hub's client, whatever it asks.
    @Test func theOthersSessionIsNotServed() throws {
        let run = try replay([], "\(client) {url:chat-hub}/chat --user ada --say one --reconnect none; exit 0")
        #expect(run.code == 2 && run.err.contains("recorded  Invocation SendMessage(\"bob\", \"two\")"), "\(run.err)")
    }

    @Test func theEnvironmentHasThemToo() throws {
        let script =
            "test \"$WIRETAPE_URL_API\" = {url:api} && test \"$WIRETAPE_URL\" = {url} && "
            + "test \"$WIRETAPE_URL_CHAT_HUB\" = {url:chat-hub} && test {url} = {url:api} && test {url:api} != {url:chat-hub}"
        let run = try Binary.run(
            "proxy", "--upstream", "api=http://127.0.0.1:1", "--upstream", "chat-hub=http://127.0.0.1:2", "--",
            "/bin/sh", "-c", script)
        #expect(run.code == 0, "\(run.err)")
        let talk = script + " && \(client) {url:chat-hub}/chat --user bob --say two"
        let played = try replay([], talk)
        #expect(played.code == 0, "\(played.err)")
    }

    @Test func unknownNamesAreTold() throws {
        for words in [
            ["replay", scratch.path("two.tape.gz"), "--", "true", "{url:chathub}"],
            ["proxy", "--upstream", "chat-hub=http://127.0.0.1:1", "--", "true", "{url:chathub}"],
        ] {
            let run = try Binary.run(Binary.wiretape, words)
            #expect(run.code == 64)
            #expect(
                run.err.contains("'{url:chathub}' in the command: no listener has that name; did you mean 'chat-hub'?"),
                "\(run.err)")
        }
        let passed = try replay(["--on-miss", "passthrough", "--upstream", "http://127.0.0.1:1"], "true")
        #expect(
            passed.code == 64 && passed.err.contains("two.tape.gz has the upstreams api, chat-hub"), "\(passed.err)")
    }

    /// Each upstream has a listener for each name.
    @Test func namesOfSessionsBesides() throws {
        let named = try Binary.run("name", scratch.path("two.tape.gz"), "ada=1", "bob=2")
        #expect(named.code == 0, "\(named.err)")
        let talk =
            "\(client) {url:chat-hub.bob}/chat --user bob --say two && \(client) {url:api.ada}/chat --user ada --say one"
        let run = try replay(["--session", "ada,bob", "--json"], talk)
        #expect(run.code == 0, "\(run.err)")
        let ready = try JSONValue(parsing: String(run.out.prefix { $0 != "\n" }))
        #expect(
            ready["urls"]?.members?.map(\.name) == ["api.ada", "api.bob", "chat-hub.ada", "chat-hub.bob"])
    }

    @Test func inspectTellsWhere() throws {
        let run = try Binary.run("inspect", scratch.path("two.tape.gz"), "--filter", "request")
        #expect(run.code == 0 && run.out.contains(", at api") && run.out.contains(", at chat-hub"), "\(run.out)")
    }
}
