internal import WiretapeWire

/// A call that waits for its completion.
struct PendingCall {
    /// Nil for a call that wants no stream.
    var item: ((JSONValue) -> Void)?
    var done: (HubResult) -> Void
}
