/// One value for each step of a script. It takes memory up to the last step whose value was changed: of a client that says
/// nothing on a long script there is nothing to keep.
package struct StepColumn<Value: Equatable & Sendable>: RandomAccessCollection, MutableCollection, Sendable {
    private var values: [Value] = []
    private let initial: Value
    package let endIndex: Int

    /// - Parameter initial: what every step has before it is changed.
    package init(_ initial: Value, count: Int) {
        self.initial = initial
        endIndex = count
    }

    package var startIndex: Int { 0 }
    /// Steps that take memory.
    package var kept: Int { values.count }

    package subscript(step: Int) -> Value {
        get { step < values.count ? values[step] : initial }
        set {
            precondition(step < endIndex)
            if step >= values.count {
                guard newValue != initial else { return }
                values.append(contentsOf: repeatElement(initial, count: step + 1 - values.count))
            }
            values[step] = newValue
        }
    }
}
