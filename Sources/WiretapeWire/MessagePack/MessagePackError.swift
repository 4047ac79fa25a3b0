/// Why bytes are not MessagePack, and where.
package struct MessagePackError: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    /// Offset of the offending byte.
    package var offset: Int

    package init(reason: String, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason) at byte \(offset)" }
}
