/// A call of the network that failed.
package struct NetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried: `bind`, `listen`, `resolve` …
    package var call: String
    /// The system's error number, negative as libuv gives it; 0 when there is none.
    package var code: Int32
    /// The system's words for it: `address already in use`.
    package var reason: String

    package init(_ call: String, code: Int32, reason: String) {
        self.call = call
        self.code = code
        self.reason = reason
    }

    package var description: String { "\(call): \(reason)" }
}
