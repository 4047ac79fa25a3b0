/// One value for each step of a script. It takes memory up to the last step whose value was changed: of a client that says
/// nothing on a long script there is nothing to keep.
package struct StepColumn<Value: Equatable & Sendable>: RandomAccessCollection, MutableCollection, Sendable {
    @usableFromInline var values: [Value] = []
    @usableFromInline let initial: Value
    package let endIndex: Int

    /// - Parameter initial: what every step has before it is changed.
    @inlinable package init(_ initial: Value, count: Int) {
        self.initial = initial
        endIndex = count
    }

    @inlinable package var startIndex: Int { 0 }
    /// Steps that take memory.
    @inlinable package var kept: Int { values.count }

    @inlinable package subscript(step: Int) -> Value {
        get { step < values.count ? values[step] : initial }
        set {
            precondition(step < endIndex)
            if step >= values.count {
                guard newValue != initial else { return }
                // Usually one value is missing. `append` is faster for it than `append(contentsOf:)`.
                if step == values.count { return values.append(newValue) }
                values.append(contentsOf: repeatElement(initial, count: step + 1 - values.count))
            }
            values[step] = newValue
        }
    }

    /// How many steps have that value.
    @inlinable package func count(of value: Value) -> Int {
        var found = value == initial ? endIndex - values.count : 0
        for one in values where one == value { found += 1 }
        return found
    }
}
