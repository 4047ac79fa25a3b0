/// A point in monotonic time, in nanoseconds. Of a loop's clock, or of a tape since its `started`.
package struct WireInstant: Comparable, Hashable, Sendable {
    package var nanoseconds: UInt64

    @inlinable package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static let zero = WireInstant(nanoseconds: 0)

    @inlinable package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Later by `gap` nanoseconds; stops at the largest value.
    @inlinable package func advanced(by gap: UInt64) -> WireInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(gap)
        return WireInstant(nanoseconds: overflow ? .max : sum)
    }

    /// Nanoseconds since `earlier`; 0 when that is later.
    @inlinable package func since(_ earlier: WireInstant) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}
