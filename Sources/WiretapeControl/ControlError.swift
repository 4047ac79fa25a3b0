package import WiretapeWire

/// Why a request of the control API is not done: a status and a sentence, which the answer has as `{"error":…,"status":…}`.
package struct ControlError: Error, Hashable, Sendable {
    package var status: Int
    package var reason: String

    package init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static func bad(_ reason: String) -> ControlError { ControlError(400, reason) }
    static func unknown(_ reason: String) -> ControlError { ControlError(404, reason) }
    /// What is asked for cannot be done in the state in which the run is.
    package static func conflict(_ reason: String) -> ControlError { ControlError(409, reason) }

    /// The answer's body.
    package var json: JSONValue {
        .object([.init("error", .string(reason)), .init("status", .number(status))])
    }
}
