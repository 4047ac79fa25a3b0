import Testing
import WiretapeBytes
import WiretapeRuntime

@Suite struct MemoryBudgetTests {
    /// Connections that let go when they are refused, and their names in that order.
    private final class Holders {
        let budget: MemoryBudget
        var refused: [Int] = []
        var holds: [MemoryHold] = []

        /// - Parameter letsGo: at once.
        init(limit: Int, count: Int, letsGo: Bool = true) {
            budget = MemoryBudget(memory: limit * 2)
            for index in 0..<count {
                holds.append(
                    budget.hold { [unowned self] in
                        refused.append(index)
                        if letsGo { holds[index].set(0) }
                    })
            }
        }
    }

    @Test func theOneThatHoldsMostIsRefused() {
        let all = Holders(limit: 100, count: 3)
        all.holds[0].set(60)
        all.holds[1].set(30)
        #expect(all.refused == [] && all.budget.used == 90)
        // The newcomer asks, and another one goes.
        all.holds[2].set(20)
        #expect(all.refused == [0] && all.budget.used == 50)
        all.holds[1].set(90)
        #expect(all.refused == [0, 1] && all.budget.used == 20)
    }

    @Test func ofEqualOnesTheYoungestIsRefused() {
        let all = Holders(limit: 100, count: 3)
        all.holds[0].set(50)
        all.holds[1].set(50)
        all.holds[2].set(50)
        #expect(all.refused == [2])
    }

    @Test func asManyAreRefusedAsItTakesAndEachOnce() {
        let all = Holders(limit: 100, count: 12, letsGo: false)
        for hold in all.holds { hold.set(20) }
        #expect(all.refused == [5, 6, 7, 8, 9, 10, 11])
        #expect(all.budget.used == 100 && all.budget.refused == 7)
        for hold in all.holds.reversed() { hold.set(0) }
        #expect(all.budget.used == 0)
        #expect(Set(all.refused).count == all.refused.count)
    }

    @Test func whatIsGivenBackIsThereForOthers() {
        let all = Holders(limit: 100, count: 2)
        for _ in 0..<100 {
            all.holds[0].set(80)
            all.holds[0].set(15)
            all.holds[1].set(80)
            all.holds[1].set(0)
            all.holds[0].set(0)
        }
        #expect(all.refused == [] && all.budget.used == 0)
    }

    @Test func roomIsWhatIsFreeAndAShareAtLeast() {
        let all = Holders(limit: 100, count: 4)
        #expect(all.holds[0].room == 100)
        all.holds[0].set(90)
        #expect(all.holds[0].room == 100)
        #expect(all.holds[1].room == 100)
        all.holds[1].set(10)
        #expect(all.holds[1].room == 50)
    }

    @Test func theFirstRefusalIsSaidAndTheOthersAreCounted() {
        let all = Holders(limit: 100, count: 3)
        var said: [String] = []
        all.budget.log = { said.append($0) }
        all.holds[0].set(101)
        #expect(said.count == 1 && all.budget.summary == nil)
        all.holds[1].set(101)
        #expect(said.count == 1)
        #expect(all.budget.summary?.hasPrefix("2 connections were refused") == true)
    }

    @Test(arguments: [("1", 1), ("64KiB", 65_536), ("256MiB", 1 << 28), ("2GiB", 2 << 30), ("3 MiB", 3 << 20)])
    func sizes(_ text: String, _ size: Int) { #expect(ByteSize.parse(text) == size) }

    @Test(arguments: ["", "0", "-1MiB", "MiB", "1.5MiB", "256MB", "9999999999999GiB", "1 TiB"])
    func noSizes(_ text: String) { #expect(ByteSize.parse(text) == nil) }
}
