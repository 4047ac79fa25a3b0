package import WiretapeMessages

/// What a protocol's server insists on, on one connection, whatever the tape says. A value a connection; replay plays it.
package protocol ConnectionRules: Sendable {
    /// A message of the client, before it is matched.
    /// - Returns: how the server ends the connection when the client broke a rule with it.
    mutating func heard(_ message: Message) -> RuleBreach?
    /// A message goes to the client, on this chain of the client's.
    mutating func said(_ message: Message, on chain: Chain?)
}

/// The close frame that a server sends to a client that broke a rule.
package struct RuleBreach: Hashable, Sendable {
    package var code: UInt16
    package var reason: String

    package init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
