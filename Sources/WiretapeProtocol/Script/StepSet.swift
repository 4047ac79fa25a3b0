/// Some steps of a script, a bit for each of its steps.
package struct StepSet: Sendable {
    private var words: [UInt64] = []

    package init() {}

    package mutating func insert(_ step: Int) {
        if step >> 6 >= words.count {
            words.append(contentsOf: repeatElement(0, count: (step >> 6) + 1 - words.count))
        }
        words[step >> 6] |= 1 << UInt64(step & 63)
    }

    package func contains(_ step: Int) -> Bool {
        step >> 6 < words.count && words[step >> 6] & 1 << UInt64(step & 63) != 0
    }

    /// The first of them that is not before `step`, and before `end`. It takes time for every 64 steps between.
    package func first(from step: Int, before end: Int) -> Int? {
        guard step >= 0, step < end, step >> 6 < words.count else { return nil }
        var index = step >> 6
        var word = words[index] & (UInt64.max << UInt64(step & 63))
        while word == 0 {
            index += 1
            guard index < words.count, index << 6 < end else { return nil }
            word = words[index]
        }
        let found = index << 6 + word.trailingZeroBitCount
        return found < end ? found : nil
    }
}
