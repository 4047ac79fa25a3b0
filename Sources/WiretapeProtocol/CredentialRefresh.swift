internal import WiretapeMessages
package import WiretapeWire

/// How a client renews its credential while its connection lives. All requirements have defaults, for protocols without refresh.
package protocol CredentialRefresh: Sendable {
    /// The route of the session whose credential the request renews. Nil if the request is not a refresh.
    static func refreshRoute(_ request: RequestHead) -> String?
    /// The lifetime of the credential in seconds, in the body of a negotiation or of a renewal. Nil if the body has none.
    static func credentialLifetime(in body: [UInt8]) -> Int?
    /// The body with its lifetime replaced. Nil if the body has no lifetime.
    static func replacingLifetime(in body: [UInt8], with lifetime: Int) -> [UInt8]?
    /// Whether the client may renew its credential after this negotiation.
    static func mayRefresh(_ negotiation: StreamOpening) -> Bool
    /// The response to a request that renews the credential, in the protocol's own words.
    static func refreshResponse(for outcome: RefreshOutcome) -> HTTPAnswer
}

/// The result of a request that renews a credential.
package enum RefreshOutcome: Hashable, Sendable {
    /// Renewed. `lifetime` is in seconds.
    case renewed(lifetime: Int)
    /// The request names no connection.
    case missingConnection
    /// The connection is unknown, or it is closed.
    case unknownConnection
    /// The connection was negotiated in a version of the protocol that has no renewals.
    case oldVersion
    /// The request has another method than POST.
    case notAllowed
}

extension CredentialRefresh {
    package static func refreshRoute(_ request: RequestHead) -> String? { nil }
    package static func credentialLifetime(in body: [UInt8]) -> Int? { nil }
    package static func replacingLifetime(in body: [UInt8], with lifetime: Int) -> [UInt8]? { nil }
    package static func mayRefresh(_ negotiation: StreamOpening) -> Bool { true }
    package static func refreshResponse(for outcome: RefreshOutcome) -> HTTPAnswer { HTTPAnswer(status: 404) }
}
