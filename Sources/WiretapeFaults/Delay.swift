package import WiretapeBytes

/// How long something waits: a number drawn for each message.
package enum Delay: Hashable, Sendable {
    /// Nanoseconds.
    case fixed(UInt64)
    case uniform(UInt64, UInt64)
    /// Never below 0.
    case normal(mean: UInt64, deviation: UInt64)
    /// At least `minimum`; the smaller `shape`, the heavier the tail.
    case pareto(minimum: UInt64, shape: Double)

    /// No drawn delay is longer: ten minutes.
    package static let longest: UInt64 = 600_000_000_000

    /// The delay that `random` draws, in nanoseconds.
    package func draw(_ random: inout SplitMix64) -> UInt64 {
        switch self {
        case .fixed(let value): return min(value, Delay.longest)
        case .uniform(let low, let high):
            let range = Double(high - min(low, high))
            return min(low + UInt64(Delay.unit(&random) * range), Delay.longest)
        case .normal(let mean, let deviation):
            // Irwin-Hall with twelve terms: mean 6, deviation 1, no function of libm.
            var sum = -6.0
            for _ in 0..<12 { sum += Delay.unit(&random) }
            return Delay.clamped(Double(mean) + sum * Double(deviation))
        case .pareto(let minimum, let shape):
            return Delay.clamped(Double(minimum) * Delay.root(1 - Delay.unit(&random), shape))
        }
    }

    /// `(1 / value) ^ (1 / shape)` by bisection over the logarithm's series would need libm; it is found by halving.
    private static func root(_ value: Double, _ shape: Double) -> Double {
        // The answer x has x ^ shape == 1 / value. x is between 1 and 2 ^ 40.
        let wanted = 1 / max(value, 1e-12)
        var low = 1.0
        var high = 1_099_511_627_776.0
        for _ in 0..<90 {
            let middle = (low * high).squareRoot()
            if power(middle, shape) < wanted { low = middle } else { high = middle }
        }
        return low
    }

    /// `base ^ exponent` for a base from 1 and an exponent of at most 16, to 1 part in 10^9.
    private static func power(_ base: Double, _ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        var result = 1.0
        for _ in 0..<Int(whole) { result *= base }
        var fraction = exponent - whole
        var factor = base
        for _ in 0..<32 {
            factor = factor.squareRoot()
            fraction *= 2
            if fraction >= 1 {
                result *= factor
                fraction -= 1
            }
        }
        return result
    }

    private static func clamped(_ value: Double) -> UInt64 {
        value > 0 ? UInt64(min(value, Double(longest))) : 0
    }

    /// 0 ..< 1.
    private static func unit(_ random: inout SplitMix64) -> Double {
        Double(random.next() >> 11) / 9_007_199_254_740_992
    }
}
