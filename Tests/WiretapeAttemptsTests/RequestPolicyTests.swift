import Testing
import WiretapeAttempts
import WiretapeWire

/// The policy `asks`: requests that are part of no session.
@Suite struct RequestPolicyTests {
    private func judged(_ policy: String, _ requests: [(String, String)]) throws -> Judgement {
        var counts = RequestCounts()
        for (method, target) in requests { counts.came(RequestHead(method: method, target: target)) }
        let judged = Judge.judge([], requests: counts, by: [try Expectation.parse(policy)])
        #expect(judged.count == 1)
        return judged[0]
    }

    @Test(arguments: [
        ("asks(\"POST /login\")", "met", "once"),
        ("asks(\"POST /login\", times=1)", "met", "once"),
        ("asks(\"POST /login\", times=0)", "not met", "once"),
        ("asks(\"POST /login\", min=2)", "not met", "once"),
        ("asks(\"GET /me\", min=2)", "met", "2 times"),
        ("asks(\"GET /me\", times=1)", "not met", "2 times"),
        ("asks(\"/login\", times=1)", "met", "once"),
        ("asks(\"GET /login\")", "not met", "none"),
        ("asks(\"GET /login\", times=0)", "met", "none"),
        ("asks(\"/*\", times=3)", "met", "3 times"),
        ("asks(\"POST /login\", \"GET /me\")", "met", "once; 2 times"),
        ("asks(\"POST /login\", \"GET /mine\")", "not met", "once; none"),
    ])
    func requestsAreCounted(_ policy: String, _ word: String, _ actual: String) throws {
        let judged = try judged(policy, [("GET", "/me?x=1"), ("POST", "/login"), ("GET", "/me")])
        #expect(judged.word == word && judged.actual == actual, "\(policy): \(judged.word), \(judged.actual)")
        #expect(judged.session == 0)
    }

    @Test func theReasonNamesTheRequest() throws {
        #expect(
            try judged("asks(\"POST /login\")", [("POST", "/logins")]).reason
                == "wiretape: asks(\"POST /login\") is not met: no client sent POST /login; did you mean 'POST /logins'?"
        )
        #expect(
            try judged("asks(/login, times=1)", [("POST", "/login"), ("POST", "/login")]).reason
                == "wiretape: asks(/login, times=1) is not met: /login came 2 times instead of exactly once")
        #expect(
            try judged("asks(/login, times=0)", [("POST", "/login")]).reason
                == "wiretape: asks(/login, times=0) is not met: /login came once instead of never")
    }

    @Test(arguments: ["asks(/login)", "asks(/login, times=0)"])
    func withoutAnyRequestNothingIsJudged(_ policy: String) throws {
        let judged = try judged(policy, [])
        #expect(judged.word == "not judged" && judged.reason.contains("no client came"))
    }

    /// Of more requests than are counted one may have been the wanted one.
    @Test func moreThanIsCounted() throws {
        let many = (0..<5_000).map { ("GET", "/\($0)") }
        #expect(try judged("asks(/7)", many).word == "met")
        for policy in ["asks(/login)", "asks(/login, times=0)", "asks(/7, times=1)"] {
            #expect(try judged(policy, many).word == "not judged", "\(policy)")
        }
        #expect(try judged("asks(/7, times=0)", many).word == "not met")
    }
}
