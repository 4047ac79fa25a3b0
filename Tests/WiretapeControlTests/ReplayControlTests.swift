import Foundation
import Testing
import WiretapeControl
import WiretapeReplay
import WiretapeWire

/// The API over real sockets, in front of a replay.
@Suite(.timeLimit(.minutes(3))) struct ReplayControlTests {
    @Test func whatAClientPlaysIsTold() async throws {
        let stage = try Stage()
        let api = stage.api
        #expect(try await api.get("/v1/status").json["sessions"]?.int == 0)
        try stage.with { residents, loop in
            residents.subscribers.append(Subscriber(api.address, "/v1/events?after=0", on: loop))
        }
        let ada = Ada(stage.url)
        let wait = try await api.post("/v1/wait", #"{"for":"ReceiveMessage[3]","timeout":"20s"}"#)
        #expect(wait.status == 200, "\(wait.text)")
        #expect(wait.json.value(at: "/event/target")?.string == "ReceiveMessage")
        let finished = try await api.post("/v1/wait", #"{"for":"finished","timeout":"20s"}"#)
        #expect(finished.status == 200, "\(finished.text)")
        let sessions = try await api.get("/v1/sessions").json["sessions"]?.array ?? []
        #expect(sessions.count == 1)
        #expect(sessions.first?["id"]?.string == "1")
        #expect(sessions.first?["finished"]?.bool == true)
        #expect(try await api.get("/v1/sessions/1").json["protocol"]?.string == "signalr")
        #expect(try await api.get("/v1/sessions/2").status == 404)

        // Messages come in pages that meet.
        let all = try await api.get("/v1/sessions/1/messages").json
        let whole = all["messages"]?.array ?? []
        #expect(whole.count > 8 && all["more"]?.bool == false)
        var paged: [JSONValue] = []
        var after = 0
        while true {
            let page = try await api.get("/v1/sessions/1/messages?limit=3&after=\(after)").json
            paged += page["messages"]?.array ?? []
            after = page["next"]?.int ?? 0
            if page["more"]?.bool != true { break }
        }
        #expect(paged == whole)
        #expect(whole.contains { $0["target"]?.string == "SendMessage" && $0["d"]?.string == ">" })

        let report = try await api.get("/v1/report").json
        #expect(report["verdict"]?.string == "pass")
        #expect(try await api.get("/v1/report?format=text").text.contains("session 1 (signalr over ws)"))
        #expect(try await api.get("/v1/report?format=junit").text.contains("<testsuites"))
        let page = try await api.get("/v1/report?format=html")
        #expect(page.text.hasPrefix("<!DOCTYPE html>") && page.text.contains("session 1"))
        #expect(page.headers.first("Content-Security-Policy")?.contains("sandbox") == true)
        try await selectorsFindMessages(api, whole)
        await ada.stop()
        try await stage.stop()
        let told = try stage.with { residents, _ in residents.subscribers[0].names }
        #expect(told.first == "ready")
        #expect(told.contains("attempt") && told.contains("connected") && told.contains("finished"))
        #expect(told.filter { $0 == "message" }.count >= whole.count)
    }

    /// What a selector means is found as `wait` finds it, in as many answers as one likes.
    private func selectorsFindMessages(_ api: APIClient, _ messages: [JSONValue]) async throws {
        func numbers(_ query: String) async throws -> [Int] {
            try await api.get("/v1/messages?where=\(query)").json["numbers"]?.array?.compactMap(\.int) ?? []
        }
        let received = messages.filter { $0["target"]?.string == "ReceiveMessage" }.compactMap { $0["n"]?.int }
        #expect(received.count > 3)
        #expect(try await numbers("ReceiveMessage") == received)
        #expect(try await numbers("ReceiveMessage%5B2..3%5D") == Array(received[1...2]))
        #expect(try await numbers("NoSuchThing").isEmpty)
        // Behind the first two the third is the first, unless it is said how many were there.
        let third = "ReceiveMessage%5B3%5D&after=\(received[1])"
        #expect(try await numbers(third) == (received.count > 4 ? [received[4]] : []))
        #expect(try await numbers(third + "&counted=2") == [received[2]])
        let all = try await api.get("/v1/messages?where=message").json
        #expect(all["more"]?.bool == false && all["counted"]?.int == all["numbers"]?.array?.count)
        #expect(try await api.get("/v1/messages").error.contains("needs 'where'"))
        #expect(try await api.get("/v1/messages?where=x%5B").error.contains("'where'"))
    }

    @Test func rulesAreChangedWhileTheRunGoesOn() async throws {
        let stage = try Stage()
        let api = stage.api
        let put = try await api.call(
            "PUT", "/v1/faults", #"{"rules":["reset after ReceiveMessage[2]","drop on ReceiveMessage[5]"]}"#)
        #expect(put.status == 200, "\(put.text)")
        #expect(put.json["rules"]?.array?.count == 2)
        // All or nothing.
        let bad = try await api.call(
            "PUT", "/v1/faults", #"{"rules":["reset after ReceiveMessage[1]","resett on connect"]}"#)
        #expect(bad.status == 400)
        #expect(bad.error.contains("did you mean 'reset'?"), "\(bad.error)")
        let hopeless = try await api.post("/v1/faults", #"{"fault":"reset after RecieveMessage[3]"}"#)
        #expect(hopeless.status == 422)
        #expect(hopeless.error.contains("nearest is 'ReceiveMessage'"), "\(hopeless.error)")
        #expect(try await api.get("/v1/faults").json["rules"]?.array?.count == 2)
        #expect(try await api.call("DELETE", "/v1/faults/drop%20on%20ReceiveMessage%5B5%5D").status == 200)
        let named = try await api.call("PUT", "/v1/faults/busy", #""respond(503) on connect[retry=1]""#)
        #expect(named.status == 201)
        #expect(
            try await api.call("PUT", "/v1/faults/busy", #"{"fault":"respond(503) on connect[retry=1..2]"}"#).status
                == 200)
        #expect(try await api.get("/v1/faults/busy").json["fault"]?.string?.contains("1..2") == true)

        let ada = Ada(stage.url)
        let first = try await api.post("/v1/wait", #"{"for":"fault","timeout":"20s"}"#).json
        #expect(first.value(at: "/event/rule")?.string == "reset after ReceiveMessage[2]")
        // A rule that comes now leaves the counters of the others as they are.
        #expect(
            try await api.post("/v1/faults", #"{"fault":"delay(1ms) on ReceiveMessage","optional":true}"#).status == 201
        )
        let second = try await api.post(
            "/v1/wait", #"{"for":"fault","timeout":"20s","after":\#(first["n"]?.int ?? 0)}"#
        ).json
        #expect(second.value(at: "/event/rule")?.string == "busy")
        #expect(try await api.post("/v1/wait", #"{"for":"finished","timeout":"20s"}"#).status == 200)
        let rules = try await api.get("/v1/faults").json["rules"]?.array ?? []
        #expect(rules.first { $0["name"]?.string == "busy" }?["fired"]?.int == 2)
        #expect(rules.first?["fired"]?.int == 1)
        #expect(try await api.post("/v1/faults/reset").json.value(at: "/rules/0/fired")?.int == 0)
        #expect(try await api.call("DELETE", "/v1/faults").json["rules"]?.array?.isEmpty == true)
        await ada.stop()
        try await stage.stop()
    }

    @Test func whatIsWrongHasASentence() async throws {
        let stage = try Stage()
        let api = stage.api
        let cases: [(method: String, path: String, body: String, status: Int, words: String)] = [
            ("GET", "/v1/nothing", "", 404, "there is no /v1/nothing"),
            ("POST", "/v1/status", "", 405, "GET, HEAD, OPTIONS only"),
            ("GET", "/v1/status?rnu=1", "", 400, "did you mean 'run'?"),
            ("GET", "/v1/status?run=2", "", 404, "there is no run 2"),
            ("GET", "/v1/status?run=x", "", 400, "a whole number"),
            ("GET", "/v1/events?types=mesage", "", 400, "did you mean 'message'?"),
            ("GET", "/v1/report?format=xml", "", 400, "json, text, junit or html"),
            ("POST", "/v1/wait", "{", 400, "the body is no JSON"),
            ("POST", "/v1/wait", "[]", 400, "a JSON object, found an array"),
            ("POST", "/v1/wait", "{}", 400, "the body needs 'for'"),
            ("POST", "/v1/wait", #"{"for":"finished","timeuot":"1s"}"#, 400, "did you mean 'timeout'?"),
            ("POST", "/v1/wait", #"{"for":"finished","timeout":"soon"}"#, 400, "a duration such as"),
            ("POST", "/v1/wait", #"{"for":"x[","timeout":"1s"}"#, 400, "'for'"),
            ("POST", "/v1/wait", #"{"for":"finished","for":"finished"}"#, 400, "twice"),
            ("POST", "/v1/wait", #"{"for":"attempt","timeout":"10ms"}"#, 408, "no 'attempt' within 10ms"),
            ("POST", "/v1/wait", #"{"for":"finished","timeout":"10ms"}"#, 408, "no client has begun a session"),
            ("PUT", "/v1/faults", "", 400, "JSON"),
            ("GET", "/v1/faults/none", "", 404, "there is no rule 'none'"),
            ("GET", "/v1/faults/reset", "", 405, "POST"),
            ("POST", "/v1/connections/9/reset", "", 404, "no open connection 9"),
            ("POST", "/v1/connections/nine/reset", "", 404, "'nine'"),
            ("POST", "/v1/sessions/1/advance", "{}", 404, "no client has begun one"),
            ("POST", "/v1/clock", #"{"advance":"1s"}"#, 409, "runs by itself"),
            ("POST", "/v1/clock", #"{"mode":"slow"}"#, 400, "manual or running"),
            ("POST", "/v1/replays", #"{"tape":"x"}"#, 409, "makes no further runs"),
            ("DELETE", "/v1/replays/1", "", 409, "the command's own"),
            ("POST", "/v1/expect", #"{"policy":"delay"}"#, 400, "'policy'"),
            ("POST", "/v1/marks", #"{"text":1}"#, 400, "a text, found a number"),
        ]
        for one in cases {
            let answer = try await api.call(one.method, one.path, one.body)
            #expect(answer.status == one.status, "\(one): \(answer.text)")
            #expect(answer.error.contains(one.words), "\(one): \(answer.text)")
            #expect(answer.json["status"]?.int == answer.status)
        }
        #expect(try await api.call("POST", "/v1/status").headers.first("Allow") == "GET, HEAD, OPTIONS")
        let large = try await api.call("PUT", "/v1/faults", String(repeating: " ", count: 1 << 20) + "[]")
        #expect(large.status == 413 && large.error.contains("1 MiB"))
        let garbage = try APIClient.parse(try await api.send(Array("NONSENSE\r\n\r\n".utf8)))
        #expect(garbage.status == 400 && garbage.json["status"]?.int == 400)
        try await stage.stop()
    }

    @Test func theTokenIsAskedFor() async throws {
        let stage = try Stage(token: "open-sesame-1")
        var api = stage.api
        #expect(try await api.get("/healthz").status == 200)
        let without = try await api.get("/v1/status")
        #expect(without.status == 401 && without.headers.first("WWW-Authenticate") == "Bearer")
        #expect(try await api.get("/v1/nothing").status == 401)
        api.headers = [HeaderField("Authorization", "Bearer open-sesame-2")]
        #expect(try await api.get("/v1/status").status == 403)
        api.headers = [HeaderField("Authorization", "Basic open-sesame-1")]
        #expect(try await api.get("/v1/status").status == 401)
        api.headers = [HeaderField("Authorization", "Bearer open-sesame-1")]
        #expect(try await api.get("/v1/status").status == 200)
        try await stage.stop()
    }

    @Test func pagesOfLoopbackAreLetInAndNoOthers() async throws {
        let stage = try Stage()
        let api = stage.api
        let page = HeaderField("Origin", "http://localhost:3000")
        let answer = try await api.call("GET", "/v1/status", headers: [page])
        #expect(answer.status == 200 && answer.headers.first("Access-Control-Allow-Origin") == page.value)
        let preflight = try await api.call(
            "OPTIONS", "/v1/faults", headers: [page, HeaderField("Access-Control-Request-Method", "PUT")])
        #expect(preflight.status == 204)
        #expect(preflight.headers.first("Access-Control-Allow-Methods")?.contains("PUT") == true)
        let stranger = try await api.call("GET", "/v1/status", headers: [HeaderField("Origin", "https://evil.example")])
        #expect(stranger.status == 403 && stranger.headers.first("Access-Control-Allow-Origin") == nil)
        let rebound = try APIClient.parse(
            try await api.send(Array("GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".utf8))
        )
        #expect(rebound.status == 403)
        try await stage.stop()
    }

    @Test func whoDoesNotReadLosesEventsAndIsTold() async throws {
        // Little is kept, so that a subscriber that sleeps falls behind.
        let stage = try Stage(keeping: 64 << 10)
        let api = stage.api
        try stage.with { residents, loop in
            for _ in 0..<10 {
                residents.subscribers.append(Subscriber(api.address, "/v1/events", reads: false, on: loop))
            }
        }
        for _ in 0..<100 {
            if try await api.get("/metrics").text.contains("wiretape_control_subscribers 10\n") { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        let text = String(repeating: "x", count: 4_000)
        // More than the kernel's buffers and ours take of a connection.
        try stage.with { residents, _ in
            for n in 0..<8_000 { residents.mark("\(n) \(text)") }
        }
        try stage.with { residents, _ in residents.subscribers[0].begin() }
        try await stage.until("the gap is told") { $0.subscribers[0].names.contains("gap") }
        try await stage.until("the last is told") { residents in
            residents.subscribers[0].events.last?["text"]?.string?.hasPrefix("7999 ") == true
        }
        let events = try stage.with { residents, _ in residents.subscribers[0].events }
        let lost = events.reduce(0) { $0 + ($1["lost"]?.int ?? 0) }
        #expect(events.filter { $0["event"]?.string == "mark" }.count + lost == 8_000)
        // The others sleep on, and the API answers.
        #expect(try await api.get("/v1/status").json["last_event"]?.int == 8_001)
        try await stage.stop()
    }

    @Test func aConnectionTooManyIsTold() async throws {
        let stage = try Stage(mostConnections: 4)
        let api = stage.api
        try stage.with { residents, loop in
            for _ in 0..<4 { residents.subscribers.append(Subscriber(api.address, "/v1/events", on: loop)) }
        }
        var answer = try await api.get("/healthz")
        for _ in 0..<100 where answer.status == 200 {
            try await Task.sleep(for: .milliseconds(20))
            answer = try await api.get("/healthz")
        }
        #expect(answer.status == 503 && answer.error.contains("all 4 connections"))
        try stage.with { residents, _ in residents.subscribers[0].leave() }
        for _ in 0..<100 where answer.status != 200 {
            try await Task.sleep(for: .milliseconds(20))
            answer = try await api.get("/healthz")
        }
        #expect(answer.status == 200)
        try await stage.stop()
    }
}

extension Stage.Residents {
    /// Says something in the run's events.
    func mark(_ text: String) { control.firstRun?.mark(text) }
}
