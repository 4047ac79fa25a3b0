/// A value of an option that cannot be used, in words for the one who wrote it.
package struct OptionError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
