import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeProxy
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation

/// Each fault of a replay as a raw client sees it: which bytes, which end, when.
@Suite struct FaultWireTests {
    private func tick(_ n: Int) -> String { FaultStage.tick(n) }

    @Test func resetsAreRSTsBehindWhatWasSent() throws {
        let stage = try FaultStage(["reset after Tick[3]"])
        let client = stage.client()
        stage.run(1)
        #expect(client.messages == ["{}"] + (1...3).map(tick))
        #expect(client.end?.how == .reset && client.finAt == nil)
        stage.finish()
    }

    @Test func disconnectsAreFINsWithoutACloseFrame() throws {
        let stage = try FaultStage(["disconnect after Tick[1]"])
        let client = stage.client()
        stage.run(1)
        #expect(client.body.suffix(FaultStage.frame(1).count) == FaultStage.frame(1)[...])
        #expect(client.finAt != nil && client.end?.how == .closed)
        stage.finish()
    }

    @Test(arguments: [999, 1005, 1006, 1015, 4403, 65_535] as [UInt16])
    func anyCloseCode(code: UInt16) throws {
        let stage = try FaultStage(["close(\(code), \"bye\") after Tick[1]"])
        let client = stage.client()
        stage.run(1)
        let frame = [0x88, 5, UInt8(code >> 8), UInt8(code & 255)] + Array("bye".utf8)
        #expect(Array(client.body.suffix(7)) == frame)
        stage.finish()
    }

    @Test func framesAreCutAtAnyByte() throws {
        let frame = FaultStage.frame(2)
        for count in [0, 1, 2, 5, frame.count - 1] {
            for end in ["", " + reset"] {
                let stage = try FaultStage(["truncate(\(count))\(end) on Tick[2]"])
                let client = stage.client()
                stage.run(1)
                let whole = FaultStage.frame(1) + frame.prefix(count)
                #expect(Array(client.body.suffix(whole.count)) == whole)
                #expect(client.end?.how == (end.isEmpty ? .closed : .reset))
                stage.finish()
            }
        }
    }

    @Test func damagedHeaders() throws {
        let length = UInt8(FaultStage.frame(1).count - 2)
        for (damage, first) in [
            ("rsv", [0xa1, length]), ("mask", [0x81, 0x80 | length]), ("length", [0x81, length + 1]),
        ]
            as [(String, [UInt8])]
        {
            let stage = try FaultStage(["corrupt(\(damage)) on Tick[1]"])
            let client = stage.client()
            stage.run(0.02)
            let size = FaultStage.frame(1).count + (damage == "mask" ? 4 : 0)
            #expect(Array(client.body.suffix(size).prefix(2)) == first, "\(damage)")
            stage.finish()
        }
    }

    @Test func aStallIsHalfOpen() throws {
        let stage = try FaultStage(["stall(both, 2s) after Tick[2]"], keepalive: "auto")
        let client = stage.client()
        stage.run(0.5)
        #expect(client.messages == ["{}", tick(1), tick(2)])
        // Nothing is read: the ping is answered only afterwards.
        client.send(ReplayStage.frame("p", opcode: 9))
        stage.run(1.5)
        #expect(client.messages.count == 3 && client.end == nil && client.finAt == nil)
        stage.run(1)
        #expect(
            client.messages.suffix(5) == ["control", tick(3), tick(4), tick(5), tick(6)]
                || client.messages.contains("control"))
        #expect(client.messages.filter { $0 != "control" } == ["{}"] + (1...6).map(tick))
        stage.finish()
    }

    @Test func theEndOfAStalledClientIsNoticed() throws {
        let stage = try FaultStage(["stall after Tick[1]"])
        let client = stage.client()
        stage.run(1)
        client.send(ReplayStage.frame("x" + String(repeating: "y", count: 3_000)))
        client.stream?.halfClose()
        let closed = stage.loop.now
        stage.run(0.1)
        let ended = try #require(stage.server.report().sessions.first?.attempts.first?.ended)
        #expect(ended.by == .client && ended.how == .fin)
        #expect(client.finAt == nil && client.end == nil)
        // In the end the socket is given up.
        stage.run(6)
        #expect(client.end?.how == .reset && client.end?.at.since(closed) ?? 0 > 4_900_000_000)
        stage.finish()
    }

    @Test func mutedWebSocketsDoNotAnswerPings() throws {
        let stage = try FaultStage(["mute(websocket, 1s) after handshake"])
        let client = stage.client()
        stage.run(0.5)
        client.send(ReplayStage.frame("p", opcode: 9))
        stage.run(1)
        #expect(!client.messages.contains("control"))
        client.send(ReplayStage.frame("p", opcode: 9))
        stage.run(0.5)
        #expect(client.messages.filter { $0 == "control" }.count == 1)
        stage.finish()
    }

    @Test func throttlingIsExactAtTheWire() throws {
        let text = String(repeating: "x", count: 1_000)
        let stage = try FaultStage(["throttle(2kB/s) after handshake"], ticks: 10, every: 1, text: text)
        let client = stage.client()
        stage.run(0.05)
        let start = stage.loop.now
        stage.run(4)
        for second in 0..<4 {
            let count = client.bytes(from: Double(second), to: Double(second + 1), since: start)
            #expect(abs(count - 2_000) <= 100, "second \(second): \(count)")
        }
        stage.run(3)
        #expect(client.messages == ["{}"] + (1...10).map { FaultStage.tick($0, text) })
        stage.finish()
    }

    @Test func slicesAreWritesOfTheirOwn() throws {
        let stage = try FaultStage(["slice(5, 20ms) after handshake"], ticks: 1)
        let client = stage.client()
        stage.run(2)
        let pieces = client.arrivals.suffix((FaultStage.frame(1).count + 4) / 5)
        #expect(pieces.dropLast().allSatisfy { $0.count == 5 } && client.arrivals.count > pieces.count)
        let gaps = zip(pieces, pieces.dropFirst()).map { $1.at.since($0.at) }
        #expect(gaps.allSatisfy { abs(Int64($0) - 20_000_000) < 1_000_000 })
        #expect(client.messages == ["{}", tick(1)])
        stage.finish()
    }

    @Test func delaysHoldMessagesButNotPongs() throws {
        let stage = try FaultStage(["delay(500ms) on Tick[2]"])
        let client = stage.client()
        stage.run(0.1)
        client.send(ReplayStage.frame("p", opcode: 9))
        stage.run(0.1)
        #expect(client.messages == ["{}", tick(1), "control"])
        stage.run(1)
        #expect(client.messages == ["{}", tick(1), "control"] + (2...6).map(tick))
        stage.finish()
    }

    @Test func requestsGetWhatRulesSay() throws {
        for (rule, wanted) in [
            (
                "respond(503, Retry-After=7, \"later\") on upgrade",
                "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\nlater"
            ),
            ("malformed on upgrade", "HTTQ/1.l 2OO\r\nContent-Length= no\r\n\r\n"),
            (
                "redirect-loop on upgrade",
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: /chat?wiretape-redirect=1\r\nContent-Length: 0\r\n\r\n"
            ),
            ("truncate(12) on upgrade", "HTTP/1.1 101"),
        ] {
            let stage = try FaultStage([rule])
            let client = stage.client(ReplayStage.opening)
            stage.run(0.2)
            #expect(client.text == wanted, "\(rule)")
            stage.finish()
        }
        let wrong = try FaultStage(["wrong-accept + wrong-subprotocol(chat.v9) on upgrade"])
        let client = wrong.client()
        wrong.run(0.2)
        #expect(client.text.contains("Sec-WebSocket-Accept: d2lyZXRhcGU6IG5vdCB0aGUga2V5IQ=="))
        #expect(
            !client.text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                && client.text.contains("Sec-WebSocket-Protocol: chat.v9\r\n"))
        wrong.finish()
    }

    @Test func aLateAnswer() throws {
        let stage = try FaultStage(["delay(2s) on upgrade"])
        let client = stage.client()
        stage.run(1.9)
        #expect(client.received.isEmpty)
        stage.run(0.3)
        #expect(client.messages == ["{}"] + (1...6).map(tick))
        stage.finish()
    }

    @Test func refusedConnectionsAndOutages() throws {
        let stage = try FaultStage(["refuse on accept[1]", "outage(2s) since run=500ms"])
        let refused = stage.client()
        stage.run(0.1)
        #expect(refused.end?.how == .reset && refused.received.isEmpty)
        let cut = stage.client()
        stage.run(1)
        #expect(cut.messages.first == "{}" && cut.end?.how == .reset)
        let during = stage.client()
        stage.run(0.2)
        #expect(during.end?.how == .reset && during.received.isEmpty)
        stage.run(2)
        let after = stage.client()
        stage.run(1)
        #expect(after.text.hasPrefix("HTTP/1.1 101") || after.text.hasPrefix("HTTP/1.1 404"))
        stage.finish()
    }
}
