package import WiretapeFaults
package import WiretapeWire

/// What `wiretape edit` does to the messages that a selector names.
package struct TapeEdit: Sendable {
    package enum Change: Hashable, Sendable {
        case set(pointer: String, JSONValue)
        case remove(pointer: String)
    }

    package var selector: Selector
    /// Only in these sessions; nil for all.
    package var session: Ordinal?
    /// In their order.
    package var changes: [Change] = []
    /// The messages go away.
    package var drops = false
    /// The time since the event before, in nanoseconds; what follows moves along.
    package var after: UInt64?
    /// Messages that come behind, in the same direction and at the same time.
    package var inserts: [JSONValue] = []

    package init(_ selector: Selector, session: Ordinal? = nil) {
        self.selector = selector
        self.session = session
    }

    /// A message that is meant.
    package struct Match: Hashable, Sendable {
        package var line: Int
        package var session: Int
        package var title: String
    }

    /// Why an edit cannot be made, as a sentence without its full stop.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// 0 when the tape as a whole is meant.
        package var line: Int
        package var reason: String
        package var description: String { line > 0 ? "line \(line): \(reason)" : reason }
    }
}
