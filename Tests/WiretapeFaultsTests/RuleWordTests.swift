import Testing
import WiretapeFaults

/// The words that `wiretape help faults` lists are those that rules are read with.
@Suite struct RuleWordTests {
    private func rule(_ text: String) throws -> FaultRule {
        try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
    }

    @Test(arguments: RuleWord.points) func aPointIsThatOfItsExample(_ word: RuleWord) throws {
        let point = try #require(FaultPoint(rawValue: word.term))
        #expect(!word.summary.isEmpty)
        guard let example = word.example else {
            // A rule about it is refused, which `help faults` says.
            #expect(throws: PlanError.self) { try rule("refuse on \(word.term)") }
            return
        }
        #expect(try rule(example).selector.subject == .point(point))
    }

    @Test func everyPointIsListedOnce() {
        #expect(RuleWord.points.map(\.term) == FaultPoint.allCases.map(\.rawValue))
    }

    @Test(arguments: RuleWord.conditions) func aConditionIsThatOfItsExample(_ word: RuleWord) throws {
        #expect(!word.summary.isEmpty)
        #expect(try rule(try #require(word.example)).selector.conditions.map(\.key) == [word.term])
    }

    @Test(arguments: RuleWord.places + RuleWord.brackets + RuleWord.filters)
    func anExampleSaysNothingInVain(_ word: RuleWord) throws {
        #expect(!word.term.isEmpty && !word.summary.isEmpty)
        let parsed = try rule(try #require(word.example))
        #expect(try rule(parsed.inline) == parsed)
        let selector = parsed.selector
        #expect(
            selector.occurrence != nil || !selector.conditions.isEmpty || parsed.filters != RuleFilters(),
            "\(word.term)")
    }

    @Test func everyPlaceIsThatOfItsExample() throws {
        let places = try RuleWord.places.map { try rule(try #require($0.example)).place }
        #expect(places == [.after, .after, .before, .instead])
    }
}
