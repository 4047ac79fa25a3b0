import Testing
import WiretapeBytes
import WiretapeRuntime
import WiretapeSamples
import WiretapeSimulation
import WiretapeWire

/// The sample client and the sample hub on a simulated network.
@Suite struct SampleHubTests {
    private struct World {
        let loop: SimulatedLoop
        let hub: SampleHub
        let client: HubClient

        init(seed: UInt64, _ conditions: NetworkConditions = .calm, _ change: (inout HubOptions) -> Void = { _ in })
            throws
        {
            loop = SimulatedLoop(seed: seed, conditions: conditions)
            hub = try SampleHub(loop, on: Address(host: "127.0.0.1", port: 0), SampleHub.Options(seed: seed))
            var options = HubOptions(url: try #require(HubURL("http://\(hub.address)/chat")), seed: seed)
            change(&options)
            client = HubClient(loop, options)
        }

        func finish() {
            client.stop()
            hub.close()
            loop.run()
            #expect(loop.leaks == [])
            #expect(loop.violations == [])
        }
    }

    @Test func callsOfEveryKindOverARoughNetwork() throws {
        var expected: Set<[String]> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            let world = try World(seed: seed, .rough)
            var lines: [String] = []
            var reached: Bool?
            _ = CallsScript(world.client, world.loop, think: 20_000_000) { event in
                if case .invocation(let target, _) = event { lines.append(target) }
            } report: {
                lines.append($0)
            } ended: {
                reached = $0
            }
            world.client.start()
            world.loop.run(until: WireInstant(nanoseconds: 60_000_000_000)) { reached == nil }
            #expect(reached == true, "seed \(seed)")
            expected.insert(lines.sorted())
            world.finish()
        }
        #expect(
            expected == [
                [
                    "Add 5", "AskBack \"you said your name? ada\"", "Burst null", "ClientResult", "Counter 0",
                    "Counter 1",
                    "Counter 2", "Counter 3", "Counter 4", "Counter done", "Echo \"one\"", "Echo \"two\"",
                    "ReceiveMessage", "ReceiveMessage", "ReceiveMessage", "ReceiveMessage", "SendMessage null",
                    "Slow \"late\"", "Sum 22", "Welcome",
                ]
            ])
    }

    @Test func theChatIsHeardByAll() throws {
        let world = try World(seed: 4)
        var other = HubOptions(url: try #require(HubURL("http://\(world.hub.address)/chat?user=bob")), seed: 9)
        other.negotiateVersion = nil
        let bob = HubClient(world.loop, other)
        var heard: [HubEvent] = []
        bob.observe = { heard.append($0) }
        bob.start()
        world.loop.run(until: WireInstant(nanoseconds: 1_000_000_000))
        var reached: Bool?
        _ = ChatScript(world.client, user: "ada", lines: ["a", "b"], goal: nil) { _ in
        } ended: {
            reached = $0
        }
        world.client.start()
        world.loop.run(until: WireInstant(nanoseconds: 2_000_000_000))
        #expect(reached == true)
        #expect(
            heard == [
                .connected(id: ""), .invocation(target: "Welcome", arguments: [.string("hello bob")]),
                .invocation(target: "ReceiveMessage", arguments: [.string("ada"), .string("a")]),
                .invocation(target: "ReceiveMessage", arguments: [.string("ada"), .string("b")]),
            ])
        bob.stop()
        world.finish()
    }

    @Test func reconnectsAfterTheDelaysOfTheRealClient() throws {
        let world = try World(seed: 4)
        var told: [(UInt64, HubEvent)] = []
        world.client.observe = { told.append((world.loop.now.nanoseconds / 1_000_000, $0)) }
        world.client.start()
        world.loop.run(until: WireInstant(nanoseconds: 1_000_000_000))
        // The server goes away for good, and its port with it.
        world.hub.close()
        world.hub.cut()
        world.loop.run(until: WireInstant(nanoseconds: 60_000_000_000))
        let tries = told.compactMap { if case .retrying(let n, _) = $0.1 { (n, $0.0) } else { nil } }
        #expect(tries.map(\.0) == [1, 2, 3, 4])
        #expect(tries.map(\.1) == [1_000, 3_000, 13_000, 43_000])
        guard case .closed(let reason)? = told.last?.1 else {
            Issue.record("not closed: \(told)")
            return
        }
        #expect(reason == "negotiate: connection refused")
        world.finish()
    }

    @Test func goesOnAfterACut() throws {
        let world = try World(seed: 4)
        var events: [String] = []
        var reached: Bool?
        var sawThird = false
        _ = ChatScript(world.client, user: "ada", lines: ["a", "b", "c", "d"], goal: nil) { event in
            switch event {
            case .invocation("ReceiveMessage", let arguments):
                events.append(arguments[1].string ?? "")
                if events.count == 3, !sawThird {
                    sawThird = true
                    world.hub.cut()
                }
            case .lost: events.append("lost")
            case .retrying(let attempt, _): events.append("retry \(attempt)")
            case .reconnected: events.append("reconnected")
            default: break
            }
        } ended: {
            reached = $0
        }
        world.client.start()
        world.loop.run(until: WireInstant(nanoseconds: 60_000_000_000))
        #expect(reached == true)
        #expect(Array(events.prefix(6)) == ["a", "b", "c", "lost", "retry 1", "reconnected"])
        // Whether the third line was acknowledged in time is the network's affair.
        #expect([["d"], ["c", "d"]].contains(Array(events.dropFirst(6))))
        world.finish()
    }

    @Test func aSilentServerIsLostAfterThirtySeconds() throws {
        let world = try World(seed: 2) { $0.reconnectDelays = [] }
        world.loop.faults = [SimulatedFault(.lost, connection: 1, fromConnector: false, after: 195)]
        var closed: (UInt64, String?)?
        world.client.observe = { if case .closed(let reason) = $0 { closed = (world.loop.now.nanoseconds, reason) } }
        world.client.start()
        world.loop.run(until: WireInstant(nanoseconds: 120_000_000_000))
        #expect(closed?.1 == "server timeout elapsed without receiving a message from the server")
        #expect((closed?.0 ?? 0) >= 30_000_000_000)
        world.finish()
    }

    @Test func pingsKeepAQuietConnection() throws {
        let world = try World(seed: 2)
        world.client.start()
        world.loop.run(until: WireInstant(nanoseconds: 300_000_000_000))
        #expect(world.client.isConnected)
        world.finish()
    }

    @Test func badNegotiationsAreFailures() throws {
        for (path, reason) in [("/nothing", "negotiate: 404"), ("/", "negotiate: 404")] {
            let loop = SimulatedLoop(seed: 1)
            let hub = try SampleHub(loop, on: Address(host: "127.0.0.1", port: 0), SampleHub.Options(seed: 1))
            let url = try #require(HubURL("http://\(hub.address)\(path)"))
            let client = HubClient(loop, HubOptions(url: url, seed: 1))
            var events: [HubEvent] = []
            client.observe = { events.append($0) }
            client.start()
            loop.run(until: WireInstant(nanoseconds: 10_000_000_000))
            #expect(events == [.closed(reason: reason)])
            hub.close()
            loop.run()
            #expect(loop.leaks == [])
        }
    }

    @Test func everyEndOfAConnectionIsSeenWhateverTheSeed() throws {
        var conditions = NetworkConditions.rough
        conditions.resetOneIn = 60
        var lost = 0
        for seed in 1...150 as ClosedRange<UInt64> {
            let world = try World(seed: seed, conditions)
            var reached: Bool?
            _ = ChatScript(world.client, user: "ada", lines: nil, goal: nil) {
                if case .lost = $0 { lost += 1 }
            } ended: {
                reached = $0
            }
            world.client.start()
            world.loop.run(until: WireInstant(nanoseconds: 200_000_000_000)) { reached == nil }
            #expect(reached != nil, "seed \(seed)")
            world.finish()
        }
        #expect(lost > 10)
    }
}
