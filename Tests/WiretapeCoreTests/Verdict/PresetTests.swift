import Testing
import WiretapeCore

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

    @Test func graphqlWS() throws {
        var course = Course()
        for delay in [nil, 1.5, 2.0] { course.connects(after: delay, lost: "close 1012") }
        #expect(try course.judged(by: "client(graphql-ws)")[0].met)
        var early = Course()
        for delay in [nil, 0.5] { early.connects(after: delay, lost: "close 1012") }
        #expect(try early.judged(by: "client(graphql-ws)")[0].met == false)
        var normal = Course()
        for delay in [nil, 0.01] { normal.connects(after: delay, lost: "close 1000") }
        #expect(try normal.judged(by: "client(graphql-ws)")[0].met)
        var fatal = Course()
        for delay in [nil, 1.5] { fatal.connects(after: delay, lost: "close 4400") }
        #expect(try fatal.judged(by: "client(graphql-ws)")[0].reason.contains("code 4400 ends it"))
        #expect(try lost([1.5, 3], "upgrade").judged(by: "client(graphql-ws)")[0].met == false)
    }

    @Test func pysignalr() throws {
        #expect(try lost([0, 4.2, 3.1, 5.02, 8.12], "upgrade").judged(by: "client(pysignalr)")[0].met)
        #expect(try lost([0, 4.2, 9], "upgrade").judged(by: "client(pysignalr)")[0].met == false)
        #expect(try lost([0, 1], "upgrade", status: 404).judged(by: "client(pysignalr)")[0].reason.contains("404"))
        var course = Course()
        course.fails(status: nil)
        for delay in [1.1, 1.21, 1.331] { course.fails(after: delay, status: nil) }
        #expect(try course.judged(by: "client(pysignalr)")[0].met)
    }

    @Test func apolloIOS() throws {
        #expect(try lost([0.5]).judged(by: "client(apollo-ios)")[0].met == false)
        #expect(try lost([0.5]).judged(by: "client(apollo-ios, interval=500ms)")[0].met)
        #expect(try lost([0.5, 0.5]).judged(by: "client(apollo-ios, interval=500ms)")[0].met == false)
    }

    @Test func eventflitCodes() throws {
        var course = Course()
        course.connects(lost: "close 4001")
        course.connects(after: 1, lost: "close 4200")
        course.connects(after: 1)
        #expect(try course.judged(by: "client(eventflit-js)")[0].met)
    }
}
