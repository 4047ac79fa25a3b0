import Testing
import WiretapeAttempts
import WiretapeBytes

struct ExpectationTests {
    @Test func everyFormReadsItsOwnExample() throws {
        for form in Expectation.forms {
            #expect(throws: Never.self, "\(form.example)") { _ = try Expectation.parse(form.example) }
        }
    }

    @Test func delaysAreReadWithTheirTolerance() throws {
        let written = try Expectation.parse(" delays(0s, 2s, 1m, early=10ms, late=1s)")
        #expect(written.policy == .delays([0, 2_000_000_000, 60_000_000_000]))
        #expect(written.tolerance == .init(early: 10_000_000, late: 1_000_000_000))
        #expect(try Expectation.parse("delays(1s)").tolerance == .init(early: 50_000_000, late: nil))
    }

    @Test(
        arguments: [
            ("asks(\"POST /login\")", "POST", "/login", 1, nil),
            ("asks(post /login, times=2)", "POST", "/login", 2, 2),
            ("asks( \"/a,b=(c\" , min=3)", nil, "/a,b=(c", 3, nil),
            ("asks(\"GET /api/*\", times=0)", "GET", "/api/*", 0, 0),
        ] as [(String, String?, String, Int, Int?)])
    func aRequestIsRead(_ text: String, _ method: String?, _ path: String, _ least: Int, _ most: Int?) throws {
        let asked = WiretapeAttempts.Expectation.Asked(method: method, path: path)
        #expect(try Expectation.parse(text).policy == .asks([asked], .init(least: least, most: most)), "\(text)")
    }

    @Test func everyPresetHasAForm() throws {
        for preset in ClientPreset.all {
            guard case .client(let read) = try Expectation.parse("client(\(preset.name))").policy else {
                return #expect(Bool(false))
            }
            #expect(read == preset)
        }
    }

    @Test(arguments: [
        ("delay(1s)", "'delay' is not a policy; did you mean 'delays'?"),
        ("delays()", "delays needs at least one delay: delays(0s, 2s, 10s, 30s)"),
        ("delays(1s, soon)", "'soon' is not a duration such as 250ms, 2s or 1m"),
        ("delays(1s, lat=1s)", "delays has no 'lat'; did you mean 'late'?"),
        ("delays(1s", "'delays(1s' has no closing bracket"),
        ("client(signalr)", "'signalr' is not a client whose policy is known"),
        ("client", "client needs a name"),
        ("rate(max=5)", "rate takes attempts in a time: rate(max=5/s), rate(max=10/30s)"),
        ("rate(max=0/s)", "rate takes attempts in a time"),
        ("gives-up(after=-1)", "'after' is a whole number, not '-1'"),
        ("exponential(1s, factor=0.5)", "'factor' is a number from 1, not '0.5'"),
        ("exponential(1s, jitter=3s..1s)", "'3s..1s' ends before it begins"),
        ("exponential(1s, jitter=200%)", "'jitter' is a part such as 20%"),
        ("transports(ws, tcp)", "'tcp' is not a transport"),
        ("honours(age)", "honours takes retry-after"),
        ("constant(1s, 2s)", "constant does not take '2s'"),
        ("resubscribes(->Tick)", "'' is not a label: write Ticks, or Ticks->Tick with what hangs on it"),
        ("resubscribes(Ticks())", "'Ticks()' is not a label"),
        ("once", "once needs a label: once(Send)"),
        ("keeps()", "keeps needs a label: keeps(Send)"),
        ("drops", "drops needs a label: drops(Send)"),
        ("asks", "asks needs a request: asks(\"POST /login\")"),
        ("asks(POST login)", "'POST login' is not a request: write \"POST /login\""),
        ("asks(\"POST /login now\")", "'\"POST /login now\"' is not a request"),
        (
            "asks(\"GET /list?page=1\")",
            "'\"GET /list?page=1\"' has a query, and asks names a request by method and path"
        ),
        ("asks(/login, times=-1)", "'times' is a whole number, not '-1'"),
        ("asks(/login, min=0)", "'min' is a number from 1; times=0 wants that no request comes"),
        ("asks(/login, times=1, min=1)", "asks takes 'times' or 'min', and not both"),
        ("asks(/login, time=1)", "asks has no 'time'; did you mean 'times'?"),
        ("single(2)", "single does not take '2'"),
        ("stays-away", "stays-away needs an end: stays-away(after=close(4001))"),
        ("stays-away(after=4001)", "'after' takes close(4001) or status(401)"),
        ("stays-away(after=close(4001, 4002))", "'4001, 4002' is not a code, nor a range of them"),
        ("stays-away(after=close(4002..4001))", "'4002..4001' is not a code"),
        ("stays-away(after=status(99))", "'99' is not a code"),
        ("polynomial(1s, power=-1)", "'power' is a number from 0 to 16 in steps of a half, not '-1'"),
        ("polynomial(1s, power=1.7)", "'power' is a number from 0 to 16 in steps of a half, not '1.7'"),
        ("polynomial", "polynomial needs its first delay"),
        ("client(signalr-js, delays=0s|soon)", "'soon' is not a duration"),
        ("client(eventflit-swift, max=6s)", "'max' is a whole number, not '6s'"),
        ("client(eventflit-swift, gep=6s)", "client has no 'gep'; did you mean 'gap'?"),
        ("client(eventflit-js, gap=6s)", "client has no 'gap'; eventflit-js takes none"),
        ("detects()", "detects needs its time"),
        ("client(signalr-js, interval=1s)", "client has no 'interval'"),
    ])
    func nonsenseIsRefusedInWords(_ text: String, _ message: String) {
        let error = #expect(throws: OptionError.self) { try Expectation.parse(text) }
        #expect(error?.message.hasPrefix(message) ?? false, "\(error?.message ?? "")")
    }
}
