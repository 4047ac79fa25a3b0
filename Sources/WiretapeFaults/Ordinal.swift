/// Which of several: `3`, `2..5`, `2..`, `1|4`, `every 3`. Counted from 1.
package enum Ordinal: Hashable, Sendable, CustomStringConvertible {
    case set([Int])
    case range(ClosedRange<Int>)
    /// This one and all after it.
    case from(Int)
    case every(Int)

    package func contains(_ n: Int) -> Bool {
        switch self {
        case .set(let values): values.contains(n)
        case .range(let range): range.contains(n)
        case .from(let first): n >= first
        case .every(let step): n > 0 && n % step == 0
        }
    }

    /// The smallest that it contains.
    package var first: Int {
        switch self {
        case .set(let values): values.min() ?? 1
        case .range(let range): range.lowerBound
        case .from(let first): first
        case .every(let step): step
        }
    }

    package var description: String {
        switch self {
        case .set(let values): values.map(String.init).joined(separator: "|")
        case .range(let range): "\(range.lowerBound)..\(range.upperBound)"
        case .from(let first): "\(first).."
        case .every(let step): "every \(step)"
        }
    }
}
