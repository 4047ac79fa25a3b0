extension Array where Element == UInt8 {
    /// Appends all of `span`. One bulk copy: a loop of `append` is thirty times slower.
    @inlinable package mutating func append(copying span: Span<UInt8>) {
        // Without it the count of an empty array would be written, which all empty arrays have in one place.
        guard !span.isEmpty else { return }
        // Lifetime: the pointer is used within the call. A loop over an `OutputSpan` becomes the same copy in a release, and took a
        // seventh of the time of all tests in a debug build.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// A copy of `span`.
    @inlinable package init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends the UTF-8 of `text`.
    @inlinable package mutating func append(utf8 text: String) {
        append(contentsOf: text.utf8)
    }
}

extension String {
    /// The text of `bytes`, or nil when they are not valid UTF-8.
    package init?(validUTF8 bytes: [UInt8]) {
        // `String(validating:as:)` is generic, and slow for short texts.
        guard isValidUTF8(bytes.span) else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }
}

// Lifetime: a static string lives as long as the program.

extension Array where Element == UInt8 {
    /// Appends the UTF-8 of a literal in one copy.
    package mutating func append(literal: StaticString) {
        unsafe append(copying: Span(_unsafeStart: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}
