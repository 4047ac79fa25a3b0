package import WiretapeWire

/// What an application sees of its hub connection, in order.
package enum HubEvent: Hashable, Sendable {
    /// For the first time.
    case connected(id: String)
    /// The server calls a method of the client.
    case invocation(target: String, arguments: [JSONValue])
    case lost(reason: String)
    /// An attempt begins, `delay` nanoseconds after the loss or the last failure.
    case retrying(attempt: Int, delay: UInt64)
    case retryFailed(attempt: Int, reason: String)
    case reconnected(id: String)
    /// For good: asked for (nil), refused, or out of attempts.
    case closed(reason: String?)
}
