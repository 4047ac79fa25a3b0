import Testing
import WiretapeBytes
import WiretapeProtocol

@Suite struct StepSetTests {
    /// As a set that is looked through says it.
    @Test(arguments: 0..<20) func theFirstBetweenTwoSteps(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var mine = StepSet()
        var model: Set<Int> = []
        for _ in 0..<random.below(40) {
            let step = random.below(600)
            mine.insert(step)
            model.insert(step)
        }
        for _ in 0..<300 {
            let (from, end) = (random.below(700), random.below(700))
            #expect(mine.first(from: from, before: end) == model.filter { $0 >= from && $0 < end }.min())
            #expect(mine.contains(from) == model.contains(from))
        }
    }

    @Test func anEmptyOne() {
        #expect(StepSet().first(from: 0, before: 100) == nil)
        #expect(!StepSet().contains(0))
    }
}
