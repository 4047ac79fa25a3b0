package import WiretapeBytes

/// When steps of a script were done. Of a long script only the last ones: gaps are counted from what has just happened.
package struct StepTimes: Sendable {
    private static let most = 1 << 16

    private var times: StepColumn<WireInstant>
    /// Whose time it is; empty when every step has a place of its own.
    private var owners: StepColumn<Int32>

    package init(count: Int) {
        let places = min(count, StepTimes.most)
        times = StepColumn(.zero, count: places)
        owners = StepColumn(-1, count: count > places ? places : 0)
    }

    /// Zero when it is not done, or was long ago.
    package subscript(step: Int) -> WireInstant {
        get {
            let place = step % StepTimes.most
            return owners.isEmpty || owners[place] == Int32(clamping: step) ? times[place] : .zero
        }
        set {
            let place = step % StepTimes.most
            times[place] = newValue
            if !owners.isEmpty { owners[place] = Int32(clamping: step) }
        }
    }
}
