import Testing
import WiretapeBytes
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// The same tape and a client that says the same give one digest, whatever the speed and the client's pace.
@Suite struct DeterminismTests {
    /// Concurrent invocations, a stream, an upload and a client result.
    private static let tape = TestTape.session(
        TestTape.handshake + """
            10 > {"type":1,"invocationId":"0","target":"Echo","arguments":["a"]}
            10 > {"type":1,"invocationId":"1","target":"Echo","arguments":["b"]}
            11 > {"type":4,"invocationId":"2","target":"Counter","arguments":[3]}
            14 < {"type":3,"invocationId":"1","result":"b"} | {"type":1,"target":"Tick","arguments":[1]}
            20 < {"type":3,"invocationId":"0","result":"a"}
            25 < {"type":2,"invocationId":"2","item":1}
            30 < {"type":1,"invocationId":"s1","target":"Name","arguments":[]}
            35 < {"type":2,"invocationId":"2","item":2}
            40 > {"type":1,"invocationId":"4","target":"Sum","arguments":[],"streamIds":["3"]}
            41 > {"type":2,"invocationId":"3","item":1}
            42 > {"type":3,"invocationId":"s1","result":"ada"}
            43 > {"type":2,"invocationId":"3","item":2}
            44 > {"type":3,"invocationId":"3"}
            50 < {"type":3,"invocationId":"4","result":3}
            55 < {"type":2,"invocationId":"2","item":3}
            60 < {"type":3,"invocationId":"2"}
            65 < {"type":1,"target":"Tick","arguments":[2]}
            400 < close 1000
            """)

    /// A pipelining client: it says what it has to say by its own timers, and answers what it is asked.
    private func run(_ speed: ReplayOptions.Speed, pace: Double, ids: (Int) -> String, faults: [String] = []) throws
        -> ReplayReport
    {
        let play = try Playbook([Self.tape], speed: speed, faults: faults)
        let c = try play.start()
        func say(_ text: String) { play.send(c, text) }
        let (a, b, s, u, f) = (ids(0), ids(1), ids(2), ids(3), ids(4))
        var plan: [(at: Double, text: String)] = [
            (8, #"{"type":1,"invocationId":"\#(a)","target":"Echo","arguments":["a"]}"#),
            (8, #"{"type":1,"invocationId":"\#(b)","target":"Echo","arguments":["b"]}"#),
            (9, #"{"type":4,"invocationId":"\#(s)","target":"Counter","arguments":[3]}"#),
            (38, #"{"type":1,"invocationId":"\#(f)","target":"Sum","arguments":[],"streamIds":["\#(u)"]}"#),
            (39, #"{"type":2,"invocationId":"\#(u)","item":1}"#),
            (41, #"{"type":2,"invocationId":"\#(u)","item":2}"#),
            (42, #"{"type":3,"invocationId":"\#(u)"}"#),
        ]
        var got: [String] = []
        var clock = 0.0
        while clock < 3_000 {
            while let next = plan.first, next.at * pace <= clock {
                say(next.text)
                plan.removeFirst()
            }
            for text in play.take(c) {
                got.append(text)
                guard text.contains(#""target":"Name""#) else { continue }
                play.send(c, #"{"type":3,"invocationId":"s1","result":"ada"}"#)
            }
            play.pass(ms: 1)
            clock += 1
        }
        #expect(got.last == "close 1000", "\(got)")
        return play.finish()
    }

    @Test func oneDigestForEverySpeedAndPace() throws {
        var digests: Set<String> = []
        for speed in [ReplayOptions.Speed.instant, .factor(1), .factor(10)] {
            for pace in [0.1, 1, 3] {
                for ids in [{ "\($0)" }, { "uuid-\($0 * 7)" }] as [(Int) -> String] {
                    let report = try run(speed, pace: pace, ids: ids)
                    #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
                    #expect(report.sessions[0].matched == 9)
                    digests.insert(report.digest)
                }
            }
        }
        #expect(digests.count == 1)
    }

    @Test func oneDigestOverEveryTransport() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > \(call("0", "Echo", "1"))
                20 < \(done("0", "1"))
                30 < \(push("Tick"))
                40 > \(stream("1", "Counter"))
                50 < \(item("1", "1"))
                60 < \(end("1"))
                70 < \(push("Tock"))
                """)
        var digests: Set<String> = []
        for transport in [Transport.ws, .sse, .lp] {
            let play = try Playbook([tape], speed: .instant)
            let said = [call("8", "Echo", "1"), stream("9", "Counter")]
            switch transport {
            case .ws:
                let c = try play.start()
                for text in said { play.send(c, text) }
            case .sse:
                let (token, _) = try play.startStream()
                for text in said { #expect(play.post(token, text) == ["200 "]) }
            default:
                let (token, c) = try play.startPolling()
                for text in said {
                    #expect(play.post(token, text) == ["200 "])
                    play.poll(token, on: c)
                }
            }
            play.pass(ms: 100)
            let report = play.finish()
            #expect(report.verdict == .pass && report.sessions[0].finished, "\(transport)")
            digests.insert(report.digest)
        }
        #expect(digests.count == 1)
    }

    @Test func theDigestTellsAnotherTapeAndAnotherEndApart() throws {
        let first = try Playbook([
            TestTape.session(TestTape.handshake + #"5 < {"type":1,"target":"A","arguments":[1]}"#)
        ])
        let second = try Playbook([
            TestTape.session(TestTape.handshake + #"5 < {"type":1,"target":"A","arguments":[2]}"#)
        ])
        let third = try Playbook(
            [TestTape.session(TestTape.handshake + #"5 < {"type":1,"target":"A","arguments":[1]}"#)],
            faults: ["disconnect after A"])
        var digests: Set<String> = []
        for play in [first, second, third] {
            _ = try play.start()
            play.pass(ms: 100)
            digests.insert(play.finish().digest)
        }
        #expect(digests.count == 3)
    }

    @Test func keepalivesAreMadeOnScheduleAndStayOutOfTheDigest() throws {
        func play(_ change: (inout ReplayOptions) -> Void) throws -> ([String], String) {
            let play = try Playbook([TestTape.session(TestTape.handshake)], change)
            let c = try play.start()
            play.pass(ms: 46_000)
            return (play.take(c), play.finish().digest)
        }
        let ping = #"{"type":6}"#
        let (auto, digest) = try play { _ in }
        let (own, other) = try play { $0.keepalive = .every(10_000_000_000) }
        let (off, none) = try play { $0.keepalive = .off }
        #expect(auto == [ping, ping, ping] && own.count == 4 && off.isEmpty)
        #expect(digest == other && digest == none)
    }

    @Test func finishedMeansOutMatchedAndQuiet() throws {
        let play = try Playbook(
            [TestTape.session(TestTape.handshake + #"50 < {"type":1,"target":"A","arguments":[]}"#)]
        ) { $0.ending.until = .finished }
        #expect(!play.engine.isFinished)
        let c = try play.start()
        play.pass(ms: 40)
        #expect(!play.engine.isFinished)
        play.pass(ms: 257)
        #expect(!play.engine.shouldEnd)
        play.pass(ms: 1)
        #expect(play.engine.shouldEnd && play.engine.isFinished)
        play.close(c)
        #expect(!play.engine.isFinished)
        play.pass(ms: 250)
        #expect(play.engine.isFinished)
    }

    /// Whatever a client sends, in whatever order, on whatever connection: answers, and never a trap.
    @Test(arguments: 0..<200) func hostileClientsNeverTrap(_ seed: UInt64) throws {
        var draw = SplitMix64(seed: seed)
        let rules = [
            "reset after Tick[2]", "respond(503) on connect[every 3]", "disconnect on Echo[2]",
            "close after upgrade p=0.2",
        ]
        let play = try Playbook(
            [Self.tape, TestTape.session(Self.ticksOnly, number: 2)], speed: seed % 2 == 0 ? .instant : .factor(5),
            faults: (0..<draw.below(4)).map { rules[$0] }, seed: seed)
        var connections: [ConnectionID] = [99]
        let texts = [
            #"{"protocol":"json","version":1}"#, #"{"type":6}"#, #"{"type":7}"#,
            #"{"type":1,"target":"Tick","arguments":[]}"#,
            #"{"type":1,"invocationId":"0","target":"Echo","arguments":["a"]}"#, #"{"type":5,"invocationId":"0"}"#,
            #"{"type":1,"invocationId":"0","target":"Echo","arguments":["b"]}"#,
            #"{"type":3,"invocationId":"s1","result":"ada"}"#,
            #"{"type":4,"invocationId":"0","target":"Counter","arguments":[3]}"#,
            #"{"type":2,"invocationId":"3","item":1}"#,
            #"{"type":1,"invocationId":"4","target":"Sum","arguments":[],"streamIds":["3"]}"#,
            #"{"type":3,"invocationId":"3"}"#,
            "{", "[]", "", #"{"type":99}"#, #"{"type":1}"#,
        ]
        for _ in 0..<60 {
            let c = connections[draw.below(connections.count)]
            switch draw.below(12) {
            case 0: if let token = play.negotiate() { connections.append(play.upgrade(token)) }
            case 1: connections.append(play.upgrade("token-1"))
            case 2: connections.append(play.request("GET", "/chat", [HeaderField("Upgrade", "websocket")]))
            case 3:
                play.ask(
                    c, ["GET", "OPTIONS", "BREW"][draw.below(3)], ["", "*", "/chat?id=token-1", "/x"][draw.below(4)])
            case 4: play.close(c, [.fin, .rst("x"), .closeFrame(code: nil, reason: "")][draw.below(3)])
            case 5: play.kernelTakes.toggle()
            case 6: play.peerAcknowledges.toggle()
            case 7: play.acknowledge(complete: draw.below(2) == 0)
            case 8: play.sendBytes(c, .binary, (0..<draw.below(20)).map { _ in UInt8(truncatingIfNeeded: draw.next()) })
            case 9: play.pass(ms: UInt64(draw.below(40_000)))
            default: play.send(c, texts[draw.below(texts.count)])
            }
        }
        let report = play.finish()
        #expect(report.sessions.count + report.unclaimed.count == 2)
        #expect(try JSONValue(parsing: report.json.text)["digest"]?.string?.count == 16)
        #expect(!report.text.isEmpty)
    }

    private static let ticksOnly =
        TestTape.handshake
        + (1...5).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
        .joined(separator: "\n")
}
