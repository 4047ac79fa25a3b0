import Testing
import WiretapeCore
import wiretape

@Suite struct InspectFilterTests {
    private func shown(_ selector: Selector) -> [String] {
        var filter = InspectFilter(selector)
        return InspectRun.rows(InspectRun.chat).filter { filter.shows($0) }.map(\.text)
    }

    @Test func labelsAndTypes() {
        #expect(shown(Selector(.label("Welcome"))) == ["Invocation Welcome(\"ada\")", "Invocation Welcome(\"ada\")"])
        #expect(shown(Selector(.label("Completion"))) == ["Completion 7 -> 42"])
        #expect(shown(Selector(.label("Add"))) == ["Invocation Add(20, 22)", "Completion 7 -> 42"])
    }

    @Test func points() {
        #expect(shown(Selector(.point(.handshake))).count == 4)
        #expect(
            shown(Selector(.point(.negotiate))).map { String($0.prefix(20)) }
                == Array(repeating: "POST /chat/negotiate", count: 2))
        #expect(shown(Selector(.point(.upgrade))).count == 2)
        #expect(shown(Selector(.point(.request))).count == 4)
        #expect(shown(Selector(.point(.connect))).count == 2)
        #expect(
            shown(
                Selector(
                    .point(.message), conditions: [.direction(.toServer), .pointer("/arguments/0", .number("20.0"))]))
                == ["Invocation Add(20, 22)"])
    }

    @Test func ordinalsCountWithinASession() {
        #expect(shown(Selector(.label("Welcome"), occurrence: .set([1]))).count == 2)
        #expect(shown(Selector(.label("Welcome"), occurrence: .set([2]))).isEmpty)
        #expect(shown(Selector(.label("Ping"), occurrence: .every(3))).count == 3)
    }
}
