/// Something about a tape that a person may want to mend.
package struct TapeFinding: Hashable, Sendable {
    package enum Severity: String, Sendable {
        /// The tape cannot be read there.
        case error
        /// It can be read and may not be what was meant.
        case warning
    }

    package var severity: Severity
    /// From 1; 0 when the tape as a whole is meant.
    package var line: Int
    /// In bytes, from 1; nil when the whole line is meant.
    package var column: Int?
    /// A sentence without its full stop.
    package var message: String

    package init(_ severity: Severity, line: Int, column: Int? = nil, _ message: String) {
        self.severity = severity
        self.line = line
        self.column = column
        self.message = message
    }
}
