package import WiretapeWire

/// A message of SignalR's hub protocol, as the samples need it.
package enum HubMessage: Hashable, Sendable {
    case invocation(id: String?, target: String, arguments: [JSONValue], streams: [String])
    case streamItem(id: String, item: JSONValue)
    case completion(id: String, HubResult)
    case streamInvocation(id: String, target: String, arguments: [JSONValue], streams: [String])
    case cancel(id: String)
    case ping
    case close(error: String?, allowReconnect: Bool)
    /// A type that the samples do not know: skipped, as the real ones do.
    case other(Int)
}

/// What a call came to.
package enum HubResult: Hashable, Sendable {
    /// Nil is a method without a value.
    case value(JSONValue?)
    case error(String)
}
