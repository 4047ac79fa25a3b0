import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// What rules do to messages of a WebSocket, seen by the client and the server.
@Suite struct InterceptedMessageTests {
    /// The server says one to five, 10 ms apart, once the client has said `go`.
    private func stage(_ rules: [String], deflate: DeflateParameters? = nil) throws -> (InterceptStage, FramePeer) {
        let stage = try InterceptStage(rules, deflate: deflate)
        let loop = stage.loop
        stage.onServer = { server in
            server.onMessage = { server, text in
                guard text == "go" else { return }
                for n in 1...5 {
                    var timer: (any LoopTimer)?
                    timer = loop.timer {
                        timer?.close()
                        timer = nil
                        server.say("message number \(n)")
                    }
                    timer?.arm(at: loop.now.advanced(by: UInt64(n) * 10_000_000))
                }
            }
        }
        let client = stage.client()
        client.onMessage = { client, text in if text == "open" { client.say("go") } }
        return (stage, client)
    }

    /// Each write wakes the peer: twenty small messages must not wake it twenty times.
    @Test func whatIsReadTogetherIsWrittenTogether() throws {
        let stage = try InterceptStage(["reset after message[4000000000]"])
        let loop = stage.loop
        var before = 0
        stage.onServer = { server in
            server.onMessage = { server, text in
                guard text == "go" else { return }
                before = loop.writes
                for n in 1...20 { server.say("message number \(n)") }
            }
        }
        let client = stage.client()
        client.onMessage = { client, text in if text == "open" { client.say("go") } }
        stage.run(1_000)
        #expect(numbers(client) == (1...20).map(String.init))
        // The server's own twenty, and the relay's one; a second where the network cut them in two.
        #expect(loop.writes - before - 20 <= 2)
        _ = stage.finish()
    }

    private func numbers(_ client: FramePeer) -> [String] {
        client.texts.map { $0.replacing("message number ", with: "") }
    }

    @Test(arguments: [
        ("drop on message[3, direction=toClient]", ["1", "2", "4", "5"]),
        ("duplicate(2) on message[2, direction=toClient]", ["1", "2", "2", "2", "3", "4", "5"]),
        (#"replace("other") on message[2, direction=toClient]"#, ["1", "other", "3", "4", "5"]),
        (#"inject("extra") after message[2, direction=toClient]"#, ["1", "2", "extra", "3", "4", "5"]),
        (#"inject("extra") before message[2, direction=toClient]"#, ["1", "extra", "2", "3", "4", "5"]),
        ("reorder(2) on message[1, direction=toClient]", ["2", "3", "1", "4", "5"]),
        ("drop on message[every 2, direction=toClient]", ["1", "3", "5"]),
    ]) func messagesChange(_ rule: String, _ expected: [String]) throws {
        for deflate in [nil, DeflateParameters()] {
            let (stage, client) = try stage([rule], deflate: deflate)
            stage.run(1_000)
            #expect(numbers(client) == expected, "\(deflate == nil ? "plain" : "deflated")")
            #expect(stage.report.unfired.isEmpty)
            client.stream?.halfClose()
            let lines = stage.finish()
            // The tape has what came, and says what was done to it.
            #expect(lines.filter { $0.contains(#""e":"message","d":"<""#) }.count == 5)
            #expect(lines.contains { $0.contains(#""e":"fault","rule":""#) })
        }
    }

    @Test func theClientsMessagesChangeToo() throws {
        for deflate in [nil, DeflateParameters()] {
            let (stage, client) = try stage(["drop on message[2, direction=toServer]"], deflate: deflate)
            stage.run(200)
            for n in 1...4 { client.say("client says \(n)") }
            stage.run(200)
            #expect(stage.servers[0].texts == ["go", "client says 2", "client says 3", "client says 4"])
            client.stream?.halfClose()
            _ = stage.finish()
        }
    }

    @Test func aDelayKeepsTheOrderAndLetsPingsPass() throws {
        let (stage, client) = try stage(["delay(500ms) on message[2, direction=toClient]"])
        stage.run(100)
        #expect(numbers(client) == ["1"])
        stage.servers[0].ping()
        stage.run(100)
        #expect(numbers(client) == ["1", "ping"])
        stage.run(1_000)
        #expect(numbers(client) == ["1", "ping", "2", "3", "4", "5"])
        #expect((500...540).contains(client.heard[2].at - client.heard[0].at))
        client.stream?.halfClose()
        _ = stage.finish()
    }

    @Test func bytesThatNoRuleChangesGoOnAsTheyCame() throws {
        let (stage, client) = try stage(["drop on nothing"], deflate: DeflateParameters())
        stage.run(1_000)
        #expect(numbers(client) == ["1", "2", "3", "4", "5"])
        let server = FramePeer(stage.loop, .toClient, deflate: DeflateParameters())
        #expect(client.raw == (1...5).flatMap { server.frame(1, Array("message number \($0)".utf8)) })
        #expect(stage.node.heldCount == 1)
        client.stream?.halfClose()
        _ = stage.finish()
    }

    @Test(arguments: ["respond(503) on negotiate", "respond(503) on request[path=/other]"])
    func aPlanThatCannotTouchARouteLeavesItAlone(_ rule: String) throws {
        let stage = try stage([rule])
        stage.0.run(1_000)
        #expect(numbers(stage.1) == ["1", "2", "3", "4", "5"])
        #expect(stage.0.node.heldCount == 0)
        stage.1.stream?.halfClose()
        _ = stage.0.finish()
    }

    @Test(arguments: [
        ("corrupt(rsv) on message[2, direction=toClient]", "violation 1002"),
        ("corrupt(mask) on message[2, direction=toClient]", "violation 1002"),
        ("corrupt(utf8) on message[2, direction=toClient]", "violation 1007"),
    ]) func damageIsSeen(_ rule: String, _ expected: String) throws {
        let (stage, client) = try stage([rule])
        stage.run(1_000)
        #expect(numbers(client) == ["1", expected])
        client.stream?.reset()
        _ = stage.finish()
    }

    @Test(arguments: [nil, DeflateParameters()])
    func aMessageGoesOnInFrames(_ deflate: DeflateParameters?) throws {
        let (stage, client) = try stage(["fragment(7) on message[2, direction=toClient]"], deflate: deflate)
        stage.run(1_000)
        #expect(numbers(client) == ["1", "2", "3", "4", "5"])
        if deflate == nil {
            let frames: [(opcode: UInt8, text: String)] = [(0x01, "message"), (0x00, " number"), (0x80, " 2")]
            let bytes = frames.flatMap { [$0.opcode, UInt8($0.text.utf8.count)] + Array($0.text.utf8) }
            #expect(client.raw.firstRange(of: bytes) != nil)
        } else {
            // The first frame of the compressed message: RSV1, and not the last one.
            #expect(client.raw.firstRange(of: [0x41, 7]) != nil)
        }
        client.stream?.halfClose()
        _ = stage.finish()
    }

    /// `fragment` also applies to a message that `reorder` delays.
    @Test func aLateMessageGoesOnInFrames() throws {
        let (stage, client) = try stage(["fragment(7) + reorder on message[2, direction=toClient]"])
        stage.run(1_000)
        #expect(numbers(client) == ["1", "3", "2", "4", "5"])
        #expect(client.raw.firstRange(of: [0x01, 7] + Array("message".utf8)) != nil)
        client.stream?.halfClose()
        _ = stage.finish()
    }

    @Test func aLongMessageGoesThroughUnseen() throws {
        for deflate in [nil, DeflateParameters()] {
            let stage = try InterceptStage(["drop on message[1, direction=toClient]"], deflate: deflate)
            let long = (0..<700_000).map { "\($0 &* 2_654_435_761 % 1_000)" }.joined(separator: " ")
            stage.onServer = { server in
                server.onMessage = { server, _ in
                    server.say("first")
                    server.say(long)
                    server.ping()
                    server.say("last")
                }
            }
            let client = stage.client()
            client.onMessage = { client, text in if text == "open" { client.say("go") } }
            stage.run(5_000)
            let isWhole = client.texts.first == long
            #expect(isWhole)
            #expect(Array(client.texts.dropFirst()) == ["ping", "last"])
            client.stream?.halfClose()
            _ = stage.finish()
        }
    }
}
