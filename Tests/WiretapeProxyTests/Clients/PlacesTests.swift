import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// More clients than places, in virtual time.
@Suite struct PlacesTests {
    @Test func descriptorsForClients() {
        // 56 may be used, 15 are, 4 are for refusals, 2 for a newcomer and a lookup.
        #expect(ClientPlaces.room(descriptors: 64, ceiling: 56, used: 15, perClient: 2) == 35)
        #expect(ClientPlaces.room(descriptors: 256, ceiling: 224, used: 15, perClient: 2) == 199)
        #expect(ClientPlaces.room(descriptors: 1024, ceiling: 960, used: 20, perClient: 2) == 906)
        #expect(ClientPlaces.room(descriptors: 16, ceiling: 12, used: 15, perClient: 2) == 2)
    }

    /// A client that asks for nothing lends what is kept for its upstream; one that asks has it back as long as there are idle ones.
    @Test(arguments: LimitStage.Mode.allCases) func whoeverAsksForNothingLends(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode, places: 8, perClient: 2)
        let idle = (0..<7).map { _ in
            let client = stage.client()
            stage.run(0.3)
            return client
        }
        #expect(stage.node.count == 7 && idle.allSatisfy { $0.end == nil } && stage.said.all == [])
        // The eighth has to find two: the oldest gives way.
        let good = stage.client(LimitStage.get("/good"))
        stage.run(0.3)
        #expect(good.text.hasSuffix("answer to /good") && idle[0].end == .reset)
        #expect(
            stage.said.all == ["all 7 places for clients are taken: a client that asked for nothing had to make room"])
        // One that has lent asks: another one gives way.
        idle[3].send(LimitStage.get("/late"))
        stage.run(0.3)
        #expect(idle[3].text.hasSuffix("answer to /late") && idle[1].end == .reset)
        #expect(idle[2].end == nil && idle[4].end == nil && good.end == nil)
        // One that has its own asks again: nobody has to give way.
        good.send(LimitStage.get("/again"))
        idle[3].send(LimitStage.get("/again"))
        stage.run(0.3)
        #expect(good.text.hasSuffix("answer to /again") && idle[3].text.hasSuffix("answer to /again"))
        #expect(stage.node.count == 6)
        _ = stage.finish()
    }

    /// Whoever has lent and asks when all the others are being served is told that there is no place.
    @Test(arguments: LimitStage.Mode.allCases) func whoeverHasLentMayFindNothing(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode, places: 5, perClient: 2)
        let idle = stage.client()
        stage.run(1)
        let polls = (0..<2).map { _ in
            let client = stage.client(LimitStage.get("/poll"))
            stage.run(1)
            return client
        }
        #expect(idle.end == nil && stage.origins.count == 2)
        idle.send(LimitStage.get("/late"))
        stage.run(1)
        #expect(idle.text.hasPrefix("HTTP/1.1 503 ") && idle.text.contains("Retry-After: 1"))
        #expect(idle.end == .closed && polls.allSatisfy { $0.end == nil } && stage.origins.count == 2)
        #expect(stage.said.all == ["all 3 places for clients are taken: answered 503"])
        // What it had is free.
        polls[0].shut()
        stage.run(1)
        let next = stage.client(LimitStage.get("/next"))
        stage.run(1)
        #expect(next.text.hasSuffix("answer to /next"))
        let lines = stage.finish()
        let answer = try #require(lines.first { $0.contains(#""status":503"#) })
        #expect(answer.contains(#""c":1,"e":"response","x":1"#) && answer.contains(#""by":"proxy""#))
    }

    /// However many come and go, nothing is counted twice.
    @Test func lendersComeAndGo() throws {
        let stage = try LimitStage(.pass, places: 24, perClient: 2)
        var random = SplitMix64(seed: 15)
        var clients: [ScriptedPeer] = []
        for round in 0..<600 {
            switch random.below(4) {
            case 0, 1: clients.append(stage.client(round % 3 == 0 ? LimitStage.get("/\(round)") : ""))
            case 2:
                if let client = clients.filter({ $0.end == nil }).last { client.send(LimitStage.get("/late")) }
            default:
                if let client = clients.filter({ $0.end == nil }).first { client.stream?.reset() }
            }
            stage.run(0.25)
            #expect(stage.node.count <= 23)
        }
        for client in clients where client.end == nil { client.stream?.reset() }
        stage.run(10)
        #expect(stage.node.count == 0)
        // All of it is there again.
        let last = (0..<12).map { stage.client(LimitStage.get("/\($0)")) }
        stage.run(1)
        #expect(last.allSatisfy { $0.text.contains("answer to") })
        _ = stage.finish()
    }

    @Test(arguments: LimitStage.Mode.allCases) func whoeverSaidNoHeadForLongestGivesWay(_ mode: LimitStage.Mode) throws
    {
        let stage = try LimitStage(mode, places: 4)
        let socket = stage.client(LimitStage.opening)
        stage.run(1)
        let slow = stage.client("GET /slow HTTP/1.1\r\nX: ")
        stage.run(1)
        let silent = stage.client()
        let other = stage.client("GET /other HTTP/1.1\r\nX: ")
        stage.run(1)
        let good = stage.client(LimitStage.get("/good"))
        stage.run(0.1)
        #expect(good.text.hasSuffix("answer to /good"))
        #expect(slow.text.hasPrefix("HTTP/1.1 503 ") && slow.text.contains("Retry-After: 1"))
        #expect(slow.end == .reset)
        #expect(silent.end == nil && other.end == nil && socket.end == nil)
        // The next one to go has said nothing, and hears nothing.
        let second = stage.client(LimitStage.get("/second"))
        stage.run(0.1)
        #expect(second.text.hasSuffix("answer to /second"))
        #expect(silent.text == "" && silent.end == .reset && other.end == nil)
        // Then comes the last that has no whole head, and only then an idle one.
        let third = stage.client(LimitStage.get("/third"))
        stage.run(1)
        #expect(third.text.hasSuffix("answer to /third") && other.end == .reset && good.end == nil)
        let fourth = stage.client(LimitStage.get("/fourth"))
        stage.run(1)
        #expect(fourth.text.hasSuffix("answer to /fourth") && good.end == .reset && socket.end == nil)
        #expect(stage.node.count == 4)
        #expect(
            stage.said.all == [
                "all 4 places for clients are taken: a client that asked for nothing had to make room"
            ])
        let lines = stage.finish()
        #expect(lines.contains { $0.contains(#""e":"malformed""#) && $0.contains("GET /slow HTTP") })
        let answer = try #require(lines.first { $0.contains(#""status":503"#) })
        #expect(answer.contains(#""c":2,"e":"response","x":1"#) && answer.contains(#""by":"proxy""#))
        #expect(
            lines.contains(
                #"{"c":3,"e":"gone","by":"proxy","how":"rst","why":"another client needed its place"}"#))
    }

    @Test func whoeverWaitsForAnAnswerKeepsItsPlace() throws {
        let stage = try LimitStage(.pass, places: 3)
        let sockets = [
            stage.client(LimitStage.opening), stage.client(LimitStage.get("/poll")),
            stage.client("POST /upload HTTP/1.1\r\nHost: p\r\nContent-Length: 10\r\n\r\na"),
        ]
        stage.run(5)
        let beyond = (0..<12).map { _ in stage.client(LimitStage.get("/beyond")) }
        stage.run(0.5)
        for client in beyond {
            #expect(client.text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(client.text.contains("Retry-After: 1\r\n") && client.text.contains("Connection: close\r\n"))
            #expect(client.end == .closed)
        }
        #expect(!sockets.contains { $0.end != nil } && stage.node.count == 3)
        #expect(
            stage.said.all == [
                "all 3 places for clients are taken: answered 503",
                "all 3 places for clients are taken: answered 503 (10 times)",
            ])
        sockets[1].shut()
        stage.origins[1].send(HTTPOrigin.ok("late"))
        stage.run(1)
        let later = stage.client(LimitStage.get("/later"))
        stage.run(1)
        #expect(later.text.hasSuffix("answer to /later"))
        let lines = stage.finish()
        #expect(!lines.contains { $0.contains("/beyond") })
    }

    /// Clients that come at one time and speak at once do not push each other out. Nobody lends who has just come: each who is let in is
    /// served.
    @Test(arguments: LimitStage.Mode.allCases, [1, 2]) func aCrowdDoesNotServeNobody(
        _ mode: LimitStage.Mode, _ perClient: Int
    )
        throws
    {
        let stage = try LimitStage(mode, places: 8 * perClient, perClient: perClient)
        let clients = (0..<40).map { stage.client(LimitStage.get("/\($0)")) }
        stage.run(1)
        #expect(clients.count { $0.text.contains("answer to") } == 8)
        #expect(clients.count { $0.text.hasPrefix("HTTP/1.1 503 ") } == 32)
        _ = stage.finish()
    }

    /// Behind a door with TLS a client has its place from the first moment on. One that begins a handshake and says no more gives
    /// way; who cannot be let in hears so in TLS; one whose handshake fails has its place until its connection is gone.
    @Test func handshakesHavePlaces() throws {
        let door = try TLSDoor(TLSContext(serverIssuing: TLSIdentity.authority("test"))) { _, _ in }
        let stage = try LimitStage(.pass, places: 3, door: door)
        let trusting = try TLSContext(client: .everyone)
        let socket = stage.secureClient(trusting, LimitStage.opening)
        stage.run(1)
        #expect(socket.text.hasPrefix("HTTP/1.1 101"))
        let half = stage.client("\u{16}\u{3}\u{1}")
        let silent = stage.client()
        stage.run(1)
        let good = stage.secureClient(trusting, LimitStage.get("/good"))
        stage.run(1)
        #expect(good.text.hasSuffix("answer to /good"))
        #expect(half.end == .reset && silent.end == nil && socket.end == nil)
        let bad = stage.client("no TLS")
        bad.onEnd = { _ in }
        stage.run(1)
        #expect(silent.end == .reset && good.end == nil && bad.sawEnd && bad.end == nil)
        let poll = stage.secureClient(trusting, LimitStage.get("/poll"))
        stage.run(1)
        #expect(bad.end == .reset && poll.end == nil && good.end == nil)
        let next = stage.secureClient(trusting, LimitStage.get("/poll"))
        stage.run(1)
        #expect(good.end == .reset && next.end == nil)
        let beyond = stage.secureClient(trusting, LimitStage.get("/beyond"))
        stage.run(1)
        #expect("\(String(describing: beyond.end))".contains("internal error"))
        #expect(socket.end == nil && poll.end == nil && next.end == nil)
        _ = stage.finish()
    }

    /// One that is told that there is no place, and neither reads nor ends, or talks on, is gone in a second or at once.
    @Test func refusedClientsAreNotWaitedFor() throws {
        let stage = try LimitStage(.pass, places: 1)
        let socket = stage.client(LimitStage.opening)
        stage.run(1)
        let deaf = stage.client()
        deaf.onConnect = { $0.stream?.isReading = false }
        let lasting = stage.client(LimitStage.get("/"))
        lasting.onEnd = { _ in }
        let loud = stage.client(String(repeating: "x", count: 1 << 20))
        stage.run(0.5)
        #expect(loud.end != nil && lasting.end == nil)
        stage.run(4)
        #expect(lasting.end == .reset && lasting.text.hasPrefix("HTTP/1.1 503 "))
        // It reads at last, and finds that we are gone.
        deaf.stream?.isReading = true
        stage.run(1)
        #expect(deaf.end == .reset)
        // At most so many are told at one time: the oldest goes.
        let many = (0..<40).map { _ in
            let client = stage.client()
            client.onEnd = { _ in }
            return client
        }
        stage.run(0.2)
        #expect(many.count { $0.end == nil } == 32)
        #expect(socket.end == nil)
        _ = stage.finish()
    }
}
