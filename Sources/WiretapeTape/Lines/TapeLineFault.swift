/// Why a line is not an event, and where in it.
package struct TapeLineFault: Error, Hashable, Sendable {
    package var reason: String
    /// Offset of the offending byte within the line.
    package var offset: Int

    package init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
