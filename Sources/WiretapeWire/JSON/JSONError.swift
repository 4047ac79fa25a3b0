/// Why bytes are not JSON, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    /// Offset of the offending byte.
    package var offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
}
