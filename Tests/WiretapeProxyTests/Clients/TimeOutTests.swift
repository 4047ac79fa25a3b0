import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS
import WiretapeWire

/// Clients that keep the relay waiting, in virtual time, without rules and with one that never fires.
@Suite struct TimeOutTests {
    @Test(arguments: LimitStage.Mode.allCases) func aHeadThatDoesNotBecomeWhole(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client(LimitStage.get("/first"))
        stage.run(1)
        client.send("GET /slow HTTP/1.1\r\nX: ")
        client.onEnd = { _ in }
        // A byte now and then does not help.
        for _ in 0..<5 {
            stage.run(11)
            client.send("a")
        }
        #expect(!client.text.contains("408"))
        stage.run(8)
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK"))
        #expect(client.text.contains("HTTP/1.1 408 Request Timeout\r\n"))
        #expect(client.text.contains("Connection: close"))
        #expect(client.text.hasSuffix("wiretape: the head of the request was not whole after 1 m\n"))
        #expect(client.sawEnd)
        // It does not end by itself.
        stage.run(12)
        #expect(client.end == .reset && stage.node.count == 0)
        #expect(stage.said.all == ["the head of the request was not whole after 1 m (408)"])
        let lines = stage.finish()
        let malformed = try #require(lines.first { $0.contains(#""e":"malformed""#) })
        #expect(malformed.contains(#""d":">","text":"GET /slow HTTP/1.1\r\nX: aaaaa""#))
        #expect(malformed.contains(#""why":"the head of the request was not whole after 1 m""#))
        let answer = try #require(lines.last { $0.contains(#""e":"response""#) })
        #expect(answer.contains(#""x":2,"status":408"#) && answer.contains(#""by":"proxy""#))
    }

    @Test func aFirstHeadThatDoesNotBecomeWhole() throws {
        let stage = try LimitStage(.pass)
        let client = stage.client("GET /slow HTTP/1.1\r\nX: ")
        stage.run(59)
        #expect(client.text == "")
        stage.run(3)
        #expect(client.text.hasPrefix("HTTP/1.1 408 ") && client.sawEnd)
        #expect(stage.origins.isEmpty)
        let lines = stage.finish()
        #expect(lines.count { $0.contains(#""e":"malformed""#) } == 1)
        #expect(lines.contains { $0.contains(#""x":1,"status":408"#) })
    }

    @Test(arguments: LimitStage.Mode.allCases) func aBodyThatStandsStill(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client("POST /upload HTTP/1.1\r\nHost: p\r\nContent-Length: 100\r\n\r\n")
        for _ in 0..<10 {
            stage.run(55)
            client.send("a")
        }
        #expect(client.text == "")
        stage.run(59)
        #expect(client.text == "")
        stage.run(3)
        #expect(client.text.hasPrefix("HTTP/1.1 408 ") && client.sawEnd)
        #expect(client.text.hasSuffix("wiretape: no byte of the request's body came for 1 m\n"))
        let lines = stage.finish()
        #expect(lines.contains { $0.contains(#""x":1,"status":408"#) && $0.contains(#""by":"proxy""#) })
    }

    @Test(arguments: LimitStage.Mode.allCases) func anIdleConnectionIsClosedQuietly(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client(LimitStage.get("/1"))
        for n in 2...4 {
            stage.run(70)
            client.send(LimitStage.get("/\(n)"))
        }
        stage.run(74)
        #expect(!client.sawEnd)
        let before = client.received.count
        stage.run(3)
        #expect(client.sawEnd && client.received.count == before)
        #expect(client.text.split(separator: "HTTP/1.1 200").count == 4)
        stage.run(5)
        #expect(stage.node.count == 0 && client.end == .closed)
        #expect(stage.origins.allSatisfy { $0.end != nil })
        #expect(stage.said.all == [])
        let lines = stage.finish()
        #expect(
            lines.first { $0.contains(#""e":"gone""#) }
                == #"{"c":1,"e":"gone","by":"proxy","how":"fin","why":"no request for 75 s"}"#)
    }

    @Test func aConnectionThatSaysNothing() throws {
        let stage = try LimitStage(.pass)
        let client = stage.client()
        stage.run(74)
        #expect(!client.sawEnd)
        stage.run(4)
        #expect(client.sawEnd && client.text == "" && stage.node.count == 0)
        _ = stage.finish()
    }

    // MARK: What is never timed out

    @Test(arguments: LimitStage.Mode.allCases) func aSilentWebSocket(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client(LimitStage.opening)
        stage.run(3600)
        client.send(ReplayStage.frame("hello"))
        var reply: [UInt8] = []
        FrameWriter.append(opcode: 1, payload: Array("good day".utf8).span, into: &reply)
        stage.origins[0].send(reply)
        stage.run(1)
        #expect(ReplayStage.messages(client.received) == ["good day"])
        #expect(stage.origins[0].received.count > LimitStage.opening.utf8.count)
        #expect(!client.sawEnd)
        _ = stage.finish()
    }

    @Test(arguments: LimitStage.Mode.allCases) func anOpenStreamAndALongPoll(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let reader = stage.client(LimitStage.get("/events"))
        let poller = stage.client(LimitStage.get("/poll"))
        stage.run(1)
        // A second head that has begun behind the poll waits with it.
        let pipelining = stage.client(LimitStage.get("/poll") + "GET /next HT")
        stage.run(3600)
        for origin in stage.origins {
            origin.send(
                origin.text.contains("/events") ? HTTPOrigin.chunk("data: 1\n\n") : HTTPOrigin.ok("late"))
        }
        stage.run(1)
        #expect(reader.text.hasSuffix(HTTPOrigin.chunk("data: 1\n\n")))
        #expect(poller.text.hasSuffix("\r\n\r\nlate") && pipelining.text.hasSuffix("\r\n\r\nlate"))
        #expect(![reader, poller, pipelining].contains { $0.sawEnd })
        // Its time runs from here.
        stage.run(62)
        #expect(pipelining.text.contains("HTTP/1.1 408"))
        _ = stage.finish()
    }

    @Test(arguments: LimitStage.Mode.allCases) func aPausedDownload(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client(LimitStage.get("/large"))
        client.onBytes = { if $0.received.count > 100_000 { $0.stream?.isReading = false } }
        stage.run(3600)
        #expect(client.received.count < 4 << 20)
        client.onBytes = { _ in }
        client.stream?.isReading = true
        stage.run(60)
        #expect(client.received.suffix(8 << 20) == [UInt8](repeating: 0x78, count: 8 << 20)[...])
        #expect(client.received.count > 8 << 20)
        _ = stage.finish()
    }

    /// The whole answer has left its server, and its last bytes wait for the client.
    @Test(arguments: LimitStage.Mode.allCases) func aDownloadThatWaitsForItsClient(_ mode: LimitStage.Mode) throws {
        var conditions = NetworkConditions.calm
        conditions.receiveBuffer = 4096...4096
        conditions.sendBuffer = 4096...4096
        let stage = try LimitStage(mode, conditions: conditions)
        let client = stage.client()
        stage.run(1)
        client.stream?.isReading = false
        client.send(LimitStage.get("/x" + String(repeating: "y", count: 20_000)))
        stage.run(3600)
        #expect(client.received.isEmpty && client.end == nil)
        client.stream?.isReading = true
        stage.run(10)
        #expect(client.text.hasPrefix("HTTP/1.1 200") && client.text.hasSuffix("yyyy"))
        stage.run(80)
        #expect(client.sawEnd)
        _ = stage.finish()
    }

    /// The server answers before the request's body is whole: both may think for as long as they like.
    @Test(arguments: LimitStage.Mode.allCases) func aConversationInOneRequest(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let client = stage.client("POST /early HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n")
        stage.run(3600)
        client.send(HTTPOrigin.chunk("more"))
        stage.run(3600)
        client.send("0\r\n\r\n")
        stage.run(1)
        #expect(client.text.hasSuffix(HTTPOrigin.chunk("data: 0\n\n")) && !client.sawEnd)
        #expect(stage.origins[0].text.contains("more"))
        _ = stage.finish()
    }

    /// The server does not take the body: the client waits for us, not we for it.
    @Test(arguments: LimitStage.Mode.allCases) func aBodyThatWeDoNotRead(_ mode: LimitStage.Mode) throws {
        let stage = try LimitStage(mode)
        let size = 3 << 20
        let client = stage.client("POST /upload HTTP/1.1\r\nHost: p\r\nContent-Length: \(size)\r\n\r\n")
        stage.run(1)
        stage.origins[0].stream?.isReading = false
        client.send([UInt8](repeating: 0x61, count: size))
        stage.run(1200)
        #expect(client.text == "" && stage.origins[0].received.count < size)
        stage.origins[0].stream?.isReading = true
        stage.run(30)
        #expect(stage.origins[0].received.count > size)
        stage.origins[0].send(HTTPOrigin.ok("taken"))
        stage.run(1)
        #expect(client.text == HTTPOrigin.ok("taken"))
        _ = stage.finish()
    }

    // MARK: Upstreams

    /// It accepts, and says nothing.
    @Test(arguments: [3, nil] as [UInt64?]) func aHandshakeThatDoesNotEnd(_ seconds: UInt64?) throws {
        let authority = try TLSIdentity.authority("test")
        let context = (server: try TLSContext(serverIssuing: authority), client: try TLSContext(client: .everyone))
        var options = RelayOptions()
        if let seconds { options.connectTimeout = seconds * 1_000_000_000 }
        let stage = try RelayStage(options: options, tls: context, serve: nil)
        let silent = try stage.loop.listen(on: Address(host: "127.0.0.1", port: 80), reusePort: false) {
            let peer = ScriptedPeer()
            peer.stream = $0
            return peer
        }
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") }
        _ = stage.loop.run(until: stage.loop.now.advanced(by: ((seconds ?? 10) * 1000 - 100) * 1_000_000))
        #expect(client.text == "")
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 200_000_000))
        #expect(client.text.hasPrefix("HTTP/1.1 502 "))
        #expect(client.text.contains("no answer within \(seconds ?? 10) s"))
        silent.close()
        _ = stage.finish()
    }
}
