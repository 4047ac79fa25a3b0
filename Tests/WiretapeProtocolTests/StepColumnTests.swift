import Testing
import WiretapeProtocol

@Suite struct StepColumnTests {
    @Test func everyStepHasTheInitialValueUntilItIsChanged() {
        var column = StepColumn(7, count: 5)
        #expect(Array(column) == [7, 7, 7, 7, 7])
        column[2] = 1
        #expect(Array(column) == [7, 7, 1, 7, 7])
        column[4] = 2
        column[2] = 7
        #expect(Array(column) == [7, 7, 7, 7, 2])
        #expect(column.firstIndex(of: 2) == 4)
        #expect(column.count { $0 == 7 } == 4)
    }

    /// Else clients that come again and again to a long tape, and say nothing, would fill the memory.
    @Test func whatWasNotChangedTakesNoMemory() {
        var column = StepColumn(0, count: 1_000_000)
        column[999_999] = 0
        #expect(column.kept == 0)
        column[9] = 1
        #expect(column.kept == 10)
    }
}
