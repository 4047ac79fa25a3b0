import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Clients that keep a replay waiting, in virtual time.
@Suite struct ReplayLimitTests {
    private func stage(
        _ limits: ClientLimits = LimitStage.limits, timeScale: Double = 1, places: ClientPlaces = ClientPlaces()
    ) throws -> ReplayStage {
        let stage = try ReplayStage(timeScale: timeScale, limits: limits, places: places)
        stage.driver.onRequest = { c, head, out in
            switch head.target {
            case "/poll": break
            case "/chat": out.append(.upgrade(c, headers: [], accept: nil, deflate: nil))
            case "/events": out.append(.beginStream(c, HTTPAnswer(status: 200, headers: [], body: [])))
            default:
                let answer = HTTPAnswer(status: 200, body: Array("ok".utf8))
                out.append(.respond(c, answer, thenClose: false, ticket: nil))
            }
        }
        return stage
    }

    @Test(arguments: [1, 10]) func headsBodiesAndIdleConnectionsInTheClientsTime(_ scale: Double) throws {
        let stage = try stage(timeScale: scale)
        var events: [TapeEvent] = []
        stage.server.observe = { events.append($0) }
        var said: [String] = []
        stage.server.log = { said.append($0) }
        let head = stage.client { $0.send("GET /a HTTP/1.1\r\nHo") }
        let body = stage.client { $0.send("POST /b HTTP/1.1\r\nHost: p\r\nContent-Length: 9\r\n\r\n") }
        let idle = stage.client { $0.send(LimitStage.get("/c")) }
        let silent = stage.client { _ in }
        stage.run(40 / scale)
        body.send("b")
        stage.run(19 / scale)
        #expect(![head, body, idle, silent].contains { $0.sawEnd })
        stage.run(4 / scale)
        #expect(head.text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n") && head.sawEnd)
        #expect(head.text.hasSuffix("wiretape: the head of the request was not whole after 1 m\n"))
        #expect(!body.sawEnd && !idle.sawEnd)
        stage.run(17 / scale)
        #expect(idle.sawEnd && idle.text.hasSuffix("ok") && silent.sawEnd && silent.text == "")
        stage.run(22 / scale)
        #expect(body.text.hasPrefix("HTTP/1.1 408 ") && body.sawEnd)
        // The driver was asked for nothing but what was whole.
        #expect(stage.driver.heard.count { $0.contains(" GET ") || $0.contains(" POST ") } == 1)
        let statuses = events.compactMap { event -> Int? in
            if case .response(_, let head, _, _, _, _) = event.kind { head.status } else { nil }
        }
        #expect(statuses == [200, 408, 408])
        #expect(said.count == 2 && said.allSatisfy { $0.hasSuffix("(408)") })
        stage.run(10)
        #expect(stage.server.count == 0)
        stage.finish()
    }

    @Test func whatIsNeverTimedOut() throws {
        let stage = try stage()
        let socket = stage.client { $0.send(ReplayStage.opening) }
        let poll = stage.client { $0.send(LimitStage.get("/poll")) }
        let events = stage.client { $0.send(LimitStage.get("/events")) }
        stage.run(3600)
        #expect(![socket, poll, events].contains { $0.sawEnd })
        socket.send(ReplayStage.frame("hello"))
        stage.run(1)
        #expect(stage.driver.heard.contains { $0.hasSuffix("hello") })
        stage.finish()
    }

    /// A client that was sent away may have been the one that the run is about.
    @Test func aRefusedClientIsNoPass() throws {
        let said = Said()
        let places = ClientPlaces(2) { said.add($0) }
        let stage = try stage(places: places)
        let socket = stage.client { $0.send(ReplayStage.opening) }
        let slow = stage.client { $0.send("GET /slow") }
        stage.run(1)
        let good = stage.client { $0.send(LimitStage.get("/poll")) }
        stage.run(1)
        #expect(slow.text.hasPrefix("HTTP/1.1 503 ") && slow.end == .reset && good.end == nil)
        #expect(stage.server.report().failure == nil)
        let beyond = stage.client { $0.send(LimitStage.get("/beyond")) }
        stage.run(1)
        #expect(beyond.text.hasPrefix("HTTP/1.1 503 ") && beyond.end == .closed && socket.end == nil)
        #expect(!stage.driver.heard.contains { $0.contains("/beyond") || $0.hasPrefix("4 ") })
        let report = stage.server.report()
        #expect(report.verdict == .failed && report.exitCode == 1)
        #expect(report.failure?.reason == "1 connection was answered 503: all 2 places for clients are taken")
        #expect(said.all.count == 2)
        stage.finish()
    }
}
