import Testing
import WiretapeNet
import WiretapeRuntime
import WiretapeSamples

/// The sample client and the sample hub on real sockets.
@Suite(.timeLimit(.minutes(15))) struct SampleHubOnSocketsTests {
    @Test func callsOfEveryKind() throws {
        let loop = try UVLoop()
        defer { loop.shutdown() }
        let hub = try SampleHub(loop, on: Address(host: "127.0.0.1", port: 0), SampleHub.Options(seed: 1))
        let url = try #require(HubURL("http://\(hub.address)/chat"))
        let client = HubClient(loop, HubOptions(url: url, seed: 1))
        var results: [String] = []
        var reached: Bool?
        _ = CallsScript(client, loop, think: 1_000_000) { _ in
        } report: {
            results.append($0)
        } ended: {
            reached = $0
            hub.close()
        }
        client.start()
        // Ends when nothing is open any more.
        loop.run()
        #expect(reached == true)
        #expect(
            results.sorted() == [
                "Add 5", "AskBack \"you said your name? ada\"", "Burst null", "Counter 0", "Counter 1", "Counter 2",
                "Counter 3", "Counter 4", "Counter done", "Echo \"one\"", "Echo \"two\"", "SendMessage null",
                "Slow \"late\"", "Sum 22",
            ])
    }

    @Test func comesBackAfterACut() throws {
        let loop = try UVLoop()
        defer { loop.shutdown() }
        let hub = try SampleHub(loop, on: Address(host: "127.0.0.1", port: 0), SampleHub.Options(seed: 1))
        var options = HubOptions(url: try #require(HubURL("http://\(hub.address)/chat")), seed: 1)
        options.reconnectDelays = [1_000_000]
        let client = HubClient(loop, options)
        var events: [String] = []
        _ = ChatScript(client, user: "ada", lines: ["a", "b"], goal: nil) { event in
            switch event {
            case .invocation("Welcome", _): if events.isEmpty { hub.cut() }
            case .lost: events.append("lost")
            case .retrying(let attempt, _): events.append("retry \(attempt)")
            case .reconnected: events.append("reconnected")
            default: break
            }
        } ended: {
            events.append("reached \($0)")
            hub.close()
        }
        client.start()
        loop.run()
        #expect(events == ["lost", "retry 1", "reconnected", "reached true"])
    }
}
