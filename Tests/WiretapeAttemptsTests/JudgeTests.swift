import Testing
import WiretapeAttempts
import WiretapeWire

struct JudgeTests {
    @Test func delaysAreHeldToTheirTimes() throws {
        var course = Course()
        course.connects()
        course.fails(after: 0.002)
        course.connects(after: 2.1)
        #expect(try course.judged(by: "delays(0s, 2s)").map(\.met) == [true])
        let early = try course.judged(by: "delays(0s, 3s)")
        #expect(
            early[0].reason
                == "wiretape: delays(0s, 3s) is not met: retry 2 (attempt 3) of session 1 came after 2100 ms instead of 3s "
                + "(2950 to 3750 ms)")
        #expect(
            try course.judged(by: "delays(0s)")[0].reason.hasSuffix("should not have come: the policy has 1 delays"))
        #expect(try course.judged(by: "delays(0s, 2s, late=50ms)")[0].met == false)
        #expect(try course.judged(by: "delays(0s, 2s, 5s)", running: 4, finished: true)[0].met)
        #expect(try course.judged(by: "delays(2s)", running: 60).map(\.met) == [false])
    }

    @Test func aRetryThatNeverComesIsMissed() throws {
        var course = Course()
        course.connects()
        #expect(try course.judged(by: "delays(1s)", running: 60)[0].reason.hasSuffix("retry 1 of session 1 never came"))
        #expect(try course.judged(by: "delays(1s)", running: 60, finished: true)[0].session == 0)
        var left = Course()
        left.connects(by: .client)
        #expect(try left.judged(by: "delays(1s)", running: 60)[0].actual == "no session lost its connection")
    }

    @Test func growingDelays() throws {
        var course = Course()
        course.connects()
        for delay in [1, 2, 4, 5, 5.0] { course.fails(after: delay) }
        #expect(try course.judged(by: "exponential(1s, factor=2, cap=5s)")[0].met)
        #expect(try course.judged(by: "exponential(1s, factor=2)")[0].met == false)
        #expect(try course.judged(by: "exponential(2s, factor=1.5, jitter=60%, late=0s)")[0].met)
        #expect(
            try course.judged(by: "exponential(500ms, factor=2, cap=4s, jitter=500ms..2s, late=0s, early=0s)")[0].met)
        #expect(try course.judged(by: "constant(5s)")[0].met == false)
    }

    /// The advice does not name a rule, since a rule has ended the connection already. A client that is gone when its retry
    /// is due counts as one that never comes.
    @Test func aRunThatEndsTooEarly() throws {
        var course = Course()
        course.connects()
        let policy = "delays(1s, late=2s)"
        let short = try course.judged(by: policy, running: 2)[0]
        #expect(!short.isJudged && short.reason.hasSuffix("was due (1s); let the run last until then"))
        #expect(try course.judged(by: policy, running: 1, isGone: true).map(\.word) == ["not judged"])
        let gone = try course.judged(by: policy, running: 2, isGone: true)[0]
        #expect(gone.isJudged && gone.reason.hasSuffix("retry 1 of session 1 never came"))
    }

    @Test func givingUp() throws {
        var course = Course()
        course.connects()
        for _ in 0..<4 { course.fails(after: 1) }
        #expect(try course.judged(by: "gives-up(after=4)", running: 3)[0].met)
        #expect(try course.judged(by: "gives-up(after=4)", isGone: true)[0].met)
        // Another one could have come yet.
        let short = try course.judged(by: "gives-up(after=4)", running: 2)[0]
        #expect(
            !short.met && !short.isJudged && short.reason.contains("before another retry of session 1 could have come"))
        #expect(try course.judged(by: "gives-up(after=3)")[0].reason.hasSuffix("made 4 retries in a row"))
        #expect(try course.judged(by: "gives-up(after=5)")[0].reason.hasSuffix("only 4 retries by the end of the run"))
        var well = Course()
        well.connects()
        #expect(try well.judged(by: "gives-up(after=3)")[0].actual == "no session was without a connection at its end")
    }

    @Test func theRateOfAttempts() throws {
        var course = Course()
        for _ in 0..<6 { course.fails(after: 0.1) }
        #expect(try course.judged(by: "rate(max=6/s)")[0].met)
        #expect(try course.judged(by: "rate(max=5/s)")[0].reason.contains("began 6 attempts within 1s"))
        var once = Course()
        once.connects()
        #expect(try once.judged(by: "rate(max=5/s)").map(\.word) == ["not judged"])
    }

    @Test func retryAfterIsHonoured() throws {
        var course = Course()
        course.fails(retryAfter: 2_000_000_000)
        course.connects(after: 2)
        #expect(try course.judged(by: "honours(retry-after)")[0].met)
        var hasty = Course()
        hasty.fails(retryAfter: 2_000_000_000)
        hasty.connects(after: 1)
        #expect(try hasty.judged(by: "honours(retry-after)")[0].met == false)
        var without = Course()
        without.fails()
        #expect(try without.judged(by: "honours(retry-after)")[0].actual == "no answer had a Retry-After")
    }

    @Test func transportsAndFallbackAreOneAttempt() throws {
        var course = Course()
        course.fails("upgrade", status: 404, transport: .ws)
        course.fails(after: 0.01, "stream", status: 500, transport: .sse)
        course.fails(after: 0.01, "poll", status: 500, transport: .lp)
        #expect(Attempt.joined(course.attempts).map { $0.steps.count } == [3])
        #expect(try course.judged(by: "transports(ws, sse, lp)")[0].met)
        #expect(try course.judged(by: "transports(ws, lp)")[0].reason.hasSuffix("session 1 tried ws, sse, lp"))
        #expect(try course.judged(by: "transports(ws, sse, lp, http)")[0].met == false)
        let start = try course.judged(by: "client(signalr-js)", running: 60)[0]
        #expect(start.met && start.actual == "no retry")
    }

    @Test func aFreshTokenIsAStep() {
        var course = Course()
        course.fails(status: 401)
        course.connects(after: 0.1)
        let joined = Attempt.joined(course.attempts)
        #expect(joined.map(\.outcome) == [.connected] && joined[0].steps.map(\.status) == [401, 200, 101])
        var slow = Course()
        slow.fails(status: 401)
        slow.connects(after: 2)
        #expect(Attempt.joined(slow.attempts).count == 2)
    }

    @Test func silenceIsDetected() throws {
        var course = Course()
        course.connects(by: .client)
        let stall = [JudgedSession.Silence(time: 200 * Course.ms, attempt: 1)]
        #expect(try course.judged(by: "detects(within=1s)", silences: stall)[0].met)
        #expect(try course.judged(by: "detects(within=100ms, late=10ms)", silences: stall)[0].met == false)
        var deaf = Attempt(number: 1, retry: 0, start: 0, delay: nil)
        deaf.outcome = .connected
        let judged = [10, 60].map { seconds in
            JudgedSession(session: 1, run: 1, attempts: [deaf], silences: stall, elapsed: seconds * 1_000 * Course.ms)
        }
        let policy = [try Expectation.parse("detects(within=30s)")]
        #expect(judged.map { Judge.judge([$0], by: policy)[0].word } == ["not judged", "not met"])
        #expect(Judge.judge([judged[1]], by: policy)[0].actual == "never")
        var quiet = Course()
        quiet.connects()
        #expect(try quiet.judged(by: "detects(within=30s)")[0].session == 0)
    }

    /// From the answer on, however long the server took for it.
    @Test func retryAfterCountsFromTheAnswer() throws {
        var attempt = Attempt(number: 1, retry: 0, start: 0, delay: nil)
        attempt.outcome = .status
        attempt.steps = [.init(request: "negotiate", status: 503, time: 0, retryAfter: 2_000 * Course.ms)]
        attempt.ended = .init(time: 1_500 * Course.ms, by: .server, how: .status(503))
        let next = Attempt(number: 2, retry: 1, start: 2_100 * Course.ms, delay: 600 * Course.ms)
        let session = JudgedSession(session: 1, run: 1, attempts: [attempt, next], elapsed: 3_000 * Course.ms)
        let found = Judge.judge([session], by: [try Expectation.parse("honours(retry-after)")])
        #expect(found.map(\.met) == [false] && found[0].actual == "600 ms")
    }

    @Test func theTimeline() {
        var course = Course()
        course.connects()
        course.fails(after: 1)
        course.connects(after: 1, lost: .fin, by: .client)
        let lines = AttemptTimeline(course.attempts).lines
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("  1 ━━━━━") && lines[0].hasSuffix("━╳"))
        #expect(lines[1].hasSuffix("·····─╳") && lines[2].contains("····━━━"), "\(lines.joined(separator: "\n"))")
        #expect(lines[2].hasSuffix("━┤"))
        #expect(AttemptTimeline(Array(course.attempts.prefix(1))).lines.isEmpty)
    }
}
