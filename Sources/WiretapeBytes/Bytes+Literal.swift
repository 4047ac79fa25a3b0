// Lifetime: a static string lives as long as the program.

extension Array where Element == UInt8 {
    /// Appends the UTF-8 of a literal in one copy.
    package mutating func append(literal: StaticString) {
        unsafe append(copying: Span(_unsafeStart: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}
