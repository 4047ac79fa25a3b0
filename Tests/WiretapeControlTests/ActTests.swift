import Foundation
import Synchronization
import Testing
import WiretapeControl
import WiretapeReplay
import WiretapeWire

/// Acting on a replay that goes on: its connections, its steps, its clock.
@Suite(.timeLimit(.minutes(3))) struct ActTests {
    /// The connection that carries session 1.
    func carrier(_ api: APIClient) async throws -> Int {
        for _ in 0..<500 {
            let all = try await api.get("/v1/connections").json["connections"]?.array ?? []
            if let one = all.first(where: { $0["session"]?.int == 1 }) { return one["id"]?.int ?? 0 }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("no connection carries session 1")
        return 0
    }

    @Test(arguments: [
        ("reset", "", "reset"), ("disconnect", "", "fin"),
        ("close", #"{"code":1012,"reason":"restart"}"#, "close 1012"),
    ]) func aConnectionIsEnded(_ verb: String, _ body: String, _ how: String) async throws {
        // Nothing leaves by itself, so the session is there to be cut.
        let stage = try Stage(Stage.options { $0.speed = .step })
        let api = stage.api
        let ada = Ada(stage.url)
        #expect(try await api.post("/v1/wait", #"{"for":"connected","timeout":"20s"}"#).status == 200)
        let id = try await carrier(api)
        let done = try await api.post("/v1/connections/\(id)/\(verb)", body)
        #expect(done.status == 200, "\(done.text)")
        let end = try await api.post("/v1/wait", #"{"for":"disconnected","timeout":"20s"}"#)
        #expect(end.json.value(at: "/event/by")?.string == "fault:control", "\(end.text)")
        #expect(end.json.value(at: "/event/how")?.string == how)
        // The client comes back, and plays the rest.
        #expect(
            try await api.post("/v1/wait", #"{"for":"connected","timeout":"20s","after":\#(end.json["n"]?.int ?? 0)}"#)
                .status == 200)
        #expect(try await api.post("/v1/sessions/1/resume").json["paused"]?.bool == false)
        let finished = try await api.post("/v1/wait", #"{"for":"finished","timeout":"20s"}"#)
        #expect(finished.status == 200, "\(finished.text)")
        #expect(try await api.get("/v1/report").json["verdict"]?.string == "pass")
        #expect(try await api.post("/v1/connections/\(id)/\(verb)", body).status == 404)
        await ada.stop()
        try await stage.stop()
    }

    @Test func aConnectionIsStalledAndInjectedInto() async throws {
        let stage = try Stage(Stage.options { $0.speed = .step })
        let api = stage.api
        let ada = Ada(stage.url)
        #expect(try await api.post("/v1/wait", #"{"for":"connected","timeout":"20s"}"#).status == 200)
        let id = try await carrier(api)
        #expect(try await api.post("/v1/connections/\(id)/stall", #"{"side":"both"}"#).status == 200)
        let message = #"{"message":{"type":1,"target":"ReceiveMessage","arguments":["eve","psst"]}}"#
        #expect(try await api.post("/v1/connections/\(id)/inject", message).status == 200)
        #expect(try await api.get("/v1/connections").json.value(at: "/connections/0/stalled")?.bool == true)
        // What was said into the silence comes when it is over.
        try await Task.sleep(for: .milliseconds(100))
        #expect(ada.heard.withLock { $0 } == [])
        #expect(try await api.post("/v1/connections/\(id)/resume").status == 200)
        for _ in 0..<500 where ada.heard.withLock({ $0 }) != ["psst"] { try await Task.sleep(for: .milliseconds(10)) }
        #expect(ada.heard.withLock { $0 } == ["psst"])
        for (body, words) in [
            (#"{"hex":"0g"}"#, "digits from 0 to f"), ("{}", "one of"), (#"{"text":"a","hex":"00"}"#, "one of"),
        ] {
            let bad = try await api.post("/v1/connections/\(id)/inject", body)
            #expect(bad.status == 400 && bad.error.contains(words), "\(bad.text)")
        }
        #expect(try await api.post("/v1/connections/\(id)/stall", #"{"side":"left"}"#).status == 400)
        await ada.stop()
        try await stage.stop()
    }

    @Test func aSessionIsSteppedThrough() async throws {
        let stage = try Stage(Stage.options { $0.speed = .step })
        let api = stage.api
        let ada = Ada(stage.url)
        #expect(try await api.post("/v1/wait", #"{"for":"connected","timeout":"20s"}"#).status == 200)
        #expect(try await api.get("/v1/sessions/1").json["paused"]?.bool == true)
        let none = try await api.post("/v1/wait", #"{"for":"ReceiveMessage","timeout":"50ms"}"#)
        #expect(none.status == 408)
        #expect(try await api.post("/v1/sessions/1/advance", #"{"until":"ReceiveMessage"}"#).status == 200)
        #expect(try await api.post("/v1/wait", #"{"for":"ReceiveMessage[1]","timeout":"20s"}"#).status == 200)
        #expect(try await api.post("/v1/wait", #"{"for":"ReceiveMessage[2]","timeout":"50ms"}"#).status == 408)
        #expect(try await api.post("/v1/sessions/1/advance", #"{"by":2,"until":"x"}"#).status == 400)
        #expect(try await api.post("/v1/sessions/1/advance", #"{"by":-1}"#).status == 400)
        // Freed, it runs; paused again, it stands.
        #expect(try await api.post("/v1/sessions/1/resume").json["paused"]?.bool == false)
        #expect(try await api.post("/v1/sessions/1/advance").status == 409)
        #expect(try await api.post("/v1/wait", #"{"for":"finished","timeout":"20s"}"#).status == 200)
        #expect(try await api.post("/v1/sessions/1/pause").json["paused"]?.bool == true)
        await ada.stop()
        try await stage.stop()
    }

    @Test func theClockIsMovedByHand() async throws {
        let stage = try Stage(Stage.options { $0.speed = .factor(1) })
        let api = stage.api
        #expect(try await api.get("/v1/clock").json["mode"]?.string == "running")
        let stopped = try await api.post("/v1/clock", #"{"mode":"manual"}"#).json
        #expect(stopped["mode"]?.string == "manual")
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await api.get("/v1/clock").json["t_ms"] == stopped["t_ms"])
        let before = Double(stopped["t_ms"]?.text ?? "") ?? 0
        let moved = try await api.post("/v1/clock", #"{"advance":"2s"}"#).json
        #expect(abs((Double(moved["t_ms"]?.text ?? "") ?? 0) - before - 2_000) < 0.001)
        #expect(try await api.post("/v1/clock", #"{"mode":"running"}"#).json["mode"]?.string == "running")
        let ran = try await api.get("/v1/clock").json
        #expect(Double(ran["t_ms"]?.text ?? "") ?? 0 >= before + 2_000)
        #expect(try await api.post("/v1/clock", "{}").status == 400)
        // A whole chat passes on a clock that is moved.
        #expect(try await api.post("/v1/clock", #"{"mode":"manual"}"#).status == 200)
        let ada = Ada(stage.url)
        #expect(try await api.post("/v1/wait", #"{"for":"attempt","timeout":"20s"}"#).status == 200)
        var finished = try await api.post("/v1/wait", #"{"for":"finished","timeout":"50ms"}"#)
        for _ in 0..<200 where finished.status == 408 {
            #expect(try await api.post("/v1/clock", #"{"advance":"500ms"}"#).status == 200)
            finished = try await api.post("/v1/wait", #"{"for":"finished","timeout":"60ms"}"#)
        }
        #expect(finished.status == 200, "\(finished.text)")
        await ada.stop()
        try await stage.stop()
    }

    @Test func marksObservationsAndPoliciesAreKept() async throws {
        let stage = try Stage()
        let api = stage.api
        #expect(try await api.post("/v1/marks", #"{"text":"before the storm"}"#).status == 201)
        #expect(
            try await api.post("/v1/wait", #"{"for":"mark","timeout":"1s"}"#).json.value(at: "/event/text")?.string
                == "before the storm")
        #expect(try await api.post("/v1/observed", #"{"id":"a"}"#).status == 200)
        let observed = try await api.post("/v1/observed", #"{"ids":["b","a",7]}"#).json
        #expect(observed.text == #"{"observed":["a","b","7"],"twice":["a"]}"#)
        #expect(try await api.get("/v1/observed").json == observed)
        #expect(try await api.post("/v1/observed", #"{"id":null}"#).status == 400)
        #expect(try await api.post("/v1/observed", "{}").status == 400)
        let ada = Ada(stage.url)
        #expect(try await api.post("/v1/wait", #"{"for":"finished","timeout":"20s"}"#).status == 200)
        let met = try await api.post("/v1/expect", #"{"policy":"finished"}"#)
        #expect(met.status == 200 && met.json["met"]?.bool == true, "\(met.text)")
        let transports = try await api.post("/v1/expect", #"{"policy":"transports(sse)"}"#)
        #expect(transports.status == 200 && transports.json["met"]?.bool == false, "\(transports.text)")
        // What was asked for is held against the run at its end, too.
        #expect(try await api.get("/v1/report").json["verdict"]?.string == "failed")
        let metrics = try await api.get("/metrics").text
        #expect(metrics.contains("wiretape_sessions_finished_total{run=\"1\"} 1\n"))
        #expect(metrics.contains("wiretape_attempts_total{run=\"1\"} 1\n"))
        for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            #expect(parts.count == 2 && UInt64(parts[1]) != nil, "\(line)")
        }
        await ada.stop()
        try await stage.stop()
    }
}
