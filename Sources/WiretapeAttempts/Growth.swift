extension Expectation {
    /// Delays that grow by a factor. Times are nanoseconds.
    package struct Exponential: Hashable, Sendable {
        package var base: UInt64
        package var factor = 2.0
        package var cap = UInt64.max
        package var jitter = Jitter.none

        package init(base: UInt64, factor: Double = 2, cap: UInt64 = .max, jitter: Jitter = .none) {
            self.base = base
            self.factor = factor
            self.cap = cap
            self.jitter = jitter
        }

        /// The shortest and the longest wait before retry `n`, counted from 1.
        func bounds(_ n: Int) -> (shortest: UInt64, longest: UInt64) {
            var delay = Double(base)
            for _ in 1..<max(1, min(n, 4_096)) where delay < Double(cap) { delay *= factor }
            return jitter.around(delay, cap: cap)
        }
    }

    /// Delays that grow with a power of their number: base × n^power.
    package struct Polynomial: Hashable, Sendable {
        package var base: UInt64
        package var power = 2.0
        package var cap = UInt64.max
        /// The n of the first retry.
        package var from = 1
        package var jitter = Jitter.none

        package init(
            base: UInt64, power: Double = 2, cap: UInt64 = .max, from: Int = 1, jitter: Jitter = .none
        ) {
            self.base = base
            self.power = power
            self.cap = cap
            self.from = from
            self.jitter = jitter
        }

        /// The shortest and the longest wait before retry `n`, counted from 1.
        func bounds(_ n: Int) -> (shortest: UInt64, longest: UInt64) {
            let n = max(0, n - 1).addingReportingOverflow(from)
            let counted = n.overflow ? Double(Int.max) : Double(n.partialValue)
            return jitter.around(Double(base) * Self.raised(counted, power), cap: cap)
        }

        /// `x` to the power `y`, for whole and half steps of `y`: no module of values imports a mathematical library.
        private static func raised(_ x: Double, _ y: Double) -> Double {
            var product = 1.0
            for _ in 0..<Int(y) where product < 1e30 { product *= x }
            return y - y.rounded(.down) == 0.5 ? product * x.squareRoot() : product
        }
    }

    /// By how much a client varies its delays.
    package enum Jitter: Hashable, Sendable {
        case none
        /// This part of the delay, up and down.
        case part(Double)
        /// Added: from the first to the second.
        case added(UInt64, UInt64)

        func around(_ delay: Double, cap: UInt64) -> (shortest: UInt64, longest: UInt64) {
            let limit = Double(UInt64.max / 4)
            let capped = UInt64(max(0, min(delay, Double(cap), limit)))
            switch self {
            case .none: return (capped, capped)
            case .part(let part):
                let spread = UInt64(min(Double(capped) * part, limit))
                return (capped - min(capped, spread), capped + spread)
            case .added(let low, let high):
                return (capped + min(low, UInt64.max / 4), capped + min(high, UInt64.max / 4))
            }
        }
    }
}
