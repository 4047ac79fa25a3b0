/// A run that cannot go on: the reason and the exit code for it.
package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32
    package var reason: String

    package init(_ reason: String, _ exit: ExitCode = .failure) {
        self.reason = reason
        code = exit.code
    }

    package init(_ reason: String, code: Int32) {
        self.reason = reason
        self.code = code
    }

    package var description: String { reason }
}
