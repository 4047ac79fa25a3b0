import Testing
import WiretapeAttempts

/// The presets against the attempt times of the protocol pages.
struct PresetTests {
    /// A lost connection, then failures after these seconds.
    private func lost(_ delays: [Double], _ request: String = "negotiate", status: Int? = 503) -> Course {
        var course = Course()
        course.connects()
        for delay in delays { course.fails(after: delay, request, status: status) }
        return course
    }

    @Test(arguments: [
        ("signalr-js", [0, 2, 10, 30.0]), ("signalr-swift", [0, 0, 2, 10]), ("signalr-swift-moozzyk", [0, 2, 10, 30]),
        ("eventflit-swift", [0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 120, 120]), ("eventflit-js", [1, 1, 1, 1]),
        ("atmosphere-js", [0, 0, 0, 0, 0]),
    ])
    func timesOfThePage(_ name: String, _ delays: [Double]) throws {
        #expect(try lost(delays).judged(by: "client(\(name))")[0].met)
        for n in delays.indices {
            var bent = delays
            bent[n] += 40
            #expect(try lost(bent).judged(by: "client(\(name))")[0].met == false, "retry \(n + 1) bent")
        }
    }

    @Test(arguments: ["signalr-js", "signalr-swift"])
    func noMoreThanThePolicy(_ name: String) throws {
        let delays: [Double] = name == "signalr-js" ? [0, 2, 10, 30] : [0, 0, 2, 10]
        #expect(try lost(delays).judged(by: "client(\(name))", running: 600)[0].met)
        #expect(try lost(delays + [30]).judged(by: "client(\(name))")[0].reason.contains("it makes 4 retries"))
        #expect(try lost(Array(delays.dropLast())).judged(by: "client(\(name))", running: 600)[0].met == false)
        var start = Course()
        start.fails()
        start.fails(after: 2)
        #expect(try start.judged(by: "client(\(name))")[0].reason.contains("its first start is not tried again"))
    }

    @Test func moozzykRetriesItsStart() throws {
        var course = Course()
        course.fails()
        for delay in [0, 2, 10.0] { course.fails(after: delay) }
        #expect(try course.judged(by: "client(signalr-swift-moozzyk)")[0].met)
    }

    /// Graphql page 1.4: 2ⁿ s and 0.3 to 3 s more, five times; the count begins anew with each acknowledgement.
    private func graphqlWS(_ delays: [Double], how: Attempt.End.Manner = .close(1012)) -> Course {
        var course = Course()
        course.connects()
        for delay in delays { course.drops(after: delay, how: how) }
        return course
    }

    @Test func graphqlWSWaitsLongerEachTimeWithJitter() throws {
        for jitter in [0.3, 1.5, 3] {
            let delays = [1, 2, 4, 8, 16].map { $0 + jitter }
            #expect(try graphqlWS(delays).judged(by: "client(graphql-ws)", running: 600)[0].met)
            #expect(
                try graphqlWS(delays + [33]).judged(by: "client(graphql-ws)")[0].reason.contains("it makes 5 retries"))
            for n in delays.indices {
                for bent in [delays[n] - jitter + 0.2, delays[n] - jitter + 3.1 + max(0.5, delays[n])] {
                    var course = delays
                    course[n] = bent
                    #expect(try graphqlWS(course).judged(by: "client(graphql-ws)")[0].met == false, "\(course)")
                }
            }
        }
        var again = Course()
        for delay in [nil, 1.5, 1.5, 1.5] { again.connects(after: delay, lost: .close(1012)) }
        #expect(try again.judged(by: "client(graphql-ws)")[0].met)
        #expect(try graphqlWS([]).judged(by: "client(graphql-ws)", running: 60)[0].met == false)
    }

    /// The table of the graphql page 1.3.
    @Test func graphqlWSAndItsCloseCodes() throws {
        for code: UInt16 in [4400, 4401, 4406, 4409, 4429, 4500, 4004, 4005, 1002, 1003, 1007, 1008, 1009, 1011, 1015] {
            var course = Course()
            course.connects(lost: .close(code))
            #expect(try course.judged(by: "client(graphql-ws)", running: 60).allSatisfy { $0.session == 0 || $0.met })
            course.connects(after: 1.5)
            #expect(try course.judged(by: "client(graphql-ws)")[0].reason.contains("code \(code) ends it"))
        }
        for code: UInt16 in [4403, 4408, 4504, 4499, 1001, 1005, 1006, 1012, 1013, 1014, 4000, 3000] {
            var course = Course()
            course.connects(lost: .close(code))
            #expect(try course.judged(by: "client(graphql-ws)", running: 60)[0].reason.contains("never came"))
            course.connects(after: 1.5)
            #expect(try course.judged(by: "client(graphql-ws)")[0].met)
        }
        var normal = Course()
        for delay in [nil, 0.01] { normal.connects(after: delay, lost: .close(1000)) }
        #expect(try normal.judged(by: "client(graphql-ws)")[0].met)
        // A refused upgrade is no close event.
        #expect(try lost([1.5, 3], "upgrade").judged(by: "client(graphql-ws)")[0].met == false)
    }

    /// `pysignalr/__init__.py` and `transport/websocket.py` of 1.3.3; tools/acceptance/faults-clients runs it.
    @Test(arguments: [503, 404, 403]) func pysignalr(_ status: Int) throws {
        #expect(try lost([0, 1.1, 1.21, 1.331], "upgrade", status: status).judged(by: "client(pysignalr)")[0].met)
        for bent in [[0, 1.1, 3.1], [0, 0.2], [3, 1.1]] {
            #expect(try lost(bent, "upgrade", status: status).judged(by: "client(pysignalr)")[0].met == false)
        }
        let ended = try lost([0, 1.1], status: status).judged(by: "client(pysignalr)")[0]
        #expect(ended.reason.hasSuffix("should not have come: a negotiation that is refused or reset ends it"))
    }

    @Test func pysignalrTriesNineTimesInItsLife() throws {
        var course = Course()
        var delay = 1.0
        course.fails(status: nil, how: .fin)
        for n in 1...9 {
            delay *= 1.1
            // Successes between them do not count anew.
            if n == 5 {
                course.connects(after: delay)
                course.fails(after: 0, "upgrade", status: nil)
            } else {
                course.fails(after: delay, status: nil, how: .fin)
            }
        }
        #expect(try course.judged(by: "client(pysignalr)")[0].met)
        course.fails(after: delay * 1.1, status: nil, how: .fin)
        #expect(try course.judged(by: "client(pysignalr)")[0].reason.contains("nine times in its life"))
        var reset = Course()
        reset.fails(status: nil)
        reset.fails(after: 1.1, status: nil)
        #expect(try reset.judged(by: "client(pysignalr)")[0].met == false)
    }

    @Test func apolloIOS() throws {
        #expect(try lost([0.5]).judged(by: "client(apollo-ios)")[0].met == false)
        #expect(try lost([0.5]).judged(by: "client(apollo-ios, interval=500ms)")[0].met)
        #expect(try lost([0.5, 0.5]).judged(by: "client(apollo-ios, interval=500ms)")[0].met == false)
    }

    /// Eventflit page 4: once it was connected the code does not matter, before that it decides.
    @Test func eventflitJSAndItsCloseCodes() throws {
        var course = Course()
        course.connects(lost: .close(4001))
        course.connects(after: 1, lost: .close(4200))
        course.connects(after: 1)
        #expect(try course.judged(by: "client(eventflit-js)")[0].met)
        for (code, delay): (UInt16, Double) in [
            (4100, 1.0), (4199, 1), (4200, 0), (4299, 0), (1002, 1), (1006, 1), (4000, 0),
        ] {
            var before = Course()
            before.drops(how: .close(code))
            before.connects(after: delay)
            #expect(try before.judged(by: "client(eventflit-js)")[0].met, "\(code)")
            var bent = Course()
            bent.drops(how: .close(code))
            bent.connects(after: delay + 2)
            #expect(try bent.judged(by: "client(eventflit-js)")[0].met == false, "\(code)")
        }
        for code: UInt16 in [4001, 4009, 4099, 4300, 4301] {
            var ended = Course()
            ended.drops(how: .close(code))
            ended.connects(after: 1)
            #expect(try ended.judged(by: "client(eventflit-js)")[0].reason.contains("code \(code) ends it"))
        }
        // For ever: the Swift client's wait is capped, this one's does not grow.
        #expect(try lost(Array(repeating: 1, count: 40)).judged(by: "client(eventflit-js)")[0].met)
    }

    /// pusher-websocket-swift 10 handles some close codes specially. After any other code it retries as after a lost connection.
    @Test func pusherSwiftFollowsCloseCodes() throws {
        let name = "client(pusher-swift)"
        #expect(try lost([0, 1, 4, 9, 16]).judged(by: name)[0].met)
        for code: UInt16 in [4000, 4001, 4009] {
            var ended = Course()
            ended.connects()
            ended.drops(after: 0, how: .close(code))
            #expect(try ended.judged(by: name, running: 60)[0].met)
            ended.connects(after: 1)
            #expect(try ended.judged(by: name)[0].reason.contains("code \(code) ends it"), "\(code)")
        }
        for (code, delay) in [(4200, 0), (4202, 0), (4203, 4), (4002, 4), (4100, 4)] as [(UInt16, Double)] {
            var course = Course()
            course.connects()
            course.fails(after: 0)
            course.drops(after: 1, how: .close(code))
            course.fails(after: delay)
            #expect(try course.judged(by: name)[0].met, "\(code)")
        }
    }

    /// Atmosphere page 9: `reconnectInterval` 0, `maxReconnectOnClose` 5, then the fallback transport.
    @Test func atmosphereJSGivesUpAfterItsFallback() throws {
        let name = "client(atmosphere-js)"
        #expect(try lost(Array(repeating: 0, count: 10)).judged(by: name, running: 60)[0].met)
        #expect(
            try lost(Array(repeating: 0, count: 11)).judged(by: name)[0].reason.contains("5 retries a transport"))
        let slow = Array(repeating: 2.0, count: 5)
        #expect(try lost(slow).judged(by: "client(atmosphere-js, interval=2s)")[0].met)
        #expect(try lost(slow).judged(by: name)[0].met == false)
        #expect(try lost([2, 0]).judged(by: "client(atmosphere-js, interval=2s)")[0].met == false)
    }

    /// What the clients let their applications choose: the times then, and what ends them.
    @Test(arguments: [
        ("signalr-js, delays=0s|1s|5s", [0, 1, 5.0], true), ("signalr-swift, delays=1s|2s|3s", [0, 1, 2], true),
        ("signalr-swift-moozzyk, delays=1s", [1], true),
        ("eventflit-swift, max=6, gap=10s", [0, 1, 4, 9, 10, 10], true),
        ("atmosphere-js, interval=1s, max=2", [1, 1, 1, 1], true),
        ("apollo-ios-1", [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], false),
        ("apollo-ios-1, interval=2s", [2, 2], false),
        ("eventsource", [1, 1, 1, 1, 1, 1, 1], false),
        ("eventsource, retry=2s", [2, 2], false),
    ])
    func parametersOfTheClients(_ client: String, _ delays: [Double], _ ends: Bool) throws {
        let policy = "client(\(client))"
        #expect(try lost(delays).judged(by: policy)[0].met)
        for n in delays.indices {
            var bent = delays
            bent[n] += 3
            #expect(try lost(bent).judged(by: policy)[0].met == false, "\(client): retry \(n + 1) bent")
        }
        let more = try lost(delays + [delays.last ?? 0]).judged(by: policy)[0]
        #expect(more.met != ends, "\(client): \(more.reason)")
        if ends { #expect(more.reason.contains("should not have come")) }
    }

    /// The package's source and runs: which statuses end it, and what it waits after the others.
    @Test func eventsourceAndItsStatuses() throws {
        let policy = "client(eventsource)"
        for (status, delay) in [(500, 1.0), (502, 1), (503, 1), (504, 1), (301, 0), (302, 0), (307, 0)] {
            var course = Course()
            course.fails("operation", status: status)
            course.connects(after: delay)
            #expect(try course.judged(by: policy)[0].met, "\(status)")
            var bent = Course()
            bent.fails("operation", status: status)
            bent.connects(after: delay + 2)
            #expect(try bent.judged(by: policy)[0].met == false, "\(status)")
        }
        for status in [204, 308, 400, 404, 429, 501] {
            var ended = Course()
            ended.fails("operation", status: status)
            ended.connects(after: 1)
            #expect(try ended.judged(by: policy)[0].reason.contains("status \(status) ends it"))
        }
        // A first attempt that no server takes is tried again as well.
        var refused = Course()
        refused.fails("operation", status: nil)
        refused.connects(after: 1)
        #expect(try refused.judged(by: policy)[0].met)
    }

    @Test func parametersOfPysignalrAndGraphQLWS() throws {
        let times = [0, 2.2, 2.42]
        #expect(try lost(times, "upgrade").judged(by: "client(pysignalr, sleep=2s, count=3)")[0].met)
        #expect(try lost(times, "upgrade").judged(by: "client(pysignalr)")[0].met == false)
        let more = try lost(times + [2.662], "upgrade").judged(by: "client(pysignalr, sleep=2s, count=3)")[0]
        #expect(more.reason.contains("it tries again 2 times in its life"))
        let jittered = [1.5, 2.5]
        #expect(try graphqlWS(jittered, how: .close(1012)).judged(by: "client(graphql-ws, max=2)", running: 60)[0].met)
        #expect(
            try graphqlWS(jittered + [5]).judged(by: "client(graphql-ws, max=2)")[0].reason.contains(
                "it makes 2 retries"))
        // Apollo iOS 1 comes back whatever the code, and however often its connection fails.
        var fatal = Course()
        fatal.connects(lost: .close(4400))
        fatal.drops(after: 0.5, how: .close(4400))
        fatal.fails(after: 0.5, "upgrade", status: 401)
        fatal.connects(after: 0.5)
        #expect(try fatal.judged(by: "client(apollo-ios-1)")[0].met)
        #expect(try fatal.judged(by: "client(apollo-ios)")[0].met == false)
    }
}
