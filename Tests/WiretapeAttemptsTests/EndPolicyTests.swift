import Testing
import WiretapeAttempts
import WiretapeWire

/// Final ends, second connections, growth by a power.
struct EndPolicyTests {
    private func lost(_ how: Attempt.End.Manner) -> Course {
        var course = Course()
        course.connects(lost: how)
        return course
    }

    @Test func someEndsAreFinal() throws {
        let policy = "stays-away(after=close(4001|4400..4499)|status(401))"
        for how: Attempt.End.Manner in [.close(4001), .close(4403)] {
            #expect(try lost(how).judged(by: policy, running: 2).map(\.word) == ["met"], "\(how)")
            var back = lost(how)
            back.connects(after: 1)
            let judged = try back.judged(by: policy, running: 2)
            #expect(judged.map(\.word) == ["not met"])
            #expect(
                judged[0].reason.contains("session 1 came back (attempt 2) 1000 ms after \(how.text)"),
                "\(judged[0].reason)"
            )
        }
        var refused = lost(.reset)
        refused.fails(after: 0, status: 401)
        #expect(try refused.judged(by: policy, running: 2).map(\.word) == ["met"])
        // At once with another credential: a step of the same attempt, and no staying away.
        refused.connects(after: 0.01)
        #expect(try refused.judged(by: policy, running: 2)[0].reason.contains("after status 401"))
    }

    @Test func otherEndsAreNotJudged() throws {
        for how: Attempt.End.Manner in [.close(4000), .close(4500), .reset, .close(nil)] {
            var back = lost(how)
            back.connects(after: 1)
            let judged = try back.judged(by: "stays-away(after=close(4001|4400..4499))", running: 2)
            #expect(judged.map(\.word) == ["not judged"], "\(how)")
            #expect(judged[0].reason.hasSuffix("--fault 'close(4001) after message[3]'"))
        }
        #expect(try lost(.close(nil)).judged(by: "stays-away(after=close)", running: 2).map(\.word) == ["met"])
    }

    /// A run that ends with the close has not seen the client stay away, unless the client is gone.
    @Test func stayingAwayTakesTime() throws {
        let policy = "stays-away(after=close(4001))"
        #expect(try lost(.close(4001)).judged(by: policy).map(\.word) == ["not judged"])
        #expect(try lost(.close(4001)).judged(by: policy, isGone: true).map(\.word) == ["met"])
        #expect(try lost(.close(4400)).judged(by: "client(graphql-ws)").map(\.word) == ["not judged"])
        #expect(try lost(.close(4400)).judged(by: "client(graphql-ws)", running: 1).map(\.word) == ["met"])
    }

    @Test func oneConnectionAtATime() throws {
        #expect(try lost(.reset).judged(by: "single").map(\.word) == ["met"])
        // It is made of live traffic.
        #expect(try lost(.reset).judged(by: "finished").map(\.word) == ["not judged"])
        let second = JudgedSession.Overlap(time: 300 * Course.ms, attempt: 1, request: "upgrade")
        let judged = try lost(.reset).judged(by: "single", overlaps: [second])
        #expect(
            judged[0].reason
                == "wiretape: single is not met: session 1 asked for a second connection (upgrade) after 300 ms, while attempt 1 had one"
        )
        var never = Course()
        never.fails()
        #expect(try never.judged(by: "single").map(\.word) == ["not judged"])
    }

    @Test func growthByAPower() throws {
        var course = Course()
        course.connects()
        for delay in [1, 4, 9, 10, 10.0] { course.fails(after: delay) }
        #expect(try course.judged(by: "polynomial(1s, power=2, cap=10s)")[0].met)
        #expect(try course.judged(by: "polynomial(1s, power=2)")[0].reason.contains("retry 4"))
        #expect(try course.judged(by: "polynomial(1s, power=1, cap=10s)")[0].reason.contains("retry 2"))
        var quadratic = Course()
        quadratic.connects()
        for delay in [0, 1, 4, 9.0] { quadratic.fails(after: delay) }
        #expect(try quadratic.judged(by: "polynomial(1s, power=2, from=0)")[0].met)
        #expect(try quadratic.judged(by: "polynomial(1s, power=2)")[0].met == false)
        var roots = Course()
        roots.connects()
        for delay in [1, 1.414, 1.732, 2.0] { roots.fails(after: delay) }
        #expect(try roots.judged(by: "polynomial(1s, power=0.5, late=10ms, early=10ms)")[0].met)
        var far = Course()
        far.connects()
        far.fails(after: 5)
        #expect(try far.judged(by: "polynomial(1s, power=16, from=9223372036854775807, cap=5s)")[0].met)
    }

    /// A client told by the end of a connection has not noticed that it was silent.
    @Test func silenceThatARuleEnds() throws {
        var course = Course()
        course.connects()
        course.connects(after: 0.01)
        let stall = [JudgedSession.Silence(time: 200 * Course.ms, attempt: 1)]
        #expect(try course.judged(by: "detects(within=2s)", silences: stall).map(\.word) == ["not judged"])
        #expect(try course.judged(by: "detects(within=100ms, late=10ms)", silences: stall).map(\.word) == ["not met"])
        var waiting = Course()
        waiting.connects(by: .client)
        let late = [JudgedSession.Silence(time: 2_000 * Course.ms, attempt: 1)]
        #expect(try waiting.judged(by: "detects(within=30s)", running: 2, silences: late).map(\.word) == ["not judged"])
    }

    /// An order of several transports is judged where at least two of them were tried.
    @Test func anOrderIsSeenInAFallback() throws {
        #expect(try lost(.reset).judged(by: "transports(ws, sse)").map(\.word) == ["not judged"])
        #expect(try lost(.reset).judged(by: "transports(ws)").map(\.word) == ["met"])
        #expect(try lost(.reset).judged(by: "transports(sse, ws)").map(\.word) == ["not met"])
    }

    @Test func retryAfterThatNobodyCameBackTo() throws {
        var course = Course()
        course.fails(retryAfter: 2_000_000_000)
        #expect(try course.judged(by: "honours(retry-after)", running: 1).map(\.word) == ["not judged"])
        #expect(try course.judged(by: "honours(retry-after)", running: 3).map(\.word) == ["met"])
    }

    @Test func noClientIsNotJudged() throws {
        for form in Expectation.forms {
            let judged = Judge.judge([], by: [try Expectation.parse(form.example)])
            #expect(!judged.isEmpty && judged.allSatisfy { $0.word == "not judged" && $0.actual == "no client came" })
        }
    }

    @Test func attemptsAreRenumberedWithTheirSteps() {
        var course = Course()
        course.fails("upgrade", status: 404, transport: .ws)
        course.fails(after: 0.01, "stream", status: 500, transport: .sse)
        course.fails(after: 2)
        let (attempts, numbers) = Attempt.joining(course.attempts)
        #expect(attempts.map(\.number) == [1, 2] && numbers == [1, 1, 2])
        #expect(Attempt.joined(attempts) == attempts)
    }
}

extension EndPolicyTests {
    /// What the replay itself refuses says nothing of the client: neither good nor bad.
    @Test func ourOwnRefusals() throws {
        func judged(_ policy: String, _ delays: [Double]) throws -> Judgement {
            var course = Course()
            course.connects()
            for delay in delays { course.connects(after: delay) }
            course.fails(after: 2, status: 404)
            var attempts = course.attempts
            attempts[attempts.count - 1].isOwnRefusal = true
            let session = JudgedSession(session: 1, run: 1, attempts: attempts, elapsed: 60_000 * Course.ms)
            return Judge.judge([session], by: [try Expectation.parse(policy)])[0]
        }
        let good = try judged("delays(2s)", [2, 2])
        #expect(
            good.word == "not judged" && good.reason.contains("attempt 4 of session 1 was refused by the replay itself")
        )
        #expect(try judged("delays(2s)", [2, 5]).word == "not met")
        #expect(try judged("gives-up(after=1)", [2]).word == "not judged")
    }
}
