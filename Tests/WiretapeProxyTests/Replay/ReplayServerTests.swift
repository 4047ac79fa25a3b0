import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

struct ReplayServerTests {
    /// Every upgrade is granted and each message goes back with a number.
    private func echo(_ driver: ScriptedDriver) {
        driver.onRequest = { c, _, out in out.append(.upgrade(c, headers: [])) }
        var ticket: UInt64 = 0
        driver.onMessage = { c, opcode, bytes, out in
            ticket += 1
            out.append(.send(c, opcode, bytes, ticket: ticket))
        }
    }

    @Test func answersComeInOrderAndWhenTheDriverSaysSo() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, head, out in
            let answer = HTTPAnswer(status: 200, body: Array(head.target.utf8))
            if head.target == "/slow" {
                let at = stage.loop.now.advanced(by: 2_000_000_000)
                stage.driver.later.append((at, [.respond(c, answer, thenClose: false)]))
            } else {
                out.append(.respond(c, answer, thenClose: head.target == "/last"))
            }
        }
        let client = stage.client {
            $0.send(
                "GET /slow HTTP/1.1\r\nHost: x\r\n\r\nPOST /fast HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
                    + "GET /last HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        stage.run(1.9)
        #expect(client.text == "")
        stage.run(1)
        func reply(_ text: String, _ more: String = "") -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\(more)\r\n\(text)"
        }
        #expect(client.text == reply("/slow") + reply("/fast") + reply("/last", "Connection: close\r\n"))
        #expect(client.sawEnd && client.end == .closed)
        #expect(
            stage.driver.heard == [
                "1 opened", "1 GET /slow ", "1 POST /fast hi", "1 GET /last ", "1 \(ClientEnd.fin)",
            ])
        stage.finish()
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func aWebSocketOnARoughNetwork(seed: UInt64) throws {
        let stage = try ReplayStage(seed: seed, conditions: .rough)
        echo(stage.driver)
        let sent = (0..<40).map { "\($0) " + String(repeating: "x", count: $0 * $0) }
        let client = stage.client { peer in
            peer.send(ReplayStage.opening)
            for text in sent { peer.send(ReplayStage.frame(text)) }
            peer.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
        }
        stage.run(60)
        #expect(ReplayStage.messages(client.received) == sent + ["close 1000"])
        #expect(client.end == .closed)
        let told = stage.driver.heard
        #expect(told.filter { $0.hasPrefix("1 text ") } == sent.map { "1 text \($0)" })
        // One word for all that the kernel took at once.
        let taken = told.compactMap { $0.hasPrefix("1 handed over ") ? Int($0.dropFirst(14)) : nil }
        #expect(taken.last == 40 && taken == taken.sorted())
        #expect(told.contains("1 \(ClientEnd.closeFrame(code: 1000, reason: ""))"))
        stage.finish()
    }

    /// A client that says its last words and closes in one piece has been answered when its end is told: otherwise what
    /// counts as sent would hang on how the kernel cuts the bytes.
    @Test func theAnswerBeforeAnEndIsHandedOver() throws {
        let stage = try ReplayStage()
        echo(stage.driver)
        let client = stage.client {
            $0.send(ReplayStage.opening + ReplayStage.frame("bye") + [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
        }
        stage.run(1)
        #expect(ReplayStage.messages(client.received).first == "bye")
        #expect(
            stage.driver.heard.suffix(3) == [
                "1 text bye", "1 handed over 1", "1 \(ClientEnd.closeFrame(code: 1000, reason: ""))",
            ])
        stage.finish()
    }

    @Test func pingsAreAnswered() throws {
        let stage = try ReplayStage()
        echo(stage.driver)
        let client = stage.client {
            $0.send(ReplayStage.opening + ReplayStage.frame("p", opcode: 9) + ReplayStage.frame("q", opcode: 10))
        }
        stage.run(1)
        #expect(client.received.suffix(3) == [0x8a, 1, 0x70])
        #expect(stage.driver.heard.suffix(2) == ["1 ping", "1 pong"])
        stage.finish()
        #expect(ReplayStage.messages(client.received).last == "close 1001")
    }

    @Test func acknowledgedBeforeTheReset() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in
            out += [
                .upgrade(c, headers: []), .send(c, .text, Array("last words".utf8), ticket: 7),
                .awaitAcknowledged(c, ticket: 7),
            ]
        }
        stage.driver.onAcknowledged = { c, _, complete, out in
            #expect(complete)
            out.append(.reset(c))
        }
        let client = stage.client { $0.send(ReplayStage.opening) }
        stage.run(1)
        #expect(ReplayStage.messages(client.received) == ["last words"])
        #expect(client.end == .reset)
        #expect(
            stage.driver.heard.suffix(3) == [
                "1 handed over 7", "1 acknowledged 7 true", "1 \(ClientEnd.rst("reset by the replay"))",
            ])
        stage.finish()
    }

    @Test func aPeerThatTakesNothingIsGivenUp() throws {
        let stage = try ReplayStage()
        stage.loop.faults = [SimulatedFault(.lost, connection: 0, fromConnector: false, after: 200)]
        var asked = WireInstant.zero
        var given = WireInstant.zero
        stage.driver.onRequest = { c, _, out in
            asked = stage.loop.now
            out += [
                .upgrade(c, headers: []), .send(c, .binary, [UInt8](repeating: 1, count: 4000), ticket: 1),
                .awaitAcknowledged(c, ticket: 1),
            ]
        }
        stage.driver.onAcknowledged = { _, _, complete, _ in
            #expect(!complete)
            given = stage.loop.now
        }
        let client = stage.client { $0.send(ReplayStage.opening) }
        stage.run(10)
        let waited = given.since(asked)
        #expect(waited >= 5_000_000_000 && waited < 5_200_000_000)
        #expect(client.end == nil)
        stage.finish()
    }

    @Test func acknowledgementOfAConnectionThatIsGone() throws {
        let stage = try ReplayStage()
        stage.driver.onClosed = { c, _, out in out.append(.awaitAcknowledged(c, ticket: 3)) }
        let client = stage.client { $0.stream?.reset() }
        stage.run(1)
        #expect(client.end == .aborted)
        #expect(stage.driver.heard.last == "1 acknowledged 3 false")
        stage.finish()
    }

    @Test func ourCloseFrameIsAnswered() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in
            out += [.upgrade(c, headers: []), .closeFrame(c, code: 1011, reason: "enough")]
        }
        let client = stage.client { $0.send(ReplayStage.opening) }
        client.onBytes = {
            if $0.received.suffix(6) == Array("enough".utf8)[...] {
                $0.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xf3])
            }
        }
        stage.run(1)
        #expect(ReplayStage.messages(client.received) == ["close 1011"])
        #expect(client.sawEnd && client.end == .closed)
        #expect(stage.driver.heard.last == "1 \(ClientEnd.closeFrame(code: 1011, reason: ""))")
        stage.finish()
    }

    @Test func clientsThatDoNotAnswerAreWaitedForAndThenReset() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in
            out += [.upgrade(c, headers: []), .closeFrame(c, code: 1000, reason: "")]
        }
        let client = stage.client { $0.send(ReplayStage.opening) }
        client.onEnd = { _ in }
        stage.run(4.9)
        #expect(!client.sawEnd && client.end == nil)
        stage.run(1)
        #expect(client.sawEnd && client.end == nil)
        stage.run(4.5)
        #expect(client.end == .reset)
        stage.finish()
    }

    @Test func disconnectIsAFINWithoutACloseFrame() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in
            out += [.upgrade(c, headers: []), .send(c, .text, [65], ticket: 1), .disconnect(c)]
        }
        let client = stage.client { $0.send(ReplayStage.opening) }
        stage.run(1)
        #expect(ReplayStage.messages(client.received) == ["A"])
        #expect(client.sawEnd && client.end == .closed)
        #expect(stage.driver.heard.contains("1 handed over 1"))
        stage.finish()
    }

    @Test func aViolationEndsTheConnection() throws {
        let stage = try ReplayStage()
        echo(stage.driver)
        let client = stage.client { $0.send(ReplayStage.opening + [0x81, 0x01, 0x41]) }
        stage.run(1)
        #expect(ReplayStage.messages(client.received) == ["close 1002"])
        #expect(client.end == .closed)
        #expect(stage.driver.heard.last == "1 \(ClientEnd.rst("protocol violation: frame without a mask"))")
        stage.finish()
    }

    /// A client that asks without reading: what waits for it is bounded, and nothing is lost when it reads on.
    @Test func aClientThatDoesNotReadStopsItsOwnRequests() throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in
            out.append(
                .respond(c, HTTPAnswer(status: 200, body: [UInt8](repeating: 65, count: 4_000)), thenClose: false))
        }
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        let client = stage.client { peer in
            peer.stream?.isReading = false
            for _ in 0..<1_500 { peer.send(request) }
        }
        stage.run(5)
        let answered = stage.driver.heard.count - 1
        #expect(answered < 400)
        client.stream?.isReading = true
        stage.run(60)
        #expect(stage.driver.heard.count - 1 == 1_500)
        #expect(client.received.filter { $0 == 65 }.count == 1_500 * 4_000)
        stage.finish()
    }

    @Test func theRunEndsWhenTheDriverSaysSo() throws {
        let stage = try ReplayStage()
        var ends = 0
        stage.server.ended = { ends += 1 }
        stage.driver.onRequest = { c, _, out in
            stage.driver.shouldEnd = true
            out.append(.respond(c, HTTPAnswer(status: 204), thenClose: false))
        }
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        stage.run(1)
        #expect(ends == 1 && client.text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
        stage.finish()
    }

    @Test func theActualTape() throws {
        let stage = try ReplayStage()
        echo(stage.driver)
        var events: [TapeEvent] = []
        stage.server.observe = { events.append($0) }
        _ = stage.client {
            $0.send(ReplayStage.opening + ReplayStage.frame("hi") + ReplayStage.frame("p", opcode: 9))
            $0.send([0x88, 0x80, 0, 0, 0, 0])
        }
        stage.run(1)
        stage.finish()
        #expect(events.allSatisfy { $0.connection == 1 })
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
        guard events.count == 9, case .open = events[0].kind,
            case .request(x: 1, let head, .none) = events[1].kind,
            case .response(x: 1, let answer, .none, interim: false, coding: nil, proxy: false) = events[2].kind
        else {
            Issue.record("\(events)")
            return
        }
        #expect(head.target == "/chat" && answer.status == 101)
        let rest = events[3...].map(\.kind)
        #expect(rest.contains(.message(.toServer, .text, [0x68, 0x69], deflated: false, fragments: [])))
        #expect(rest.contains(.message(.toClient, .text, [0x68, 0x69], deflated: false, fragments: [])))
        #expect(rest.contains(.ping(.toServer, [0x70])))
        #expect(rest.contains(.close(.toServer, code: nil, reason: nil)))
        #expect(rest.contains(.close(.toClient, code: nil, reason: nil)))
        #expect(rest.last == .gone(by: .server, how: .fin, why: nil))
    }
}
